import {
  type Bucket,
  bucketLayout,
  readMax,
  readMean,
  readMin,
  roundBucket,
  seriesWords,
  writeMax,
  writeMean,
  writeMin,
} from './bucket-words.ts'
import type { ByteReader, ByteWriter } from './bytes.ts'
import { levels } from './levels.ts'
import { OpenBuckets } from './open-buckets.ts'
import { seriesNames } from './series.ts'
import { Slots } from './slots.ts'

const steps: readonly number[] = levels.map(({ step }) => step)
const maxSlots: readonly number[] = levels.map(({ step, span }) => span / step)
const seriesCount = seriesNames.length

/**
 * The last buckets of all levels, by the number of the bucket since 1970. A bucket is encoded into the table of its level when it
 * ends, so that a level has no table until its first bucket ends: a table takes half a kilobyte, and there are thousands of
 * servers (`npm run bench -- fleet`). A class, because closures for each of them would take kilobytes.
 */
export class Rings {
  /** Bits of the series that have words in the tables: those with a value in any bucket. */
  #known = 0
  /** For each level the buckets that have ended. */
  readonly #tables: (Slots | undefined)[] = levels.map(() => undefined)
  readonly #open = new OpenBuckets()

  /**
   * Adds values for a part of a bucket of the finest level.
   * @param start Unix milliseconds
   * @param series position in the list of series
   * @param weight milliseconds for which the value was known
   */
  add(start: number, series: number, { min, mean, max }: Bucket, weight: number): void {
    this.#addAll(start, series, min, mean, max, weight)
  }

  /** Adds a value as its own minimum, mean and maximum. */
  addValue(start: number, series: number, value: number, weight: number): void {
    this.#addAll(start, series, value, value, value, weight)
  }

