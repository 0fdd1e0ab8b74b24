import { type Family, flag, single } from './family.ts'

/** How one probe went. */
export interface Probed {
  readonly success: boolean
  /** Seconds. */
  readonly duration: number
}

export const probed: readonly Family<Probed>[] = [
  {
    name: 'probe_success',
    type: 'gauge',
    help: '1 if the probe reached the server, 0 if not.',
    labels: [],
    read: ({ success }) => flag(success),
  },
  {
    name: 'probe_duration_seconds',
    type: 'gauge',
    help: 'Time that the whole probe took, seconds.',
    labels: [],
    read: ({ duration }) => single(duration),
  },
]
