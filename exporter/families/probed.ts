import type { PhaseDuration } from '../../src/game/phases.ts'
import { type Family, gauge } from './family.ts'

/** The outcome of one probe. */
export interface Probed {
  readonly success: boolean
  /** Seconds. */
  readonly duration: number
  readonly phases: readonly PhaseDuration[]
}

export const probed: readonly Family<Probed>[] = [
  gauge(
    'minecraft_source_phase_duration_seconds',
    'Duration of a phase of polling the source, in seconds; absent for phases that the source does not have or has not reached.',
    ({ phases }, add) => {
      for (const { source, phase, seconds } of phases) add(seconds, source, phase)
    },
    { labels: ['source', 'phase'] },
  ),
  gauge('probe_success', '1 if the probe reached the server, 0 if not.', ({ success }, add) => add(success)),
  gauge('probe_duration_seconds', 'Duration of the whole probe, in seconds.', ({ duration }, add) => add(duration)),
]
