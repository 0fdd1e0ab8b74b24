import type { Clock } from '../util/clock.ts'
import type { SourceName } from './sources/names.ts'

/** The phases of a poll, in order. Not every protocol has all of them. */
export type Phase = 'resolve' | 'connect' | 'tls' | 'first_byte' | 'read'

/** Measures the phases of a poll of one source. */
export interface PhaseTimer {
  /** Starts the first phase: at the start of a poll or of another attempt within it. */
  start(): void
  /** Ends a phase and starts the next one. A phase that occurs several times, such as name resolution, is summed up. */
  end(phase: Phase): void
}

export interface PhaseDuration {
  readonly source: SourceName
  readonly phase: Phase
  readonly seconds: number
}

export interface PhaseRecorder {
  timer(source: SourceName): PhaseTimer
  /** The durations of the phases that have ended. */
  durations(): readonly PhaseDuration[]
}

/** Records the phases of each source of one server, for a watcher that polls once. */
export function createPhaseRecorder(clock: Clock): PhaseRecorder {
  const all = new Map<SourceName, Map<Phase, number>>()
  return {
    timer(source) {
      const phases = all.get(source) ?? new Map<Phase, number>()
      all.set(source, phases)
      let from = clock.now()
      return {
        start() {
          from = clock.now()
        },
        end(phase) {
          const now = clock.now()
          phases.set(phase, (phases.get(phase) ?? 0) + (now - from) / 1000)
          from = now
        },
      }
    },
    durations: () => [...all].flatMap(([source, phases]) => [...phases].map(([phase, seconds]) => ({ source, phase, seconds }))),
  }
}
