import type { Clock } from '../clock.ts'
import type { SourceName } from './sources/source.ts'

/** The phases of a poll, in order; not every protocol has them all. */
export type Phase = 'resolve' | 'connect' | 'tls' | 'first_byte' | 'read'

/** Times the phases of one source's poll. */
export interface PhaseTimer {
  /** The next phase starts now: at the start of a poll, and of another attempt within it. */
  start(): void
  /** A phase ends now, and the next one starts. Its parts add up, as when two names are resolved. */
  end(phase: Phase): void
}

export interface PhaseDuration {
  readonly source: SourceName
  readonly phase: Phase
  readonly seconds: number
}

export interface PhaseRecorder {
  timer(source: SourceName): PhaseTimer
  /** Of the phases that have ended. */
  durations(): readonly PhaseDuration[]
}

/** Records the phases of the polls of one server's sources; for a watcher that polls once. */
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
