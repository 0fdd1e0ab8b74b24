const second = 1_000
const minute = 60 * second
const hour = 60 * minute
export const dayMs = 24 * hour

/**
 * The stored resolutions, finest first, each with its table in the database: 10 s for an hour, 1 min for a day, 10 min for 7 days,
 * 1 day for 400 days. Milliseconds.
 */
export const levels = [
  { table: 'ten_seconds', step: 10 * second, span: hour },
  { table: 'minutes', step: minute, span: dayMs },
  { table: 'ten_minutes', step: 10 * minute, span: 7 * dayMs },
  { table: 'days', step: dayMs, span: 400 * dayMs },
] as const

export type Level = (typeof levels)[number]
