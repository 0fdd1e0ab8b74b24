import { isNumber, isTime } from '../game/check.ts'
import type { Bucket } from './bucket-words.ts'
import type { ByteReader, ByteWriter } from './bytes.ts'
import { createDays, type Day, dayMs } from './days.ts'
import { levels } from './levels.ts'
import { Rings } from './rings.ts'
import { seriesNames } from './series.ts'
import { addToSlice, type OpenSlice, openSlice, type Slice } from './slice.ts'

const minute = 60_000

/** Resolution of the uptime of the last 24 hours. */
export const quarterMs = 15 * minute

/** The values of a server from one snapshot to the next. */
export interface Observation {
  readonly up: boolean
  /** In the order of the series; NaN if unknown. Read during the call only. */
  readonly values: readonly number[]
}

export interface Record {
  readonly players: number
  /** Unix milliseconds. */
  readonly at: number
}

/** The record of one server. Times are Unix milliseconds. */
export interface ServerHistory {
  /** Time of the first record; undefined if there is none. */
  readonly since: number | undefined
  /** Record number of players. */
  readonly record: Record | undefined
  /** Adds values that were valid from `start` for `durationMs`, which is 0 for values that have just been read. */
  add(observation: Observation, start: number, durationMs: number): void
  /** Restores a slice that an earlier process recorded. */
  restore(slice: Slice): void
  /** Returns what was added since the last call, one slice per bucket of the finest level. Empty without a file. */
  takeSlices(): readonly Slice[]
  /** @param bucket number of the bucket of that level since 1970 */
  get(level: number, bucket: number, series: number): Bucket | undefined
  day(day: number): Day | undefined
  /** @param quarter number of the quarter of an hour since 1970, of the last 24 hours */
  quarter(quarter: number): Pick<Day, 'knownMs' | 'upMs'> | undefined
  bytes(): number
  write(writer: ByteWriter): void
  read(reader: ByteReader): void
}

/** Weight of a value that has just been read, milliseconds. */
const instant = 1
const players = seriesNames.indexOf('players')
const finest = levels[0].step
const noSlices: readonly Slice[] = []

/** The last slice if it is of the bucket of `start`, else a new one. */
function sliceAt(slices: OpenSlice[], start: number): OpenSlice {
  const last = slices.at(-1)
  if (last !== undefined && Math.floor(last.start / finest) === Math.floor(start / finest)) return last
  const slice = openSlice(start)
  slices.push(slice)
  return slice
}

/** @param hasFile whether slices are recorded for a file */
export const createServerHistory = (hasFile = true): ServerHistory => new RecordedHistory(hasFile)

/** A class for the same reason as rings.ts: an object with a getter takes a kilobyte. */
class RecordedHistory implements ServerHistory {
  readonly #rings = new Rings()
  readonly #days = createDays(levels[3].span / dayMs)
  readonly #quarters = createDays(dayMs / quarterMs)
  #since: number | undefined
  #record: Record | undefined
  /** Undefined without a file. */
  #slices: OpenSlice[] | undefined

  constructor(hasFile: boolean) {
    this.#slices = hasFile ? [] : undefined
  }

  get since(): number | undefined {
    return this.#since
  }

  get record(): Record | undefined {
    return this.#record
  }

  add(observation: Observation, start: number, durationMs: number): void {
    // There are no buckets before 1970.
    if (start < 0) return
    let from = start
    const end = start + durationMs
    do {
      const next = Math.min(end, (Math.floor(from / finest) + 1) * finest)
      this.#addPart(observation, from, next - from)
      from = next
    } while (from < end)
  }

  restore(slice: Slice): void {
    const { start, knownMs, upMs, values, peakAt } = slice
    if (this.#since === undefined || start < this.#since) this.#since = start
    for (let series = 0; series < values.length; series++) {
      const value = values[series]
      if (value !== undefined) this.#rings.add(start, series, value, value.weight)
    }
    this.#addTime(start, knownMs, upMs)
    const peak = values[players]?.max
    if (peak !== undefined) this.#addPeak(start, peak, peakAt)
  }

  takeSlices(): readonly Slice[] {
    const taken = this.#slices ?? noSlices
    if (taken.length > 0) this.#slices = []
    return taken
  }

  get(level: number, bucket: number, series: number): Bucket | undefined {
    return this.#rings.get(level, bucket, series)
  }

  day(day: number): Day | undefined {
    return this.#days.get(day)
  }

  quarter(quarter: number): Pick<Day, 'knownMs' | 'upMs'> | undefined {
    return this.#quarters.get(quarter)
  }

  bytes(): number {
    return this.#rings.bytes() + this.#days.bytes() + this.#quarters.bytes()
  }

  write(writer: ByteWriter): void {
    writer.float64(this.#since ?? Number.NaN)
    writer.float64(this.#record?.players ?? Number.NaN)
    writer.float64(this.#record?.at ?? Number.NaN)
    this.#rings.write(writer)
    this.#days.write(writer)
    this.#quarters.write(writer)
  }

  read(reader: ByteReader): void {
    const [first, record, at] = [reader.float64(), reader.float64(), reader.float64()]
    if (isTime(first)) this.#since = Math.min(first, this.#since ?? first)
    if (isNumber(record) && isTime(at) && (this.#record === undefined || record > this.#record.players))
      this.#record = { players: record, at }
    this.#rings.read(reader)
    this.#days.read(reader)
    this.#quarters.read(reader)
  }

  /** The whole part is within one bucket of the finest level. */
  #addPart(observation: Observation, start: number, durationMs: number): void {
    const { up, values } = observation
    const weight = Math.max(instant, durationMs)
    if (this.#since === undefined || start < this.#since) this.#since = start
    for (let series = 0; series < values.length; series++) {
      const value = values[series] ?? Number.NaN
      if (!Number.isNaN(value)) this.#rings.addValue(start, series, value, weight)
    }
    this.#addTime(start, durationMs, up ? durationMs : 0)
    const peak = values[players] ?? Number.NaN
    if (!Number.isNaN(peak)) this.#addPeak(start, peak, start)
    if (this.#slices) addToSlice(sliceAt(this.#slices, start), observation, start, durationMs, weight)
  }

  #addTime(start: number, knownMs: number, upMs: number): void {
    this.#days.addTime(Math.floor(start / dayMs), knownMs, upMs)
    this.#quarters.addTime(Math.floor(start / quarterMs), knownMs, upMs)
  }

  #addPeak(start: number, players: number, at: number): void {
    this.#days.addPlayers(Math.floor(start / dayMs), players, at)
    if (this.#record === undefined || players > this.#record.players) this.#record = { players, at }
  }
}
