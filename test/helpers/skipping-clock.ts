import { type Clock, systemClock } from '../../src/util/clock.ts'

/** A clock that passes only by waits, which end at once; for code with one wait at a time. Starts at a wall time. */
export function skippingClock(wall: number): Clock {
  let passed = 0
  return {
    now: () => passed,
    wall: () => wall + passed,
    after(delay, action) {
      passed += delay
      return systemClock.after(0, action)
    },
  }
}