  /** Undefined if the bucket is empty. */
  get(level: number, bucket: number, series: number): Bucket | undefined {
    if ((this.#known & (1 << series)) === 0) return undefined
    const { offsets, positions } = bucketLayout(this.#known)
    if (bucket === this.#open.at(level)) {
      const value = this.#open.get(level, positions[series] ?? 0)
      return value && roundBucket(series, value)
    }
    const table = this.#tables[level]
    const found = table?.find(bucket) ?? -1
    if (table === undefined || found === -1) return undefined
    const { words } = table
    const at = found + (offsets[series] ?? 0)
    const mean = readMean(words, at, series)
    return Number.isNaN(mean) ? undefined : { min: readMin(words, at, series), mean, max: readMax(words, at, series) }
  }

  bytes(): number {
    return this.#tables.reduce((sum, table) => sum + (table?.byteLength ?? 0), this.#open.byteLength)
  }

  write(writer: ByteWriter): void {
    for (let level = 0; level < steps.length; level++) this.#writeLevel(writer, level)
  }

  /** Restores what `write` wrote. */
  read(reader: ByteReader): void {
    for (let level = 0; level < steps.length; level++) this.#readLevel(reader, level)
  }

  #addAll(start: number, series: number, min: number, mean: number, max: number, weight: number): void {
    this.#include(series)
    const position = bucketLayout(this.#known).positions[series] ?? 0
    for (let level = 0; level < steps.length; level++) {
      this.#enter(level, Math.floor(start / (steps[level] ?? 1)))
      this.#open.add(level, position, min, mean, max, weight)
    }
  }

  #writeLevel(writer: ByteWriter, level: number): void {
    const open = this.#open.at(level)
    const ended = [...(this.#tables[level]?.buckets() ?? [])].filter((bucket) => bucket !== open)
    const buckets = open === -1 ? ended : [...ended, open]
    writer.uint32(buckets.length)
    for (const bucket of buckets) {
      const values = seriesNames.map((_, series) => this.get(level, bucket, series))
      writer.uint32(bucket)
      writer.uint8(values.reduce((bits, value, series) => (value === undefined ? bits : bits | (1 << series)), 0))
      for (const value of values) {
        if (value === undefined) continue
        writer.float32(value.min)
        writer.float32(value.mean)
        writer.float32(value.max)
      }
    }
    writer.uint32(Math.max(0, open))
    for (const position of bucketLayout(this.#known).positions) {
      writer.float64(position === -1 ? 0 : this.#open.weight(level, position))
    }
  }

  #readLevel(reader: ByteReader, level: number): void {
    for (let remaining = reader.uint32(); remaining > 0; remaining--) this.#readBucket(reader, level)
    const last = reader.uint32()
    if (last > 0) this.#enter(level, last)
    for (const position of bucketLayout(this.#known).positions) {
      const weight = reader.float64()
      if (last > 0 && position !== -1 && weight > 0) this.#open.setWeight(level, position, weight)
    }
  }

  #readBucket(reader: ByteReader, level: number): void {
    const bucket = reader.uint32()
    const bits = reader.uint8()
    for (let series = 0; series < seriesCount; series++) if ((bits & (1 << series)) !== 0) this.#include(series)
    const { positions } = bucketLayout(this.#known)
    const table = this.#tableOf(level)
    const isFree = bucket !== this.#open.at(level) && table.find(bucket) === -1
    const start = isFree ? table.enter(bucket) : -1
    // The values of a bucket that already has some are added to them.
    if (!isFree) this.#enter(level, bucket)
    for (let series = 0; series < seriesCount; series++) {
      if ((bits & (1 << series)) === 0) continue
      const value = { min: reader.float32(), mean: reader.float32(), max: reader.float32() }
      if (isFree) this.#encode(table, start, series, value)
      else this.#open.add(level, positions[series] ?? 0, value.min, value.mean, value.max, steps[level] ?? 1)
    }
  }

  /** Opens a bucket of a level, unless it is open. */
  #enter(level: number, bucket: number): void {
    const before = this.#open.at(level)
    if (bucket === before) return
    if (before !== -1) this.#close(level, before)
    const { positions } = bucketLayout(this.#known)
    // Only after a start and after a clock jump.
    const isStored = (this.#tables[level]?.find(bucket) ?? -1) !== -1
    const stored = isStored ? seriesNames.map((_, series) => this.get(level, bucket, series)) : []
    this.#open.open(level, bucket)
    for (const [series, value] of stored.entries()) {
      // The weight is not stored; a whole bucket is the best guess.
      if (value) this.#open.add(level, positions[series] ?? 0, value.min, value.mean, value.max, steps[level] ?? 1)
    }
  }

  /** Encodes the open bucket of a level into its table. */
  #close(level: number, bucket: number): void {
    const table = this.#tableOf(level)
    const start = table.enter(bucket)
    const { positions } = bucketLayout(this.#known)
    for (let series = 0; series < seriesCount; series++) {
      const position = positions[series] ?? -1
      const value = position === -1 ? undefined : this.#open.get(level, position)
      if (value !== undefined) this.#encode(table, start, series, value)
    }
  }

  #encode({ words }: Slots, start: number, series: number, { min, mean, max }: Bucket): void {
    const at = start + (bucketLayout(this.#known).offsets[series] ?? 0)
    writeMin(words, at, series, min)
    writeMean(words, at, series, mean)
    writeMax(words, at, series, max)
  }

  #tableOf(level: number): Slots {
    const table = this.#tables[level] ?? new Slots(maxSlots[level] ?? 0, bucketLayout(this.#known).empty)
    this.#tables[level] = table
    return table
  }

  /** Makes room for a series that gets its first value. */
  #include(series: number): void {
    const before = this.#known
    if ((before & (1 << series)) !== 0) return
    this.#known = before | (1 << series)
    const width = bucketLayout(before).empty.length
    const { offsets, positions, empty } = bucketLayout(this.#known)
    const skipped = offsets[series] ?? 0
    for (const [level, table] of this.#tables.entries()) {
      this.#tables[level] = table?.converted(empty, (to, target, from) => {
        to.words.set(table.words.subarray(from, from + skipped), target)
        to.words.set(table.words.subarray(from + skipped, from + width), target + skipped + seriesWords(series))
      })
    }
    this.#open.include(positions[series] ?? 0)
  }
}
