import type { PhaseDuration } from '../../src/game/phases.ts'
import { type Family, flag, single } from './family.ts'

/** The outcome of one probe. */
export interface Probed {
  readonly success: boolean
  /** Seconds. */
  readonly duration: number
  readonly phases: readonly PhaseDuration[]
}

export const probed: readonly Family<Probed>[] = [
  {
    name: 'minecraft_source_phase_seconds',
    type: 'gauge',
    help: 'Time that a phase of the poll of the source took, seconds; absent for phases that it did not reach or does not have.',
    labels: ['source', 'phase'],
    read: ({ phases }) => phases.map(({ source, phase, seconds }) => ({ labels: [source, phase], value: seconds })),
  },
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
