import type { Bucket } from './bucket-words.ts'
import { seriesNames } from './series.ts'

/** The data of one bucket of the finest level, which is one record of the file. */
export interface Slice {
  /** Unix milliseconds of its start. */
  readonly start: number
  readonly knownMs: number
  readonly upMs: number
  /** For each series its values and the milliseconds for which they were known. */
  readonly values: readonly ((Bucket & { readonly weight: number }) | undefined)[]
  /** Unix milliseconds at which the maximum number of players was first reached. */
  readonly peakAt: number
}

/** Merges two parts of the same bucket. */
export function joinSlices(a: Slice, b: Slice): Slice {
  const players = seriesNames.indexOf('players')
  const isHigher = (b.values[players]?.max ?? -1) > (a.values[players]?.max ?? -1)
  return {
    start: a.start,
    knownMs: a.knownMs + b.knownMs,
    upMs: a.upMs + b.upMs,
    peakAt: isHigher ? b.peakAt : a.peakAt,
    values: seriesNames.map((_, index) => {
      const [before, next] = [a.values[index], b.values[index]]
      if (before === undefined || next === undefined) return before ?? next
      const weight = before.weight + next.weight
      return {
        min: Math.min(before.min, next.min),
        max: Math.max(before.max, next.max),
        mean: (before.mean * before.weight + next.mean * next.weight) / weight,
        weight,
      }
    }),
  }
}
