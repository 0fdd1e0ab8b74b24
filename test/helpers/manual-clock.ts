import type { Clock } from '../../src/util/clock.ts'

export interface ManualClock extends Clock {
  /** Advances time, runs each timer at its time and then the promises that it resolved. */
  advance(milliseconds: number): Promise<void>
  readonly pending: number
  /** Lets time pass without running the timers that end meanwhile, as while the process is suspended. */
  suspend(milliseconds: number): void
  /** Sets the wall clock forth or back. */
  jump(milliseconds: number): void
}

const runMicrotasks = async () => {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve()
}

export function manualClock(start = 1_000): ManualClock {
  let now = start
  let jumped = 0
  let timers: { at: number; action: () => void }[] = []
  return {
    now: () => now,
    wall: () => 1_700_000_000_000 + jumped + now,
    suspend(milliseconds) {
      now += milliseconds
    },
    jump(milliseconds) {
      jumped += milliseconds
    },
    after(delay, action) {
      const timer = { at: now + delay, action }
      timers.push(timer)
      return () => {
        timers = timers.filter((other) => other !== timer)
      }
    },
    async advance(milliseconds) {
      const end = now + milliseconds
      await runMicrotasks()
      for (;;) {
        const [next] = timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)
        if (next === undefined) break
        timers = timers.filter((timer) => timer !== next)
        now = Math.max(now, next.at)
        next.action()
        await runMicrotasks()
      }
      now = end
      await runMicrotasks()
    },
    get pending() {
      return timers.length
    },
  }
}
