import type { Clock } from '../clock.ts'
import type { PollSettings } from '../game/server.ts'
import type { ServerSnapshot } from '../game/snapshot.ts'
import { maxPauseMs } from '../game/watcher/schedule.ts'
import { series, seriesNames } from './series.ts'
import type { ServerHistory } from './server-history.ts'

/** Records the snapshots of one server, each for as long as it is the newest. */
export interface Recorder {
  observe(snapshot: ServerSnapshot): void
  /** Records the newest snapshot up to now. */
  flush(): void
  /** Records the newest snapshot up to now. The state is unknown until the next one. */
  markUnknown(): void
}

const readers = seriesNames.map((name) => series[name].read)

/** A larger difference between the wall clock and the monotonic clock is a jump: 1 s, plus 0.1 % of the elapsed time. */
const maxDriftMs = 1_000
const maxDriftRatio = 0.001

/**
 * A snapshot is valid until the next one, or until it is stale. So the record does not depend on how often the server is polled, and
 * nothing is recorded while the state is unknown.
 */
export const createRecorder = (history: ServerHistory, clock: Clock, settings: PollSettings): Recorder =>
  new SnapshotRecorder(history, clock, settings)

/** A class for the same reason as rings.ts. */
class SnapshotRecorder implements Recorder {
  readonly #history: ServerHistory
  readonly #clock: Clock
  readonly #staleAfter: number
  /** Milliseconds for which a snapshot of a server that is down is valid: until the end of its next poll, which may be late. */
  readonly #downValidMs: number
  /** The values of the newest snapshot, in one array that is reused. Not valid while the state of the server is unknown. */
  readonly #held: { up: boolean; readonly values: number[] } = { up: false, values: seriesNames.map(() => Number.NaN) }
  #isKnown = false
  /** Monotonic milliseconds at which the values become stale. */
  #staleAt = Number.POSITIVE_INFINITY
  #lastWall: number
  #lastNow: number

  constructor(history: ServerHistory, clock: Clock, { interval, timeout, staleAfter }: PollSettings) {
    this.#history = history
    this.#clock = clock
    this.#staleAfter = staleAfter
    this.#downValidMs = maxPauseMs(interval) + timeout + staleAfter
    this.#lastWall = clock.wall()
    this.#lastNow = clock.now()
  }

  observe(snapshot: ServerSnapshot): void {
    this.flush()
    this.#isKnown = this.#read(snapshot)
    if (this.#isKnown) this.#history.add(this.#held, this.#lastWall, 0)
  }

  markUnknown(): void {
    this.flush()
    this.#isKnown = false
  }

  flush(): void {
    const [wall, now] = [this.#clock.wall(), this.#clock.now()]
    const passed = now - this.#lastNow
    const drift = Math.abs(wall - this.#lastWall - passed)
    // The snapshot that makes the values unknown is late, or missing, if the process was stopped for a while.
    const validMs = Math.min(now, this.#staleAt) - this.#lastNow
    // After a clock jump, or after the machine has been suspended, the elapsed time cannot be placed on the time axis.
    if (this.#isKnown && validMs > 0 && drift <= maxDriftMs + passed * maxDriftRatio) {
      this.#history.add(this.#held, this.#lastWall, validMs)
    }
    this.#lastWall = wall
    this.#lastNow = now
  }

  /** Returns false if the state of the server is unknown. */
  #read({ up, fields, lastContact, at }: ServerSnapshot): boolean {
    if (up === undefined) return false
    if (up && (lastContact === undefined || at - lastContact.at >= this.#staleAfter)) return false
    this.#held.up = up
    this.#staleAt = up && lastContact !== undefined ? lastContact.at + this.#staleAfter : at + this.#downValidMs
    for (let index = 0; index < readers.length; index++) {
      const value = up ? readers[index]?.(fields) : undefined
      this.#held.values[index] = value !== undefined && Number.isFinite(value) ? Math.max(0, value) : Number.NaN
    }
    return true
  }
}
