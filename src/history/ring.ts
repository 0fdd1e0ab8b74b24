import type { ByteReader, ByteWriter } from './bytes.ts'
import { decode16, encode16, unknown16 } from './decimal16.ts'
import { seriesNames } from './series.ts'
import { Slots } from './slots.ts'

/** The record of one series in one bucket; NaN if it is unknown. */
export interface Bucket {
  readonly min: number
  readonly mean: number
  readonly max: number
}

/** Number of 16-bit words per value: players are exact (a 4-byte float), for the others 4 digits are enough. */
const wordsOf = (series: number): number => (series === 0 ? 2 : 1)
/** Minimum, mean and maximum. */
const places = 3

const float = new Float32Array(1)
const halves = new Uint16Array(float.buffer)

function readValue(words: Uint16Array, at: number, series: number): number {
  if (series > 0) return decode16(words[at] ?? unknown16)
  halves[0] = words[at] ?? 0
  halves[1] = words[at + 1] ?? 0
  return float[0] ?? Number.NaN
}

function writeValue(words: Uint16Array, at: number, series: number, value: number): void {
  if (series > 0) {
    words[at] = encode16(value)
    return
  }
  float[0] = value
  words[at] = halves[0] ?? 0
  words[at + 1] = halves[1] ?? 0
}

/** The words of an empty bucket. @param known bits of the series that a table has */
function emptyWords(known: number): readonly number[] {
  return seriesNames.flatMap((_, series) => {
    if ((known & (1 << series)) === 0) return []
    const words = new Uint16Array(places * wordsOf(series))
    for (let place = 0; place < places; place++) writeValue(words, place * wordsOf(series), series, Number.NaN)
    return [...words]
  })
}

const emptyBySeries = Array.from({ length: 1 << seriesNames.length }, (_, known) => emptyWords(known))

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

/** A class, because thousands of servers have four rings each, and closures for each of them would take kilobytes. */
class SlotRing implements Ring {
  readonly step: number
  readonly slots: number
  #table: Slots
  /** Bits of the series that have words in the table: those with a value in any bucket. */
  #known = 0
  /** The bucket that was last added to, and for each series the weight of its mean in milliseconds and the exact sum. */
  #open = 0
  readonly #weights: number[] = seriesNames.map(() => 0)
  readonly #sums: number[] = seriesNames.map(() => 0)

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
    this.#include(series)
    this.#enter(bucket)
    const before = this.#weights[series] ?? 0
    const total = before + weight
    const sum = (this.#sums[series] ?? 0) + mean * weight
    this.#weights[series] = total
    this.#sums[series] = sum
    const at = this.#find(bucket, series)
    if (at === -1) return
    const { words } = this.#table
    const width = wordsOf(series)
    // Only changed values are encoded, because most of the time of loading a history is spent here.
    if (before === 0 || min < readValue(words, at, series)) writeValue(words, at, series, min)
    writeValue(words, at + width, series, sum / total)
    if (before === 0 || max > readValue(words, at + 2 * width, series)) writeValue(words, at + 2 * width, series, max)
  }

  get(bucket: number, series: number): Bucket | undefined {
    const at = this.#find(bucket, series)
    if (at === -1) return undefined
    const { words } = this.#table
    const width = wordsOf(series)
    const mean = readValue(words, at + width, series)
    if (Number.isNaN(mean)) return undefined
    return { min: readValue(words, at, series), mean, max: readValue(words, at + 2 * width, series) }
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
    for (let remaining = reader.uint32(); remaining > 0; remaining--) {
      const bucket = reader.uint32()
      const bits = reader.uint8()
      const isFree = this.#table.find(bucket) === -1
      if (isFree) this.#table.enter(bucket)
      for (let series = 0; series < seriesNames.length; series++) {
        if ((bits & (1 << series)) === 0) continue
        const values = { min: reader.float32(), mean: reader.float32(), max: reader.float32() }
        this.#include(series)
        if (isFree) this.#put(bucket, series, values)
        else this.add(bucket, series, values, this.step)
      }
    }
    const last = reader.uint32()
    if (last > 0) this.#enter(last)
    for (let series = 0; series < seriesNames.length; series++) {
      const weight = reader.float64()
      const mean = (this.#sums[series] ?? 0) / (this.#weights[series] || 1)
      this.#weights[series] = weight
      this.#sums[series] = mean * weight
    }
  }

  /** Index of the values of a series of a bucket; -1 if there are none. */
  #find(bucket: number, series: number): number {
    if ((this.#known & (1 << series)) === 0) return -1
    let at = this.#table.find(bucket)
    if (at === -1) return -1
    for (let other = 0; other < series; other++) if (this.#known & (1 << other)) at += places * wordsOf(other)
    return at
  }

  #put(bucket: number, series: number, { min, mean, max }: Bucket): void {
    const at = this.#find(bucket, series)
    if (at === -1) return
    const { words } = this.#table
    const width = wordsOf(series)
    writeValue(words, at, series, min)
    writeValue(words, at + width, series, mean)
    writeValue(words, at + 2 * width, series, max)
  }

  #enter(bucket: number): void {
    if (bucket === this.#open) return
    this.#open = bucket
    const isKept = this.#table.find(bucket) !== -1
    this.#table.enter(bucket)
    for (let series = 0; series < seriesNames.length; series++) {
      const mean = isKept ? this.get(bucket, series)?.mean : undefined
      // The weight is not stored; a whole bucket is the best guess.
      this.#weights[series] = mean === undefined ? 0 : this.step
      this.#sums[series] = mean === undefined ? 0 : mean * this.step
    }
  }

  /** Makes room for a series that gets its first value. */
  #include(series: number): void {
    const bit = 1 << series
    if (this.#known & bit) return
    const known = this.#known | bit
    const before = this.#table
    const skipped = seriesNames.reduce(
      (words, _, other) => (other < series && this.#known & (1 << other) ? words + places * wordsOf(other) : words),
      0,
    )
    const width = emptyBySeries[this.#known]?.length ?? 0
    const added = places * wordsOf(series)
    this.#table = before.converted(emptyBySeries[known] ?? [], (table, target, from) => {
      table.words.set(before.words.subarray(from, from + skipped), target)
      table.words.set(before.words.subarray(from + skipped, from + width), target + skipped + added)
    })
    this.#known = known
  }
}
