import { type Clock, systemClock } from '../../src/util/clock.ts'

/** The system clock, whose timers fire so many times as early: the pauses after failures grow to minutes. */
export const impatientClock = (times: number): Clock => ({
  ...systemClock,
  after: (delay, action) => systemClock.after(delay / times, action),
})
