import { seriesNames } from './series.ts'

/** The values of one series in a slice. */
interface SliceValues {
  min: number
  mean: number
  max: number
  /** Milliseconds for which they were known. */
  weight: number
}

/** The data of one bucket of the finest level, which is one record of the file. */
export interface Slice {
  /** Unix milliseconds of its start. */
  readonly start: number
  readonly knownMs: number
  readonly upMs: number
  readonly values: readonly (Readonly<SliceValues> | undefined)[]
  /** Unix milliseconds at which the maximum number of players was first reached. */
  readonly peakAt: number
}

/** A slice that is being recorded. It is changed in place: thousands of servers add to theirs at every poll. */
export interface OpenSlice {
  start: number
  knownMs: number
  upMs: number
  values: (SliceValues | undefined)[]
  peakAt: number
}

const players = seriesNames.indexOf('players')

/** @param start Unix milliseconds */
export const openSlice = (start: number): OpenSlice => ({
  start,
  knownMs: 0,
  upMs: 0,
  values: seriesNames.map(() => undefined),
  peakAt: start,
})

/**
 * Adds values that were valid from `start` for `durationMs`.
 * @param values by series; NaN if unknown
 */
export function addToSlice(
  slice: OpenSlice,
  { up, values }: { readonly up: boolean; readonly values: readonly number[] },
  start: number,
  durationMs: number,
  weight: number,
): void {
  slice.knownMs += durationMs
  if (up) slice.upMs += durationMs
  if ((values[players] ?? -1) > (slice.values[players]?.max ?? -1)) slice.peakAt = start
  for (const [index, value] of values.entries()) {
    if (Number.isNaN(value)) continue
    const before = slice.values[index]
    if (before === undefined) slice.values[index] = { min: value, mean: value, max: value, weight }
    else {
      const total = before.weight + weight
      before.min = Math.min(before.min, value)
      before.max = Math.max(before.max, value)
      before.mean = (before.mean * before.weight + value * weight) / total
      before.weight = total
    }
  }
}
