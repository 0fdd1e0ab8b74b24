import { levels } from './levels.ts'
import { seriesNames } from './series.ts'

/**
 * A slice is what was recorded in one bucket or a part of it, as numbers at these positions: where it starts and when the maximum
 * number of players was first reached (Unix milliseconds), for how long the state of the server was known and for how long it was
 * up (milliseconds), and from `series` on those of each series.
 */
export const layout = { server: 0, start: 1, knownMs: 2, upMs: 3, peakAt: 4, series: 5 } as const
/** `sum`: of the values times the milliseconds for which they were known. */
export const ofSeries = { knownMs: 0, sum: 1, min: 2, max: 3, size: 4 } as const
/** Numbers of a slice. */
export const sliceSize = layout.series + seriesNames.length * ofSeries.size

/** The times at which slices start that follow one another in an array, Unix milliseconds. */
export function* startsOf(slices: Float64Array): Generator<number> {
  for (let at = layout.start; at < slices.length; at += sliceSize) yield slices[at] ?? 0
}

const finest = levels[0].step
const players = layout.series
/** A slice without values; also the time at which it starts is missing. */
export const emptySlice = new Float64Array(sliceSize)
for (let first: number = layout.series; first < sliceSize; first += ofSeries.size)
  emptySlice.set([0, 0, Infinity, -Infinity], first)

/** Most servers have only the first series, which take half the memory. */
const usualSeries = 2
const usualSlice = emptySlice.slice(0, layout.series + usualSeries * ofSeries.size)

/** Milliseconds that a value counts for that has just been read. */
const instant = 1

/** The values of a server from one snapshot to the next. */
export interface Observation {
  readonly up: boolean
  /** In the order of the series; NaN if unknown. */
  readonly values: readonly number[]
}

/** Slices for which there is room at first: those of a minute, and one before. */
const usualSlices = 7

/**
 * Slices of one server, one after the other in one array, which is used again: otherwise the garbage of thousands of servers would
 * cause pauses.
 */
export class Slices {
  /** Without values. The slices have as many numbers: the others would have no values either. */
  #empty: Float64Array = usualSlice
  #numbers = new Float64Array(usualSlices * usualSlice.length)
  #count = 0

  /** Adds values that were valid from `start`, Unix milliseconds, for `durationMs`, which is 0 for values that have just been read. */
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

  /** Removes all slices and returns them, with the number of the server. */
  take(server: number): Float64Array {
    const size = this.#empty.length
    const taken = new Float64Array(this.#count * sliceSize)
    for (let index = 0; index < this.#count; index++) {
      const at = index * sliceSize
      taken.set(emptySlice, at)
      for (let offset = 0; offset < size; offset++) taken[at + offset] = this.#numbers[index * size + offset] ?? 0
      taken[at + layout.server] = server
    }
    this.#count = 0
    return taken
  }

  /** The whole part is within one bucket. */
  #addPart({ up, values }: Observation, start: number, durationMs: number): void {
    if (this.#empty === usualSlice && values.some((value, series) => series >= usualSeries && !Number.isNaN(value))) this.#widen()
    const at = this.#sliceOf(start)
    const numbers = this.#numbers
    const weight = Math.max(instant, durationMs)
    increase(numbers, at + layout.knownMs, durationMs)
    if (up) increase(numbers, at + layout.upMs, durationMs)
    if ((values[0] ?? -1) > (numbers[at + players + ofSeries.max] ?? 0)) numbers[at + layout.peakAt] = start
    for (let series = 0; series < values.length; series++) {
      const value = values[series] ?? Number.NaN
      if (Number.isNaN(value)) continue
      const first = at + layout.series + series * ofSeries.size
      increase(numbers, first + ofSeries.knownMs, weight)
      increase(numbers, first + ofSeries.sum, value * weight)
      addExtremes(numbers, first, value, value)
    }
  }

  /** Position of the last slice if it is of the bucket of `start`, else of a new one. */
  #sliceOf(start: number): number {
    const size = this.#empty.length
    const last = (this.#count - 1) * size
    if (last >= 0 && Math.floor((this.#numbers[last + layout.start] ?? 0) / finest) === Math.floor(start / finest)) return last
    const at = this.#count++ * size
    if (at + size > this.#numbers.length) {
      const larger = new Float64Array(2 * (at + size))
      larger.set(this.#numbers)
      this.#numbers = larger
    }
    this.#numbers.set(this.#empty, at)
    this.#numbers[at + layout.start] = start
    this.#numbers[at + layout.peakAt] = start
    return at
  }

  /** From now on the slices have all series. */
  #widen(): void {
    const count = this.#count
    const numbers = this.take(0)
    this.#numbers = new Float64Array(Math.max(usualSlices * sliceSize, numbers.length))
    this.#numbers.set(numbers)
    this.#count = count
    this.#empty = emptySlice
  }
}

/** The slices of several arrays, one after the other. */
export function concatSlices(parts: readonly Float64Array[]): Float64Array {
  const all = new Float64Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}

/**
 * Joins consecutive slices of the same server and the same bucket of `step` milliseconds, in place.
 * @returns the part of the array with the joined slices, which start where their bucket does
 */
export function joinSlices(slices: Float64Array, step: number): Float64Array {
  let length = 0
  for (let at = 0; at < slices.length; at += sliceSize) {
    const start = Math.floor((slices[at + layout.start] ?? 0) / step) * step
    const last = length - sliceSize
    if (last >= 0 && slices[last + layout.start] === start && slices[last + layout.server] === slices[at + layout.server]) {
      addSlice(slices, last, at)
    } else {
      slices.copyWithin(length, at, at + sliceSize)
      slices[length + layout.start] = start
      length += sliceSize
    }
  }
  return slices.subarray(0, length)
}

/** Adds the slice at a position to the one at another. */
function addSlice(slices: Float64Array, into: number, at: number): void {
  const number = (offset: number) => slices[at + offset] ?? 0
  increase(slices, into + layout.knownMs, number(layout.knownMs))
  increase(slices, into + layout.upMs, number(layout.upMs))
  if (number(players + ofSeries.max) > (slices[into + players + ofSeries.max] ?? 0))
    slices[into + layout.peakAt] = number(layout.peakAt)
  for (let first: number = layout.series; first < sliceSize; first += ofSeries.size) {
    increase(slices, into + first + ofSeries.knownMs, number(first + ofSeries.knownMs))
    increase(slices, into + first + ofSeries.sum, number(first + ofSeries.sum))
    addExtremes(slices, into + first, number(first + ofSeries.min), number(first + ofSeries.max))
  }
}

function increase(numbers: Float64Array, at: number, by: number): void {
  numbers[at] = (numbers[at] ?? 0) + by
}

/** @param first position of the first number of the series */
function addExtremes(numbers: Float64Array, first: number, min: number, max: number): void {
  numbers[first + ofSeries.min] = Math.min(numbers[first + ofSeries.min] ?? 0, min)
  numbers[first + ofSeries.max] = Math.max(numbers[first + ofSeries.max] ?? 0, max)
}
