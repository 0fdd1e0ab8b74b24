import { bucketColumns } from '../store/schema.ts'
import { dayMs, levels } from './levels.ts'
import { dateOf } from './overview.ts'

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
const [known, up, mean, max, maxAt] = ['known_ms', 'up_ms', 'players_mean', 'players_max', 'players_max_at'].map((name) =>
  bucketColumns(levels[3]).indexOf(name),
) as [number, number, number, number, number]

type Row = readonly (number | string | null)[]

function dayValues(day: Row | undefined, number: number): DayValues {
  const value = (column: number): number | null => (day?.[column] as number | null | undefined) ?? null
  const [knownMs, players] = [value(known) ?? 0, value(mean)]
  return {
    date: dateOf(number),
    up: knownMs === 0 ? null : ratio(value(up) ?? 0, knownMs),
    known: ratio(knownMs, dayMs),
    players: {
      mean: players === null ? null : Number(players.toFixed(3)),
      max: value(max),
      maxAt: players === null ? null : value(maxAt),
    },
  }
}

/**
 * The last `days` UTC days up to that of `now`, oldest first, and the all-time record of players.
 * @param server time of the first record, record number of players and its time
 */
export function readUptime(
  read: (from: number, to: number) => readonly Row[],
  [since = null, players = null, at = null]: readonly (number | null)[],
  days: number,
  now: number,
): Uptime {
  const today = Math.floor(now / dayMs)
  const first = today - days + 1
  const found = new Map(read(first * dayMs, (today + 1) * dayMs).map((day) => [Number(day[0]) / dayMs, day]))
  return {
    since,
    days: Array.from({ length: days }, (_, index) => dayValues(found.get(first + index), first + index)),
    record: { players, at },
  }
}
