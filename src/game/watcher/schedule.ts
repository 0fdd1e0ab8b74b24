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
  /** Polls before the interval has passed, at most once a second. Ignored before the start. */
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
  /** Limits the number of concurrent polls; default: no limit. */
  readonly limit?: Limiter
  /** Called when a poll starts, with the milliseconds since it was due. */
  readonly onStart?: (delayMs: number) => void
  /** Number of consecutive polls that did not reach the server. */
  readonly failures: () => number
}

/**
 * Polls on an interval, whether or not the previous poll has ended, and less often while the server is down. Jitter only
 * shortens the pause, so that a change is detected within one interval of the last poll.
 */
export function createSchedule(options: ScheduleOptions): Schedule {
  const { interval, clock, random, poll, failures, limit = (task) => task(), onStart = () => {} } = options
  /** Incremented each time the timer is set, so that the end of an earlier poll does not change it. */
  let turn = 0
  let startedAt: number | undefined
  let isStarted = false
  /** A due poll is waiting to start; no second one is added. */
  let isWaiting = false
  let closed = false
  let cancel = () => {}

  /** Starts a poll when the number of running polls is below the maximum. */
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
      // Whether the server is down is known only now. The next poll may already have started.
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
