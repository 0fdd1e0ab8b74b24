import { type Level, levels } from '../values/levels.ts'
import { seriesNames } from '../values/series.ts'
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
      for (let series = 0; series < seriesNames.length; series++)
        if (slices[at + layout.series + series * ofSeries.size] !== 0) known |= 1 << series
      const same = rows.get(known) ?? []
      rows.set(known, same)
      const number = (offset: number) => slices[at + offset] ?? 0
      same.push(number(layout.start), number(layout.server), number(layout.knownMs), number(layout.upMs))
      for (let series = 0; series < seriesNames.length; series++) {
        if ((known & (1 << series)) === 0) continue
        const first = layout.series + series * ofSeries.size
        const knownMs = number(first)
        same.push(knownMs, number(first + ofSeries.sum) / knownMs, number(first + ofSeries.min), number(first + ofSeries.max))
      }
      if (level.table === 'days') same.push(number(layout.peakAt))
    }
    for (const [known, same] of rows) {
      const names = seriesNames.filter((_, series) => (known & (1 << series)) !== 0)
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

  /** The buckets of one server. Each is looked up: between them are those of all others. */
  read(level: Level, server: number, from: number, to: number): readonly Row[] {
    return this.#connection.all(
      `WITH RECURSIVE starts (time) AS (SELECT ? UNION ALL SELECT time + ${level.step} FROM starts WHERE time + ${level.step} < ?)
        SELECT ${bucketColumns(level)
          .map((column) => `bucket.${column}`)
          .join(', ')}
        FROM starts CROSS JOIN ${level.table} AS bucket ON bucket.time = starts.time AND bucket.server = ?`,
      ...[from, to, server],
    )
  }

  /** Deletes the oldest values of each level, if they are no longer kept. @param keptMs milliseconds for which days are kept */
  prune(now: number, keptMs: number): void {
    for (const { table, step, span } of levels) {
      const before = now - step - (table === 'days' ? keptMs : Math.min(span, keptMs))
      this.#connection.run(`DELETE FROM ${table} WHERE time < min(?, (SELECT min(time) FROM ${table}) + ${60 * step})`, before)
    }
  }

  /** Must be called after a transaction that failed. */
  forget(): void {
    this.#firstAt.clear()
    this.#records.clear()
  }
}
