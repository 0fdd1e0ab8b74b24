import { decode16, encode16, unknown16 } from './decimal16.ts'
import { seriesNames } from './series.ts'

/** The record of one series in one bucket; NaN if it is unknown. */
export interface Bucket {
  readonly min: number
  readonly mean: number
  readonly max: number
}

/** How the buckets of a table that has only some series are stored, in 16-bit words: for each series minimum, mean and maximum. */
export interface BucketLayout {
  /** For each series the index of its first word; -1 if the table does not have it. */
  readonly offsets: readonly number[]
  /** For each series its position among those that the table has; -1 if the table does not have it. */
  readonly positions: readonly number[]
  /** The words of a bucket without values. */
  readonly empty: readonly number[]
}

/** Number of 16-bit words per value: players are exact (a 4-byte float), for the others 4 digits are enough. */
const wordsOf = (series: number): number => (series === 0 ? 2 : 1)

/** Number of words of a series. */
export const seriesWords = (series: number): number => 3 * wordsOf(series)

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

/** @param at index of the first word of the series; also for the functions below */
export const readMin = readValue
export const readMean = (words: Uint16Array, at: number, series: number): number => readValue(words, at + wordsOf(series), series)
export const readMax = (words: Uint16Array, at: number, series: number): number =>
  readValue(words, at + 2 * wordsOf(series), series)
export const writeMin = writeValue
export function writeMean(words: Uint16Array, at: number, series: number, value: number): void {
  writeValue(words, at + wordsOf(series), series, value)
}
export function writeMax(words: Uint16Array, at: number, series: number, value: number): void {
  writeValue(words, at + 2 * wordsOf(series), series, value)
}

const roundValue = (series: number, value: number): number => (series > 0 ? decode16(encode16(value)) : Math.fround(value))

/** The values as they are read after they have been written. */
export const roundBucket = (series: number, { min, mean, max }: Bucket): Bucket => ({
  min: roundValue(series, min),
  mean: roundValue(series, mean),
  max: roundValue(series, max),
})

function layoutOf(known: number): BucketLayout {
  const [offsets, positions, empty]: [number[], number[], number[]] = [[], [], []]
  for (const series of seriesNames.keys()) {
    const isKnown = (known & (1 << series)) !== 0
    offsets.push(isKnown ? empty.length : -1)
    positions.push(isKnown ? Math.max(-1, ...positions) + 1 : -1)
    if (!isKnown) continue
    const words = new Uint16Array(seriesWords(series))
    for (const write of [writeMin, writeMean, writeMax]) write(words, 0, series, Number.NaN)
    empty.push(...words)
  }
  return { offsets, positions, empty }
}

const layouts = Array.from({ length: 1 << seriesNames.length }, (_, known) => layoutOf(known))
const none = layoutOf(0)

/** @param known bits of the series that the table has */
export const bucketLayout = (known: number): BucketLayout => layouts[known] ?? none
