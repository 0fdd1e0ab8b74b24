import { type Level, levels } from '../values/levels.ts'
import { seriesNames } from '../values/series.ts'
import { joinSlices, layout, ofSeries, sliceSize } from '../values/slices.ts'
import type { Connection, Row } from './connection.ts'
import { bucketColumns, upsertBuckets } from './schema.ts'

const minute = 60_000
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

  /** @param slices of one server after the other */
  write(slices: Float64Array): void {
    const servers = [...divide(slices)]
    for (const level of levels) this.writeLevel(level, servers)
    for (const own of servers) {
      const id = own[layout.server] ?? -1
      this.beginsAt(id, own[layout.start] ?? 0)
      for (const slice of joinSlices(own, Number.MAX_SAFE_INTEGER)) {
        const players = slice[layout.series + ofSeries.max] ?? 0
        if (Number.isFinite(players)) this.addRecord(id, players, slice[layout.peakAt] ?? 0)
      }
    }
  }

  /** Adds slices to the buckets of one level. @param servers slices of each server */
  writeLevel(level: Level, servers: readonly Float64Array[]): void {
    /** The rows by the series that they have, as bits: most servers have two of five. */
    const rows = new Map<number, number[][]>()
    for (const slices of servers) {
      for (const slice of joinSlices(slices, level.step)) {
        const row = [slice[layout.start] ?? 0, slice[layout.server] ?? 0, slice[layout.knownMs] ?? 0, slice[layout.upMs] ?? 0]
        let known = 0
        for (let series = 0; series < seriesNames.length; series++) {
          const first = layout.series + series * ofSeries.size
          const knownMs = slice[first] ?? 0
          if (knownMs === 0) continue
          row.push(
            knownMs,
            (slice[first + ofSeries.sum] ?? 0) / knownMs,
            slice[first + ofSeries.min] ?? 0,
            slice[first + ofSeries.max] ?? 0,
          )
          known |= 1 << series
        }
        if (level.table === 'days') row.push(slice[layout.peakAt] ?? 0)
        const same = rows.get(known) ?? []
        same.push(row)
        rows.set(known, same)
      }
    }
    for (const [known, same] of rows) {
      const names = seriesNames.filter((_, series) => (known & (1 << series)) !== 0)
      // A statement of many rows takes half as long as one of each (`npm run bench -- history`).
      for (let at = 0; at < same.length; ) {
        const count = same.length - at >= rowsAtOnce ? rowsAtOnce : 1
        const key = `${level.table} ${known} ${count}`
        const sql = this.#upserts.get(key) ?? upsertBuckets(level, names, count)
        this.#upserts.set(key, sql)
        this.#connection.run(sql, ...same.slice(at, at + count).flat())
        at += count
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

  /** Unix milliseconds up to which a server was recorded in the last ten minutes; null otherwise. */
  lastAt(server: number, now: number): number | null {
    const { table, step } = levels[0]
    const to = Math.ceil(now / step) * step
    const found = this.#connection.first(
      `WITH RECURSIVE starts (time) AS (SELECT ? UNION ALL SELECT time - ${step} FROM starts WHERE time > ?)
        SELECT bucket.time FROM starts CROSS JOIN ${table} AS bucket ON bucket.time = starts.time AND bucket.server = ? LIMIT 1`,
      ...[to, to - 10 * minute, server],
    )
    return found === undefined ? null : Math.min(now, Number(found[0]) + step)
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

/** The slices of each server. */
function* divide(slices: Float64Array): Generator<Float64Array> {
  for (let at = 0; at < slices.length; ) {
    const begin = at
    while (at < slices.length && slices[at + layout.server] === slices[begin + layout.server]) at += sliceSize
    yield slices.subarray(begin, at)
  }
}
