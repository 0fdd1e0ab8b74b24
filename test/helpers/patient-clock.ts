import { type Clock, systemClock } from '../../src/util/clock.ts'

/** The system clock, of which no timer fires: nothing is too late, however long a busy machine stops this process. */
export const patientClock: Clock = { ...systemClock, after: () => () => {} }
