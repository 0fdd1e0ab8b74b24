import type { Clock } from '../../clock.ts'

/** A server that is down is asked at the base interval this many times before the pauses grow. */
const quickRetries = 3
const maxBackoff = 8

export interface Schedule {
  /** @param delay milliseconds before the first poll */
  start(delay: number): void
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
  /** Polls in a row that did not reach the server. */
  readonly failures: () => number
}

/** Intervals to wait after `failures` polls in a row that did not reach the server. */
function backoff(failures: number): number {
  return Math.min(maxBackoff, 2 ** Math.max(0, failures - quickRetries))
}

/**
 * Polls on an interval, whether or not the poll before has ended, and less often while the server is down. Jitter only shortens
 * the pause, so that a change is never seen later than one interval after the last poll.
 */
export function createSchedule({ interval, clock, random, poll, failures }: ScheduleOptions): Schedule {
  let turn = 0
  let closed = false
  let cancel = () => {}

  function after(delay: number): void {
    if (closed) return
    cancel()
    cancel = clock.after(Math.max(0, delay), async () => {
      const started = clock.now()
      const mine = ++turn
      const pause = interval * (1 - 0.1 * random())
      after(pause)
      await poll()
      // Only now is it known whether the server is down; the next poll may have begun since.
      if (mine === turn) after(pause * backoff(failures()) - (clock.now() - started))
    })
  }

  return {
    start: after,
    close() {
      closed = true
      cancel()
    },
  }
}
