import { dayMs } from './days.ts'
import { levels } from './levels.ts'
import { seriesNames } from './series.ts'
import { quarterMs, type ServerHistory } from './server-history.ts'

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
const dayLevel = levels.length - 1
const players = seriesNames.indexOf('players')

function dayValues(history: ServerHistory, number: number): DayValues {
  const day = history.day(number)
  const mean = history.get(dayLevel, number, players)?.mean
  const hasPeak = day !== undefined && !Number.isNaN(day.peak)
  return {
    date: new Date(number * dayMs).toISOString().slice(0, 10),
    up: day === undefined || day.knownMs === 0 ? null : ratio(day.upMs, day.knownMs),
    known: ratio(day?.knownMs ?? 0, dayMs),
    players: {
      mean: mean === undefined ? null : Number(mean.toFixed(3)),
      max: hasPeak ? day.peak : null,
      maxAt: hasPeak ? day.peakAt : null,
    },
  }
}

/** The last `days` UTC days up to that of `now`, oldest first, and the all-time record of players. */
export function readUptime(history: ServerHistory, days: number, now: number): Uptime {
  const today = Math.floor(now / dayMs)
  const { since, record } = history
  return {
    since: since ?? null,
    days: Array.from({ length: days }, (_, index) => dayValues(history, today - days + 1 + index)),
    record: { players: record?.players ?? null, at: record?.at ?? null },
  }
}

export interface RecentUptime {
  /** Unix milliseconds; `to` is the end of the part that `now` is in. */
  readonly from: number
  readonly to: number
  /** For each quarter of an hour the part of the known time in which the server was up; null if unknown. */
  readonly up: readonly (number | null)[]
}

/** The last 24 hours, oldest first. */
export function readRecentUptime(history: ServerHistory, now: number): RecentUptime {
  const count = dayMs / quarterMs
  const end = Math.floor(now / quarterMs) + 1
  const up = Array.from({ length: count }, (_, index) => {
    const quarter = history.quarter(end - count + index)
    return quarter === undefined || quarter.knownMs === 0 ? null : ratio(quarter.upMs, quarter.knownMs)
  })
  return { from: (end - count) * quarterMs, to: end * quarterMs, up }
}
