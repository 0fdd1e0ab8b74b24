import { type Clock, systemClock } from '../../src/util/clock.ts'

export interface FastClock extends Clock {
  /** Ends the running requests, so that their deadlines do not depend on the load of the machine. */
  expire(): void
}

/** Timeout of a request to an upstream, milliseconds. */
const deadline = 15_000

/** A clock that runs `times` as fast as real time, starting at a wall time, for code that waits for seconds. */
export function fastClock(wall: number, times: number): FastClock {
  const start = systemClock.now()
  const passed = () => (systemClock.now() - start) * times
  const deadlines = new Set<() => void>()
  return {
    now: passed,
    wall: () => Math.floor(wall + passed()),
    after(delay, action) {
      // A timer may fire a fraction of a millisecond early, which is a long time on this clock.
      if (delay !== deadline) return systemClock.after(Math.ceil(delay / times) + 1, action)
      deadlines.add(action)
      return () => void deadlines.delete(action)
    },
    expire() {
      for (const end of deadlines) end()
    },
  }
}
