import { type Clock, systemClock } from '../../src/clock.ts'

export interface FastClock extends Clock {
  /** Ends the requests under way: their deadlines come when a test says so, not because the machine is busy. */
  expire(): void
}

/** What an upstream has for one answer, milliseconds. */
const deadline = 15_000

/** Time that runs `times` as fast as it does, from a wall time on: for what waits for seconds in earnest. */
export function fastClock(wall: number, times: number): FastClock {
  const start = systemClock.now()
  const passed = () => (systemClock.now() - start) * times
  const deadlines = new Set<() => void>()
  return {
    now: passed,
    wall: () => Math.floor(wall + passed()),
    after(delay, action) {
      // A timer may fire a part of a millisecond early, which is much on this clock.
      if (delay !== deadline) return systemClock.after(Math.ceil(delay / times) + 1, action)
      deadlines.add(action)
      return () => void deadlines.delete(action)
    },
    expire() {
      for (const end of deadlines) end()
    },
  }
}
