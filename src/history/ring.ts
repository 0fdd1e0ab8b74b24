import {
  type Bucket,
  bucketLayout,
  readMax,
  readMean,
  readMin,
  seriesWords,
  writeMax,
  writeMean,
  writeMin,
} from './bucket-words.ts'
import type { ByteReader, ByteWriter } from './bytes.ts'
import { seriesNames } from './series.ts'
import { Slots } from './slots.ts'

/** The last `slots` buckets of `step` ms, by the number of the bucket since 1970. */
export interface Ring {
  readonly step: number
  readonly slots: number
  /**
   * Adds values for a part of a bucket.
   * @param series position in the list of series
   * @param weight milliseconds for which the value was known
   */
  add(bucket: number, series: number, values: Bucket, weight: number): void
  /** Adds a value as its own minimum, mean and maximum. */
  addValue(bucket: number, series: number, value: number, weight: number): void
  /** Undefined if the bucket is empty. */
  get(bucket: number, series: number): Bucket | undefined
  bytes(): number
  write(writer: ByteWriter): void
  /** Restores what `write` wrote. */
  read(reader: ByteReader): void
}

export const createRing = (step: number, slots: number): Ring => new SlotRing(step, slots)

const seriesCount = seriesNames.length

/** A class, because thousands of servers have four rings each, and closures for each of them would take kilobytes. */
class SlotRing implements Ring {
  readonly step: number
  readonly slots: number
  #table: Slots
  /** Bits of the series that have words in the table: those with a value in any bucket. */
  #known = 0
  /** The bucket that was last added to, and for each series the weight of its mean in milliseconds and the exact sum. */
  #open = 0
  /** Index of its words; -1 if the table does not have it. */
  #openAt = -1
  readonly #weights: number[] = seriesNames.map(() => 0)
  readonly #sums: number[] = seriesNames.map(() => 0)
  /** Bits of the series whose mean in the open bucket has not been written to the table yet. */
  #unwritten = 0

  constructor(step: number, slots: number) {
    this.step = step
    this.slots = slots
    this.#table = new Slots(slots, [])
  }

  add(bucket: number, series: number, { min, mean, max }: Bucket, weight: number): void {
    this.#add(bucket, series, min, mean, max, weight)
  }

  addValue(bucket: number, series: number, value: number, weight: number): void {
    this.#add(bucket, series, value, value, value, weight)
  }

  #add(bucket: number, series: number, min: number, mean: number, max: number, weight: number): void {
    if ((this.#known & (1 << series)) === 0) this.#include(series)
    if (bucket !== this.#open || this.#openAt === -1) this.#enter(bucket)
    const before = this.#weights[series] ?? 0
    this.#weights[series] = before + weight
    this.#sums[series] = (this.#sums[series] ?? 0) + mean * weight
    this.#unwritten |= 1 << series
    const { words } = this.#table
    const at = this.#openAt + (bucketLayout(this.#known).offsets[series] ?? 0)
    // Loading a history adds millions of values: only changed ones are encoded, and a mean once for each bucket.
    if (before === 0 || min < readMin(words, at, series)) writeMin(words, at, series, min)
    if (before === 0 || max > readMax(words, at, series)) writeMax(words, at, series, max)
  }

  get(bucket: number, series: number): Bucket | undefined {
    if (bucket === this.#open) this.#writeMeans()
    const found = this.#table.find(bucket)
    const offset = bucketLayout(this.#known).offsets[series] ?? -1
    if (found === -1 || offset === -1) return undefined
    const { words } = this.#table
    const mean = readMean(words, found + offset, series)
    if (Number.isNaN(mean)) return undefined
    return { min: readMin(words, found + offset, series), mean, max: readMax(words, found + offset, series) }
  }

  bytes(): number {
    return this.#table.byteLength
  }

  write(writer: ByteWriter): void {
    const filled = [...this.#table.buckets()]
    writer.uint32(filled.length)
    for (const bucket of filled) {
      const values = seriesNames.map((_, series) => this.get(bucket, series))
      writer.uint32(bucket)
      writer.uint8(values.reduce((bits, value, series) => (value === undefined ? bits : bits | (1 << series)), 0))
      for (const value of values) {
        if (value === undefined) continue
        writer.float32(value.min)
        writer.float32(value.mean)
        writer.float32(value.max)
      }
    }
    writer.uint32(this.#open)
    for (const weight of this.#weights) writer.float64(weight)
  }

  read(reader: ByteReader): void {
    for (let remaining = reader.uint32(); remaining > 0; remaining--) this.#readBucket(reader)
    const last = reader.uint32()
    if (last > 0) this.#enter(last)
    this.#writeMeans()
    for (let series = 0; series < seriesCount; series++) {
      const weight = reader.float64()
      const mean = (this.#sums[series] ?? 0) / (this.#weights[series] || 1)
      this.#weights[series] = weight
      this.#sums[series] = mean * weight
    }
  }

  #readBucket(reader: ByteReader): void {
    const bucket = reader.uint32()
    const bits = reader.uint8()
    for (let series = 0; series < seriesCount; series++) if ((bits & ~this.#known & (1 << series)) !== 0) this.#include(series)
    // The values of a bucket that already has some are added to them.
    this.#writeMeans()
    const isFree = this.#table.find(bucket) === -1
    const start = isFree ? this.#table.enter(bucket) : -1
    // The table may have moved it.
    this.#openAt = this.#table.find(this.#open)
    const { words } = this.#table
    const { offsets } = bucketLayout(this.#known)
    for (let series = 0; series < seriesCount; series++) {
      if ((bits & (1 << series)) === 0) continue
      const [min, mean, max] = [reader.float32(), reader.float32(), reader.float32()]
      if (isFree) {
        const at = start + (offsets[series] ?? 0)
        writeMin(words, at, series, min)
        writeMean(words, at, series, mean)
        writeMax(words, at, series, max)
      } else this.add(bucket, series, { min, mean, max }, this.step)
    }
  }

  #enter(bucket: number): void {
    if (bucket === this.#open && this.#openAt !== -1) return
    this.#writeMeans()
    const isKept = this.#table.find(bucket) !== -1
    this.#open = bucket
    this.#openAt = this.#table.enter(bucket)
    for (let series = 0; series < seriesCount; series++) {
      const mean = isKept ? this.get(bucket, series)?.mean : undefined
      // The weight is not stored; a whole bucket is the best guess.
      this.#weights[series] = mean === undefined ? 0 : this.step
      this.#sums[series] = mean === undefined ? 0 : mean * this.step
    }
  }

  #writeMeans(): void {
    if (this.#unwritten === 0) return
    const { offsets } = bucketLayout(this.#known)
    for (let series = 0; series < seriesCount; series++) {
      if ((this.#unwritten & (1 << series)) === 0) continue
      const mean = (this.#sums[series] ?? 0) / (this.#weights[series] || 1)
      writeMean(this.#table.words, this.#openAt + (offsets[series] ?? 0), series, mean)
    }
    this.#unwritten = 0
  }

  /** Makes room for a series that gets its first value. */
  #include(series: number): void {
    this.#writeMeans()
    const [before, after] = [this.#known, this.#known | (1 << series)]
    const { words } = this.#table
    const width = bucketLayout(before).empty.length
    const { offsets, empty } = bucketLayout(after)
    const skipped = offsets[series] ?? 0
    this.#table = this.#table.converted(empty, (table, target, from) => {
      table.words.set(words.subarray(from, from + skipped), target)
      table.words.set(words.subarray(from + skipped, from + width), target + skipped + seriesWords(series))
    })
    this.#known = after
    this.#openAt = this.#table.find(this.#open)
  }
}
