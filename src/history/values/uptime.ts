import { dayMs, levels } from './levels.ts'

export const maxDays = levels[3].span / dayMs

export interface DayValues {
  /** UTC, `2026-11-21`. */
  readonly date: string
  /** The fraction of the known time in which the server was up; null without a record of the day. */
  readonly up: number | null
  /** The fraction of the day in which the state of the server was known. */
  readonly known: number
  readonly players: { readonly mean: number | null; readonly max: number | null; readonly maxAt: number | null }
}

export interface Uptime {
  /** Unix milliseconds of the first record; null if there is none. */
  readonly since: number | null
  readonly days: readonly DayValues[]
  readonly record: { readonly players: number | null; readonly at: number | null }
}

const ratio = (part: number, whole: number): number => Number((part / whole).toFixed(6))

/** `2026-11-21`. @param day since 1970 */
const dateOf = (day: number): string => new Date(day * dayMs).toISOString().slice(0, 10)

/** Of a day: its start, `known_ms`, `up_ms`, `players_mean`, `players_max` and `players_max_at`. */
type Row = readonly (number | string | null)[]

/** @param number of the day, since 1970 */
export function toDay(number: number, day: Row = []): DayValues {
  const [, knownMs, up, mean = null, max = null, maxAt = null] = day as readonly (number | null)[]
  return {
    date: dateOf(number),
    up: knownMs ? ratio(up ?? 0, knownMs) : null,
    known: ratio(knownMs ?? 0, dayMs),
    players: { mean: mean && Number(mean.toFixed(3)), max, maxAt: mean === null ? null : maxAt },
  }
}
