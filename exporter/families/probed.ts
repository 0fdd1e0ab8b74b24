import type { PhaseDuration } from '../../src/game/phases.ts'
import type { Family } from './family.ts'

/** The outcome of one probe. */
export interface Probed {
  readonly success: boolean
  /** Seconds. */
  readonly duration: number
  readonly phases: readonly PhaseDuration[]
}

export const probed: readonly Family<Probed>[] = [
  {
    name: 'minecraft_source_phase_duration_seconds',
    type: 'gauge',
    help: 'Duration of a phase of polling the source, in seconds; absent for phases that the source does not have or has not reached.',
    labels: ['source', 'phase'],
    read({ phases }, add) {
      for (const { source, phase, seconds } of phases) add(seconds, source, phase)
    },
  },
  {
    name: 'probe_success',
    type: 'gauge',
    help: '1 if the probe reached the server, 0 if not.',
    labels: [],
    read: ({ success }, add) => add(success),
  },
  {
    name: 'probe_duration_seconds',
    type: 'gauge',
    help: 'Duration of the whole probe, in seconds.',
    labels: [],
    read: ({ duration }, add) => add(duration),
  },
]
