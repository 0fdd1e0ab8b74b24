import { type Clock, systemClock } from '../../src/util/clock.ts'

/** A clock that runs `times` as fast as real time, starting at a wall time, for code that waits for seconds. */
export function fastClock(wall: number, times: number): Clock {
  const start = systemClock.now()
  const passed = () => (systemClock.now() - start) * times
  return {
    now: passed,
    wall: () => Math.floor(wall + passed()),
    // A timer may fire a fraction of a millisecond early, which is a long time on this clock.
    after: (delay, action) => systemClock.after(Math.ceil(delay / times) + 1, action),
  }
}
