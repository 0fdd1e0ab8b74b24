import { type Clock, systemClock } from '../util/clock.ts'

/** The system clock with timers that keep the process alive: a program may have nothing else to wait for. */
export const libraryClock: Clock = {
  ...systemClock,
  after(delay, action) {
    const timer = setTimeout(action, delay)
    return () => clearTimeout(timer)
  },
}
