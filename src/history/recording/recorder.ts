import { currentFields, type ServerSnapshot } from '../../game/snapshot.ts'
import type { Clock } from '../../util/clock.ts'
import { series, seriesNames } from '../values/series.ts'
import { Slices } from '../values/slices.ts'

const readers = seriesNames.map((name) => series[name].read)

/** A larger difference between the wall clock and the monotonic clock is a jump: 1 s, plus 0.1 % of the elapsed time. */
const maxDriftMs = 1_000
const maxDriftRatio = 0.001

/**
 * Records the snapshots of one server. Each is valid until the next one, or until it is stale: so the record does not depend on how
 * often the server is polled, and nothing is recorded while the state is unknown.
 */
export class Recorder {
  readonly #slices = new Slices()
  readonly #clock: Clock
  readonly #maintainedSince: () => number | undefined
  /** The values of the newest snapshot, in one array that is reused. Not valid while the state of the server is unknown. */
  readonly #held: { up: boolean; readonly values: number[] } = { up: false, values: seriesNames.map(() => Number.NaN) }
  #isKnown = false
  // The times are rounded to whole milliseconds, because fractions take more room in the file.
  /** Monotonic milliseconds at which the state of the server becomes unknown. */
  #knownUntil = Number.POSITIVE_INFINITY
  #lastWall: number
  #lastNow: number

  /** @param maintainedSince Unix milliseconds from which nothing is recorded; default: all is */
  constructor(clock: Clock, maintainedSince: () => number | undefined = () => undefined) {
    this.#clock = clock
    this.#maintainedSince = maintainedSince
    this.#lastWall = Math.round(clock.wall())
    this.#lastNow = Math.round(clock.now())
  }

  observe(snapshot: ServerSnapshot): void {
    this.#flush()
    this.#isKnown = this.#read(snapshot)
    if (this.#isKnown) this.#slices.add(this.#held, this.#lastWall, 0)
  }

  /** Records the newest snapshot up to now. The state is unknown until the next one. */
  markUnknown(): void {
    this.#flush()
    this.#isKnown = false
  }

  /** Removes what is recorded up to now and returns it. @param server its number in the database */
  take(server: number): Float64Array {
    this.#flush()
    return this.#slices.take(server)
  }

  /** Records the newest snapshot up to now. */
  #flush(): void {
    const [wall, now] = [Math.round(this.#clock.wall()), Math.round(this.#clock.now())]
    const passed = now - this.#lastNow
    const drift = Math.abs(wall - this.#lastWall - passed)
    // The snapshot that makes the values unknown is late, or missing, if the process was stopped for a while.
    const beforeMaintenance = (this.#maintainedSince() ?? Number.POSITIVE_INFINITY) - this.#lastWall
    const validMs = Math.min(passed, this.#knownUntil - this.#lastNow, Math.round(beforeMaintenance))
    // After a clock jump, or after the machine has been suspended, the elapsed time cannot be placed on the time axis.
    if (this.#isKnown && validMs > 0 && drift <= maxDriftMs + passed * maxDriftRatio) {
      this.#slices.add(this.#held, this.#lastWall, validMs)
    }
    this.#lastWall = wall
    this.#lastNow = now
  }

  /** Returns false if the state of the server is unknown. */
  #read(snapshot: ServerSnapshot): boolean {
    const { up, knownUntil = Number.POSITIVE_INFINITY } = snapshot
    if (up === undefined) return false
    const fields = currentFields(snapshot)
    this.#held.up = up
    this.#knownUntil = Math.round(knownUntil)
    for (let index = 0; index < readers.length; index++) {
      const value = readers[index]?.(fields)
      this.#held.values[index] = value !== undefined && Number.isFinite(value) ? Math.max(0, value) : Number.NaN
    }
    return true
  }
}
