import { type Clock, systemClock } from '../../src/util/clock.ts'

/** The system clock with timers that fire after a fraction of their delay: the pauses after failures grow to minutes. */
export const impatientClock = (times: number): Clock => ({
  ...systemClock,
  after: (delay, action) => systemClock.after(delay / times, action),
})
