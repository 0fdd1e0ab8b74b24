import { type Clock, systemClock } from '../../src/clock.ts'

/** What an upstream has for one answer, in milliseconds: it stays as long as it is, or a busy machine would miss it. */
const deadline = 15_000

/** Time that runs `times` as fast as it does, from a wall time on: for what waits for seconds in earnest. */
export function fastClock(wall: number, times: number): Clock {
  const start = systemClock.now()
  const passed = () => (systemClock.now() - start) * times
  return {
    now: passed,
    wall: () => Math.floor(wall + passed()),
    after: (delay, action) => systemClock.after(delay === deadline ? delay : delay / times, action),
  }
}
