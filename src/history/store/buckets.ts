import { type Level, levels } from '../values/levels.ts'
import { series, seriesNames } from '../values/series.ts'
import { joinSlices, layout, ofSeries, sliceSize } from '../values/slices.ts'
import type { Connection, Row } from './connection.ts'
import { bucketColumns, upsertBuckets } from './schema.ts'

const rowsAtOnce = 64

/** The tables of values by time, one for each level, and what `servers` keeps of them: when they begin, and the record of players. */
export class Buckets {
  readonly #connection: Connection
  /** The statements that write so many rows of some series. */
  readonly #upserts = new Map<string, string>()
  /** What the rows of `servers` have at least: nearly all values are neither the first ones nor records. */
  readonly #firstAt = new Map<number, number>()
  readonly #records = new Map<number, number>()

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** @param slices of one server after the other, each in order */
  write(slices: Float64Array): void {
    for (let at = 0; at < slices.length; at += sliceSize)
      this.beginsAt(slices[at + layout.server] ?? -1, slices[at + layout.start] ?? 0)
    // A batch that cannot be written is tried again.
    let joined: Float64Array = slices.slice()
    for (const level of levels) {
      joined = joinSlices(joined, level.step)
      this.writeLevel(level, joined)
    }
    for (let at = 0; at < joined.length; at += sliceSize) {
      const players = joined[at + layout.series + ofSeries.max] ?? 0
      if (Number.isFinite(players)) this.addRecord(joined[at + layout.server] ?? -1, players, joined[at + layout.peakAt] ?? 0)
    }
  }

  /** Adds slices, of which each is a bucket of one level, to the stored ones. */
  writeLevel(level: Level, slices: Float64Array): void {
    /** The values of the rows, one row after the other, by the series that they have, as bits: most servers have two of five. */
    const rows = new Map<number, number[]>()
    for (let at = 0; at < slices.length; at += sliceSize) {
      let known = 0
      for (let index = 0; index < seriesNames.length; index++)
        if (slices[at + layout.series + index * ofSeries.size] !== 0) known |= 1 << index
      const same = rows.get(known) ?? []
      rows.set(known, same)
      const number = (offset: number) => slices[at + offset] ?? 0
      same.push(number(layout.start), number(layout.server), number(layout.knownMs), number(layout.upMs))
      for (let index = 0; index < seriesNames.length; index++) {
        if ((known & (1 << index)) === 0) continue
        const first = layout.series + index * ofSeries.size
        const knownMs = number(first)
        same.push(knownMs, number(first + ofSeries.sum) / knownMs, number(first + ofSeries.min), number(first + ofSeries.max))
      }
      if (level.table === 'days') same.push(number(layout.peakAt))
    }
    for (const [known, same] of rows) {
      const names = seriesNames.filter((_, index) => (known & (1 << index)) !== 0)
      const width = bucketColumns(level, names).length
      // A statement of many rows takes half as long as one of each (`npm run bench -- history`).
      for (let at = 0; at < same.length; ) {
        const count = same.length - at >= rowsAtOnce * width ? rowsAtOnce : 1
        const key = `${level.table} ${known} ${count}`
        const sql = this.#upserts.get(key) ?? upsertBuckets(level, names, count)
        this.#upserts.set(key, sql)
        this.#connection.run(sql, ...same.slice(at, at + count * width))
        at += count * width
      }
    }
  }

  /** @param at Unix milliseconds; only an earlier time than the stored one counts */
  beginsAt(id: number, at: number): void {
    if ((this.#firstAt.get(id) ?? Number.POSITIVE_INFINITY) <= at) return
    this.#firstAt.set(id, at)
    this.#connection.run('UPDATE servers SET first_at = ?1 WHERE id = ?2 AND (first_at IS NULL OR first_at > ?1)', at, id)
  }

  /** Only a larger number than the stored one counts. */
  addRecord(id: number, players: number, at: number): void {
    if ((this.#records.get(id) ?? -1) >= players) return
    this.#records.set(id, players)
    this.#connection.run(
      'UPDATE servers SET record_players = ?1, record_at = ?2 WHERE id = ?3 AND ifnull(record_players, -1) < ?1',
      ...[players, at, id],
    )
  }

  /** The steps of one server that have values: their number, and minimum, mean and maximum of each series. See `readRange`. */
  steps(level: Level, server: number, from: number, to: number, step: number): readonly Row[] {
    const values = Object.values(series).map(
      ({ column }) =>
        `min(${column}_min), sum(${column}_mean * ${column}_known_ms) / sum(${column}_known_ms), max(${column}_max)`,
    )
    return this.#connection.all(
      `SELECT CAST((time - ?2) / ?4 AS INTEGER), ${values.join(', ')} FROM (${bucketsOf(level)}) GROUP BY 1`,
      ...[server, from, to, step],
    )
  }

  /** Those of one server: their start, `known_ms`, `up_ms`, `players_mean`, `players_max` and `players_max_at`. */
  days(server: number, from: number, to: number): readonly Row[] {
    return this.#connection.all(
      `SELECT time, known_ms, up_ms, players_mean, players_max, players_max_at FROM (${bucketsOf(levels[3])})`,
      ...[server, from, to],
    )
  }

  /** Must be called after a transaction that failed. */
  forget(): void {
    this.#firstAt.clear()
    this.#records.clear()
  }

  /** Deletes the oldest values of each level, if they are no longer kept. @param keptMs milliseconds for which days are kept */
  prune(now: number, keptMs: number): void {
    for (const { table, step, span } of levels) {
      const before = now - step - (table === 'days' ? keptMs : Math.min(span, keptMs))
      this.#connection.run(`DELETE FROM ${table} WHERE time < min(?, (SELECT min(time) FROM ${table}) + ${60 * step})`, before)
    }
  }
}

/** The buckets of server ?1 from ?2 to ?3. Each is looked up: between them are those of all others. */
const bucketsOf = ({ table, step }: Level): string =>
  `WITH RECURSIVE starts (start) AS (SELECT ?2 UNION ALL SELECT start + ${step} FROM starts WHERE start + ${step} < ?3)
    SELECT bucket.* FROM starts CROSS JOIN ${table} AS bucket ON bucket.time = start AND bucket.server = ?1`
