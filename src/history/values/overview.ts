import { type Buckets, bucketsOf } from '../store/buckets.ts'
import type { Connection, Row } from '../store/connection.ts'
import { dayMs, levels } from './levels.ts'

/** How the last 24 hours and 90 days of a server are divided. */
export const overviewParts = { up: 48, players: 72, days: 90 } as const

/** The last 24 hours and 90 days of one server, oldest first; null where unknown. */
export interface ServerOverview {
  /** Unix milliseconds of the 24 hours; `to` is the end of the ten minutes that are not over yet. */
  readonly from: number
  readonly to: number
  /** The part of the known time in which the server was up. */
  readonly up: readonly (number | null)[]
  readonly players: readonly (number | null)[]
  /** Unix milliseconds from which on the state was known in the 24 hours; null if it was not. */
  readonly since: number | null
  /** `date`: UTC; `known`: the part of the day in which the state was known. */
  readonly days: readonly { readonly date: string; readonly up: number | null; readonly known: number }[]
}

/** The players of the last 24 hours in steps, oldest first; null where unknown. Milliseconds. */
export interface PlayerCounts {
  readonly from: number
  readonly step: number
  /** On all servers together. */
  readonly total: readonly (number | null)[]
  readonly servers: readonly { readonly server: string; readonly players: readonly (number | null)[] }[]
}

const tenMinutes = levels[2]
const bucketCount = dayMs / tenMinutes.step

/** What is shown of several servers: the last 24 hours and 90 days of each, and the players of all together. */
export class Overview {
  readonly #connection: Connection
  readonly #buckets: Buckets

  constructor(connection: Connection, buckets: Buckets) {
    this.#connection = connection
    this.#buckets = buckets
  }

  /** @param now Unix milliseconds */
  of(server: number, now: number): ServerOverview {
    const [from, to] = lastDay(now)
    const rows = this.#recent('known_ms, up_ms, players_known_ms, players_mean * players_known_ms', server, now)
    const [first, known] = rows[0] ?? []
    return {
      ...{ from, to, up: means(rows, overviewParts.up, 1, 6), players: means(rows, overviewParts.players, 3, 3) },
      // When the state was first known: to the end of the first ten minutes with any values.
      since:
        rows.length === 0 ? null : Math.max(from, Math.min(from + (Number(first) + 1) * tenMinutes.step, now) - Number(known)),
      days: this.#buckets.uptime(server, overviewParts.days, now).days.map(({ date, up, known }) => ({ date, up, known })),
    }
  }

  /**
   * @param ids of the servers that are counted
   * @param maxServers how many of them have values of their own: those with the most players today and yesterday, in their order
   */
  playerCounts(ids: readonly number[], maxServers: number, now: number): PlayerCounts {
    const [from, to] = lastDay(now)
    const counted = JSON.stringify(ids)
    const total = this.#connection.all(
      // Most servers are counted, so it is faster to exclude the others.
      `SELECT ${position('?1')}, sum(players_mean) FROM ten_minutes WHERE time >= ?1 AND time < ?2 AND known_ms > 0
        AND server NOT IN (SELECT id FROM servers WHERE id NOT IN (SELECT value FROM json_each(?3))) GROUP BY time`,
      ...[from, to, counted],
    )
    const today = Math.floor(now / dayMs) * dayMs
    const largest = this.#connection.all(
      `SELECT value, name FROM (
          SELECT key, value, (SELECT sum(players_mean * players_known_ms) FROM days WHERE time IN (?2, ?3) AND server = value) AS played
          FROM json_each(?1) ORDER BY played DESC, key LIMIT ?4
        ) JOIN servers ON id = value ORDER BY key`,
      ...[counted, today - dayMs, today, maxServers],
    )
    const servers = largest.map(([id, name]) => ({
      server: String(name),
      players: counts(this.#recent('players_mean', Number(id), now)),
    }))
    return { from, step: tenMinutes.step, total: counts(total), servers }
  }

  /** The ten minutes of a server in the last 24 hours in which its state was known: the position of each, and the columns. */
  #recent(columns: string, server: number, now: number): readonly Row[] {
    return this.#connection.all(
      `SELECT ${position('?2')}, ${columns} FROM (${bucketsOf(tenMinutes)}) WHERE known_ms > 0`,
      ...[server, ...lastDay(now)],
    )
  }
}

/** The 24 hours up to the end of the ten minutes that are not over yet. */
function lastDay(now: number): readonly [from: number, to: number] {
  const to = (Math.floor(now / tenMinutes.step) + 1) * tenMinutes.step
  return [to - dayMs, to]
}

/** SQL for the index of the ten minutes, from 0 at `from` on. Numbers are bound as REAL, so the quotient is not an integer. */
const position = (from: string): string => `CAST((time - ${from}) / ${tenMinutes.step} AS INTEGER)`

/** Numbers of players with one decimal; null where unknown. */
function counts(rows: readonly Row[]): readonly (number | null)[] {
  const found: (number | null)[] = Array.from({ length: bucketCount }, () => null)
  for (const [index, players] of rows) if (typeof players === 'number') found[Number(index)] = Math.round(players * 10) / 10
  return found
}

/** Means of as many buckets each; null where unknown. @param weightAt position of the weight in a row, which is followed by the sum */
function means(rows: readonly Row[], parts: number, weightAt: number, digits: number): readonly (number | null)[] {
  const [weights, sums] = [new Float64Array(parts), new Float64Array(parts)]
  for (const row of rows) {
    const part = Math.floor((Number(row[0]) * parts) / bucketCount)
    weights[part] = (weights[part] ?? 0) + Number(row[weightAt])
    sums[part] = (sums[part] ?? 0) + Number(row[weightAt + 1])
  }
  return Array.from(weights, (weight, part) => (weight === 0 ? null : Number(((sums[part] ?? 0) / weight).toFixed(digits))))
}
