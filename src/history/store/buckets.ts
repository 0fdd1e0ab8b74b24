import { dayMs, type Level, levels } from '../values/levels.ts'
import { chooseStep, levelOf, type RangeQuery, type RangeValues } from '../values/range.ts'
import { type SeriesName, series, seriesNames } from '../values/series.ts'
import { joinSlices, layout, ofSeries, sliceSize } from '../values/slices.ts'
import { toDay, type Uptime } from '../values/uptime.ts'
import type { Connection, Row } from './connection.ts'
import { bucketColumns, extendServers, upsertBuckets } from './schema.ts'

/** The tables of values by time, one for each level, and what `servers` keeps of them: when they begin, and the record of players. */
export class Buckets {
  readonly #connection: Connection
  /** The statements that write rows of some series. */
  readonly #upserts = new Map<string, (values: Row) => void>()
  /** Takes rows of a server: since when it is recorded, and the most players at once, and when; null if unknown. */
  readonly extendServers: (values: Row) => void

  constructor(connection: Connection) {
    this.#connection = connection
    this.extendServers = connection.forRows(4, extendServers)
  }

  /** @param slices of one server after the other, each in order */
  write(slices: Float64Array): void {
    const firstAt = new Map<number, number>()
    for (let at = 0; at < slices.length; at += sliceSize) {
      const [server, start] = [slices[at + layout.server] ?? -1, slices[at + layout.start] ?? 0]
      firstAt.set(server, Math.min(start, firstAt.get(server) ?? start))
    }
    // A batch that cannot be written is tried again.
    let joined: Float64Array = slices.slice()
    for (const level of levels) {
      joined = joinSlices(joined, level.step)
      this.writeLevel(level, joined)
    }
    const servers: (number | null)[] = []
    for (let at = 0; at < joined.length; at += sliceSize) {
      const server = joined[at + layout.server] ?? -1
      const players = joined[at + layout.series + ofSeries.max] ?? 0
      servers.push(
        server,
        firstAt.get(server) ?? null,
        Number.isFinite(players) ? players : null,
        joined[at + layout.peakAt] ?? 0,
      )
    }
    this.extendServers(servers)
  }

  /** Adds slices, of which each is a bucket of one level, to the stored ones. */
  writeLevel(level: Level, slices: Float64Array): void {
    /**
     * The values of the rows, one row after the other, by the series that they have, as bits, and by their time: most servers have two of
     * five. Rows of the same time are side by side in the table, which takes a tenth less CPU time than server by server.
     */
    const groups = new Map<number, Map<number, number[]>>()
    for (let at = 0; at < slices.length; at += sliceSize) {
      const number = (offset: number) => slices[at + offset] ?? 0
      let known = 0
      for (let index = 0; index < seriesNames.length; index++)
        if (number(layout.series + index * ofSeries.size) !== 0) known |= 1 << index
      const times = groups.get(known) ?? new Map<number, number[]>()
      groups.set(known, times)
      const values = times.get(number(layout.start)) ?? []
      times.set(number(layout.start), values)
      values.push(number(layout.start), number(layout.server), number(layout.knownMs), number(layout.upMs))
      for (let index = 0; index < seriesNames.length; index++) {
        if ((known & (1 << index)) === 0) continue
        const first = layout.series + index * ofSeries.size
        const knownMs = number(first)
        values.push(knownMs, number(first + ofSeries.sum) / knownMs, number(first + ofSeries.min), number(first + ofSeries.max))
      }
      if (level.table === 'days') values.push(number(layout.peakAt))
    }
    for (const [known, times] of groups) {
      const upsert = this.#upsertOf(level, known)
      for (const values of times.values()) upsert(values)
    }
  }

