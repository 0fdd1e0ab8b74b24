import { type Kind, parseDuration } from '../settings/kinds/index.ts'
import { dayMs } from './days.ts'
import { levels } from './levels.ts'
import type { SeriesName } from './series.ts'
import { seriesNames } from './series.ts'
import type { ServerHistory } from './server-history.ts'

const longRanges: readonly number[] = [30 * dayMs, 90 * dayMs, 365 * dayMs]

/** The finest level that covers the range. */
const levelOf = (range: number): number => {
  const found = levels.findIndex(({ span }) => range <= span)
  return found === -1 ? levels.length - 1 : found
}

const stepOf = (range: number): number => levels[levelOf(range)]?.step ?? dayMs

/** Length in milliseconds, a multiple of the stored step. */
export const range: Kind<number> = {
  expected: 'a duration from 1h to 7d in whole minutes, beyond 24h in multiples of 10 minutes, such as 6h; or 30d, 90d or 365d',
  parse(text) {
    const value = parseDuration(text)
    if (value === undefined || value % stepOf(value) !== 0) return undefined
    return (value >= levels[0].span && value <= levels[2].span) || longRanges.includes(value) ? value : undefined
  },
}

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

/** Removes the rounding noise of a 4-byte float. */
const round = (value: number): number => Math.round(value * 1000) / 1000

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

/** The newest values; null where unknown. */
export function readRange(history: ServerHistory, { names, range, points }: RangeQuery, now: number): RangeValues {
  const level = levelOf(range)
  const stored = stepOf(range)
  const step = chooseStep(range, points)
  const to = (Math.floor(now / stored) + 1) * stored
  const from = to - Math.ceil(range / step) * step
  const valuesOf = (index: number): SeriesValues => {
    const values: SeriesValues = { min: [], mean: [], max: [] }
    for (let start = from; start < to; start += step) {
      let [count, sum, min, max] = [0, 0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
      for (let bucket = start / stored; bucket < (start + step) / stored; bucket++) {
        const found = history.get(level, bucket, index)
        if (found === undefined) continue
        count++
        sum += found.mean
        min = Math.min(min, found.min)
        max = Math.max(max, found.max)
      }
      values.min.push(count === 0 ? null : round(min))
      values.mean.push(count === 0 ? null : round(sum / count))
      values.max.push(count === 0 ? null : round(max))
    }
    return values
  }
  return { from, to, step, series: Object.fromEntries(names.map((name) => [name, valuesOf(seriesNames.indexOf(name))])) }
}
