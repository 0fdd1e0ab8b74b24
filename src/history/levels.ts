const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

/**
 * The stored resolutions, finest first: 10 s for an hour, 1 min for a day, 10 min for 7 days, 1 day for 400 days. Milliseconds.
 */
export const levels = [
  { step: 10 * second, span: hour },
  { step: minute, span: day },
  { step: 10 * minute, span: 7 * day },
  { step: day, span: 400 * day },
] as const
