import { dayMs, type Level, levels } from './levels.ts'
import type { SeriesName } from './series.ts'

const longRanges: readonly number[] = [30 * dayMs, 90 * dayMs, 365 * dayMs]

/** The finest level that covers the range. */
export const levelOf = (range: number): Level => levels.find(({ span }) => range <= span) ?? levels[3]

const stepOf = (range: number): number => levelOf(range).step

/** Whether a range can be read, in milliseconds: from 1 h to 7 days in whole steps of its level, or one of some longer ones. */
export const isRange = (range: number): boolean =>
  range % stepOf(range) === 0 && ((range >= levels[0].span && range <= levels[2].span) || longRanges.includes(range))

/**
 * The step of a range: a multiple of the stored step that results in at most `points` values. It divides the range evenly, unless
 * that would leave less than a quarter of the values, as for 251 minutes.
 */
export function chooseStep(range: number, points: number): number {
  const stored = stepOf(range)
  const buckets = range / stored
  const max = Math.min(points, buckets)
  for (let count = max; count > max / 4; count--) if (buckets % count === 0) return range / count
  return Math.ceil(buckets / max) * stored
}

export interface SeriesValues {
  readonly min: (number | null)[]
  readonly mean: (number | null)[]
  readonly max: (number | null)[]
}

export interface RangeValues {
  /** Unix milliseconds; `to` is the end of the bucket that `now` is in. Whole steps, at least the range. */
  readonly from: number
  readonly to: number
  /** Milliseconds. */
  readonly step: number
  readonly series: { readonly [K in SeriesName]?: SeriesValues }
}

export interface RangeQuery {
  readonly names: readonly SeriesName[]
  /** Milliseconds. */
  readonly range: number
  /** Maximum number of values of a series. */
  readonly points: number
}
