import type uPlot from 'uplot'
import { levels } from '../../history/values/levels.ts'
import type { RangeValues } from '../../history/values/range.ts'
import type { SeriesName } from '../../history/values/series.ts'
import { chartSeries, type Range } from '../view/charts.ts'
import type { ChartName } from '../view/types.ts'
import { loadJson } from './request.ts'

/** A history request: a duration up to now, and the maximum number of values of a series. */
export interface HistoryQuery {
  readonly range: string
  readonly points: number
}

export const ranges: Readonly<Record<Range, HistoryQuery>> = {
  '1h': { range: '1h', points: 360 },
  '24h': { range: '24h', points: 288 },
  '7d': { range: '7d', points: 336 },
  '90d': { range: '90d', points: 90 },
  '365d': { range: '365d', points: 365 },
}

/** The maximum that the service sends. */
const maxPoints = 1000
const minute = 60_000

/**
 * The request for the time from `from` in finer steps than `step`; undefined if nothing finer is stored. Times are Unix
 * milliseconds, durations milliseconds.
 */
export function finerQuery(from: number, step: number, now: number): HistoryQuery | undefined {
  // Daily values are the coarsest, and the longest ranges use them already.
  const level = levels.slice(0, -1).find(({ span }) => now - from <= span)
  if (level === undefined) return undefined
  // Whole steps of at least one hour, as the route accepts.
  const buckets = Math.ceil((now - from) / level.step)
  // The number of stored values per sent value, rounded so that the step divides the range.
  const joined = Math.ceil(buckets / maxPoints)
  const range = Math.min(level.span, Math.max(levels[0].span, Math.ceil(buckets / joined) * joined * level.step))
  return joined * level.step < step ? { range: `${Math.round(range / minute)}m`, points: maxPoints } : undefined
}

/** Undefined if the service does not send values. @param path URL of the server's routes */
export const loadHistory = (path: string, { range, points }: HistoryQuery): Promise<RangeValues | undefined> =>
  loadJson(`${path}/history?series=${Object.values(chartSeries).flat().join(',')}&range=${range}&points=${points}`)

/** The middle of each step in seconds. */
const timesOf = ({ from, to, step }: RangeValues): readonly number[] =>
  Array.from({ length: Math.round((to - from) / step) }, (_, index) => (from + (index + 0.5) * step) / 1000)

/** The maximum number of players in each step, because a mean hides the peak. */
const valuesOf = ({ series }: RangeValues, name: SeriesName): readonly (number | null)[] =>
  series[name]?.[name === 'players' ? 'max' : 'mean'] ?? []

/**
 * Values for uPlot: seconds, then each series.
 * @param finer values that replace those of the same time
 */
export function columns(reply: RangeValues, chart: ChartName, finer?: RangeValues): uPlot.AlignedData {
  const parts = [reply, ...(finer === undefined ? [] : [finer])].map((part) => ({ part, times: timesOf(part) }))
  const start = finer === undefined ? Number.POSITIVE_INFINITY : finer.from / 1000
  const isShown = (part: RangeValues, time: number) => part === finer || time < start
  const shown = parts.flatMap(({ part, times }) =>
    times.flatMap((time, index) => (isShown(part, time) ? [{ part, time, index }] : [])),
  )
  const series = chartSeries[chart].map((name) => {
    const values = new Map(parts.map(({ part }) => [part, valuesOf(part, name)]))
    return shown.map(({ part, index }) => values.get(part)?.[index] ?? null)
  })
  return [shown.map(({ time }) => time), ...series] as uPlot.AlignedData
}

/** The visible value that matters: the highest one, of the tick rate the lowest. `at`, `min` and `max` are seconds. */
export function peakOf(chart: ChartName, [times, ...series]: uPlot.AlignedData, min: number, max: number) {
  const sign = chart === 'tickRate' ? -1 : 1
  let peak: { readonly at: number; readonly value: number } | undefined
  for (const [index, at] of times.entries()) {
    if (at < min || at > max) continue
    for (const values of series) {
      const value = values[index]
      if (value !== null && value !== undefined && (peak === undefined || sign * value > sign * peak.value)) peak = { at, value }
    }
  }
  return peak
}
