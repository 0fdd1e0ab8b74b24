import type { Bucket } from './bucket-words.ts'
import { levels } from './levels.ts'

/** The values of a series in a bucket: the weight of its mean in milliseconds, the exact sum, the minimum and the maximum. */
const layout = { weight: 0, sum: 1, min: 2, max: 3, size: 4 } as const
/** Number of values of a series. */
const seriesSize = levels.length * layout.size
const noValues: readonly number[] = Array.from({ length: seriesSize }, () => 0)

const index = (level: number, position: number): number => position * seriesSize + level * layout.size

/**
 * The bucket of each level that was last added to, with exact values. They are in one array, because thousands of servers have
 * such buckets (`npm run bench -- fleet`). A series is given by its position among those that have been included.
 */
export class OpenBuckets {
  readonly #numbers: number[] = levels.map(() => -1)
  #values: number[] = []

  get byteLength(): number {
    return this.#values.length * Float64Array.BYTES_PER_ELEMENT
  }

  /** Number of the open bucket of a level; -1 if there is none. */
  at(level: number): number {
    return this.#numbers[level] ?? -1
  }

  /** Replaces the open bucket of a level by one without values. */
  open(level: number, bucket: number): void {
    this.#numbers[level] = bucket
    for (let at = index(level, 0); at < this.#values.length; at += seriesSize) this.#values.fill(0, at, at + layout.size)
  }

  /** Makes room for a series, in front of the one that has its position. */
  include(position: number): void {
    const at = index(0, position)
    this.#values = this.#values.slice(0, at).concat(noValues, this.#values.slice(at))
  }

  /** @param weight milliseconds for which the values were known */
  add(level: number, position: number, min: number, mean: number, max: number, weight: number): void {
    const values = this.#values
    const at = index(level, position)
    const before = values[at] ?? 0
    values[at + layout.weight] = before + weight
    values[at + layout.sum] = (values[at + layout.sum] ?? 0) + mean * weight
    if (before === 0 || min < (values[at + layout.min] ?? 0)) values[at + layout.min] = min
    if (before === 0 || max > (values[at + layout.max] ?? 0)) values[at + layout.max] = max
  }

  /** Undefined if the series has no value in the open bucket. */
  get(level: number, position: number): Bucket | undefined {
    const at = index(level, position)
    const weight = this.weight(level, position)
    if (weight === 0) return undefined
    const sum = this.#values[at + layout.sum] ?? 0
    return { min: this.#values[at + layout.min] ?? 0, mean: sum / weight, max: this.#values[at + layout.max] ?? 0 }
  }

  /** Milliseconds for which the series was known. */
  weight(level: number, position: number): number {
    return this.#values[index(level, position) + layout.weight] ?? 0
  }

  /** Changes the weight of a series without changing its mean. */
  setWeight(level: number, position: number, weight: number): void {
    const mean = this.get(level, position)?.mean
    if (mean === undefined) return
    const at = index(level, position)
    this.#values[at + layout.weight] = weight
    this.#values[at + layout.sum] = mean * weight
  }
}
