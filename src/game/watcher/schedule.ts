import { withJitter } from '../../util/backoff.ts'
import type { Clock } from '../../util/clock.ts'
import type { Limiter } from '../../util/limiter.ts'

/** Milliseconds between two polls, however often an early one is requested; no more than the interval. */
const minSpacingMs = 1_000
/** A poll that starts later than this part of the interval does not bring the next one forward. */
const maxCatchUp = 0.5

const nothing = Promise.resolve()

export interface ScheduleOptions {
  /** Milliseconds from when one poll is due to when the next one is. */
  readonly interval: number
  readonly clock: Clock
  /** 0 <= n < 1, for jitter. */
  readonly random: () => number
  /** Never rejects. */
  readonly poll: () => Promise<unknown>
  /** Limits the number of concurrent polls; default: no limit. */
  readonly limit?: Limiter
  /** Moves the time of a poll to one at which others are polled too, at most to an earlier one. Monotonic milliseconds. */
  readonly align?: (at: number) => number
  /** Called when a poll starts, with the milliseconds since it was due. */
  readonly onStart?: (delayMs: number) => void
}

/**
 * Polls on an interval, whether or not the previous poll has ended, and also while the server is down: otherwise short outages would
 * look long. Jitter only shortens the pause, so that a change is detected within one interval of the last poll.
 */
export class Schedule {
  readonly #options: ScheduleOptions
  #startedAt: number | undefined
  #isStarted = false
  /** A poll that was due has not been started yet: there is no second one. */
  #isWaiting = false
  #closed = false
  #cancel: (() => void) | undefined

  constructor(options: ScheduleOptions) {
    this.#options = options
  }

  /** @param delayMs before the first poll */
  start(delayMs: number): void {
    this.#isStarted = true
    this.#pollAt(this.#align(this.#options.clock.now() + delayMs))
  }

  /** Polls before the interval has passed, at most once a second. Ignored before the start. */
  pollSoon(): void {
    if (!this.#isStarted || this.#closed) return
    const { interval, clock } = this.#options
    const spacing = Math.min(minSpacingMs, interval)
    this.#pollAt(this.#startedAt === undefined ? clock.now() : this.#startedAt + spacing)
  }

  close(): void {
    this.#closed = true
    this.#cancel?.()
  }

  /** @param at monotonic milliseconds; a time that has passed means now */
  #pollAt(at: number): void {
    if (this.#closed) return
    this.#cancel?.()
    const { clock } = this.#options
    const now = clock.now()
    const dueAt = Math.max(now, at)
    this.#cancel = clock.after(dueAt - now, () => this.#onDue(dueAt))
  }

  #onDue(dueAt: number): void {
    const { interval, clock, random } = this.#options
    const started = clock.now()
    this.#startedAt = started
    const pause = withJitter(interval, 0.1, random)
    // Otherwise polls that one pause of the event loop has delayed would start at the same time in all later intervals.
    const from = started - dueAt > interval * maxCatchUp ? started : dueAt
    this.#pollAt(this.#align(from + pause))
    void this.#run(dueAt)
  }

  #align(at: number): number {
    return this.#options.align?.(at) ?? at
  }

  /** Starts a poll when fewer than the maximum run. */
  #run(dueAt: number): Promise<unknown> {
    if (this.#isWaiting) return nothing
    this.#isWaiting = true
    const { limit } = this.#options
    return limit === undefined ? this.#poll(dueAt) : limit(() => this.#poll(dueAt))
  }

  #poll(dueAt: number): Promise<unknown> {
    const { clock, poll, onStart } = this.#options
    this.#isWaiting = false
    if (this.#closed) return nothing
    onStart?.(Math.max(0, clock.now() - dueAt))
    return poll()
  }
}