  /** @param known the series of the rows, as bits */
  #upsertOf(level: Level, known: number): (values: Row) => void {
    const key = `${level.table} ${known}`
    const found = this.#upserts.get(key)
    if (found !== undefined) return found
    const names = seriesNames.filter((_, index) => (known & (1 << index)) !== 0)
    const width = bucketColumns(level, names).length
    const upsert = this.#connection.forRows(width, (rows) => upsertBuckets(level, names, rows))
    this.#upserts.set(key, upsert)
    return upsert
  }

  /** The newest values of a server; null where unknown. */
  range(server: number, { names, range, points }: RangeQuery, now: number): RangeValues {
    const level = levelOf(range)
    const step = chooseStep(range, points)
    const to = (Math.floor(now / level.step) + 1) * level.step
    const from = to - Math.ceil(range / step) * step
    const columns = Object.values(series).map(
      ({ column }) =>
        `min(${column}_min), sum(${column}_mean * ${column}_known_ms) / sum(${column}_known_ms), max(${column}_max)`,
    )
    const rows = this.#connection.all(
      `SELECT CAST((time - ?2) / ?4 AS INTEGER), ${columns.join(', ')} FROM (${bucketsOf(level)}) GROUP BY 1`,
      ...[server, from, to, step],
    )
    const valuesOf = (name: SeriesName, offset: number): (number | null)[] => {
      const values: (number | null)[] = Array.from({ length: (to - from) / step }, () => null)
      for (const row of rows) {
        const value = row[1 + 3 * seriesNames.indexOf(name) + offset]
        if (typeof value === 'number') values[Number(row[0])] = round(value)
      }
      return values
    }
    const found = names.map((name) => [name, { min: valuesOf(name, 0), mean: valuesOf(name, 1), max: valuesOf(name, 2) }])
    return { from, to, step, series: Object.fromEntries(found) }
  }

  /** The last UTC days up to that of `now`, oldest first, and the all-time record of players. @param days 1 to 400, today included */
  uptime(server: number, days: number, now: number): Uptime {
    const [since = null, players = null, at = null] = (this.#connection.first(
      'SELECT first_at, record_players, record_at FROM servers WHERE id = ?',
      server,
    ) ?? []) as readonly (number | null)[]
    const first = Math.floor(now / dayMs) - days + 1
    const rows = this.#connection.all(
      `SELECT time, known_ms, up_ms, players_mean, players_max, players_max_at FROM (${bucketsOf(levels[3])})`,
      ...[server, first * dayMs, (first + days) * dayMs],
    )
    const found = new Map(rows.map((day) => [Number(day[0]) / dayMs, day]))
    return {
      since,
      days: Array.from({ length: days }, (_, index) => toDay(first + index, found.get(first + index))),
      record: { players, at },
    }
  }

  /** The maximum number of players on all servers between two times, by minutes. */
  peak(from: number, to: number): { readonly players: number; readonly at: number } | null {
    const [players, at] =
      this.#connection.first(
        `SELECT sum(players_mean) AS total, time FROM minutes WHERE time >= ? AND time < ? AND players_mean IS NOT NULL
        GROUP BY time ORDER BY total DESC, time LIMIT 1`,
        from,
        to,
      ) ?? []
    return typeof players === 'number' && typeof at === 'number' ? { players: Math.round(players), at } : null
  }

  /** Deletes the oldest values of each level, if they are no longer kept. @param keptMs milliseconds for which days are kept */
  prune(now: number, keptMs: number): void {
    for (const { table, step, span } of levels) {
      const before = now - step - (table === 'days' ? keptMs : Math.min(span, keptMs))
      this.#connection.deleteOldest(table, before, 60 * step)
    }
  }
}

/** Three digits after the point are enough for any series. */
const round = (value: number): number => Math.round(value * 1000) / 1000

/** The buckets of server ?1 from ?2 to ?3. Each is looked up: between them are those of all others. */
export const bucketsOf = ({ table, step }: Level): string =>
  `WITH RECURSIVE starts (start) AS (SELECT ?2 UNION ALL SELECT start + ${step} FROM starts WHERE start + ${step} < ?3)
    SELECT bucket.* FROM starts CROSS JOIN ${table} AS bucket ON bucket.time = start AND bucket.server = ?1`
