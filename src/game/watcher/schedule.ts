import type { Clock } from '../../clock.ts'
import type { Limiter } from '../names/limiter.ts'
import { type BackoffOptions, backoffMs, withJitter } from './backoff.ts'

/** In intervals: a server that is down is polled at the base interval three times before the pauses grow. */
const backoff: BackoffOptions = { firstMs: 1, maxMs: 8, steadyFailures: 3 }
/** Milliseconds between two polls, however often an early one is requested; no more than the interval. */
const minSpacingMs = 1_000

export interface Schedule {
  /** @param delayMs before the first poll */
  start(delayMs: number): void
  /** Polls before the interval is over, at most once a second. Ignored before the start. */
  pollSoon(): void
  close(): void
}

export interface ScheduleOptions {
  /** Milliseconds from the start of one poll to that of the next. */
  readonly interval: number
  readonly clock: Clock
  /** 0 <= n < 1, for jitter. */
  readonly random: () => number
  /** Never rejects. */
  readonly poll: () => Promise<unknown>
  /** Bounds the polls that run at once; default: no bound. */
  readonly limit?: Limiter
  /** Called when a poll starts, with the milliseconds since it was due. */
  readonly onStart?: (delayMs: number) => void
  /** Polls in a row that did not reach the server. */
  readonly failures: () => number
}

/**
 * Polls on an interval, whether or not the poll before has ended, and less often while the server is down. Jitter only shortens
 * the pause, so that a change is never seen later than one interval after the last poll.
 */
export function createSchedule(options: ScheduleOptions): Schedule {
  const { interval, clock, random, poll, failures, limit = (task) => task(), onStart = () => {} } = options
  /** Counts what has set the timer, so that the end of an earlier poll does not move it. */
  let turn = 0
  let startedAt: number | undefined
  let isStarted = false
  /** A poll that was due has not been started yet: there is no second one. */
  let isWaiting = false
  let closed = false
  let cancel = () => {}

  /** Starts a poll when fewer than the maximum run. */
  async function run(dueAt: number): Promise<void> {
    if (isWaiting) return
    isWaiting = true
    await limit(async () => {
      isWaiting = false
      if (closed) return
      onStart(Math.max(0, clock.now() - dueAt))
      await poll()
    })
  }

  function pollAfter(delayMs: number): void {
    if (closed) return
    cancel()
    const dueAt = clock.now() + Math.max(0, delayMs)
    cancel = clock.after(Math.max(0, delayMs), async () => {
      const started = clock.now()
      startedAt = started
      const mine = ++turn
      const pause = withJitter(interval, 0.1, random)
      pollAfter(pause)
      await run(dueAt)
      // Only now is it known whether the server is down. The next poll may have begun since.
      if (mine === turn) pollAfter(pause * backoffMs(failures(), backoff) - (clock.now() - started))
    })
  }

  return {
    start(delayMs) {
      isStarted = true
      pollAfter(delayMs)
    },
    pollSoon() {
      if (!isStarted || closed) return
      turn++
      const spacing = Math.min(minSpacingMs, interval)
      pollAfter(startedAt === undefined ? 0 : startedAt + spacing - clock.now())
    },
    close() {
      closed = true
      cancel()
    },
  }
}
