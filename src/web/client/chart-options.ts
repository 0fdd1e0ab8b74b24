import type uPlot from 'uplot'
import { chartSeries } from '../view/charts.ts'
import { unknownText } from '../view/format.ts'
import type { ChartName } from '../view/types.ts'
import { peakOf } from './chart-data.ts'
import { contextNow } from './chrome.ts'

export const chartHeight = 180

/** A colour of the palette in the current theme, for a canvas. */
export function color(name: string): string {
  const probe = document.body.appendChild(document.createElement('i'))
  probe.style.color = `var(${name})`
  // With the colours of the system all lines and areas would have the same one.
  if (!['--line', '--muted', '--text'].includes(name)) probe.style.forcedColorAdjust = 'none'
  const found = getComputedStyle(probe).color
  probe.remove()
  return found
}

/** Steps of an axis of whole numbers: 1, 2, 5, 10 and so on, up to more players than thousands of servers can send. */
const counts = Array.from({ length: 14 }, (_, power) => [1, 2, 5].map((factor) => factor * 10 ** power)).flat()

/**
 * The axes of time and of values.
 * @param isCount whether the values are whole numbers
 * @param minLength characters for which the second one has room; it is as wide as its longest label
 */
export function axesOf(isCount: boolean, minLength: number) {
  const { format } = contextNow()
  const line = { stroke: color('--line'), width: 1 }
  // As large as the other small texts, which follow the font size of the browser. The library reads whole pixels only.
  const fontSize = Math.ceil(0.76 * Number.parseFloat(getComputedStyle(document.documentElement).fontSize))
  const axis = { stroke: color('--muted'), font: `${fontSize}px system-ui, sans-serif`, grid: line, ticks: line }
  return [
    { ...axis, space: 6 * fontSize, size: 17 + fontSize, values: timeLabels },
    {
      ...axis,
      size: (_: uPlot, values: string[] | null) =>
        16 + 0.64 * fontSize * Math.max(minLength, ...(values ?? []).map(({ length }) => length)),
      ...(isCount && { incrs: counts }),
      values: (_: uPlot, values: number[]) =>
        values.map((value) => (Number.isInteger(value) ? format.integer(value) : format.decimal(value))),
    },
  ] as const
}

/** Positions of values without a neighbour. */
function isolatedPoints(plot: uPlot, series: number): number[] {
  const values = plot.data[series] ?? []
  return [...values].flatMap((value, index) =>
    value !== null && (values[index - 1] ?? null) === null && (values[index + 1] ?? null) === null ? [index] : [],
  )
}

/** A value between two gaps is not part of a line. */
export const points = { show: true, size: 4, filter: isolatedPoints }

/** Formats times in the reader's locale: the date at the start of a day and for daily steps. */
function timeLabels(_: uPlot, splits: number[], __: number, ___: number, step: number): string[] {
  const { format } = contextNow()
  return splits.map((at) => {
    const date = new Date(at * 1000)
    const isDay = step >= 86_400 || (date.getHours() === 0 && date.getMinutes() === 0)
    return isDay ? format.day(at * 1000) : format.time(at * 1000)
  })
}

/** A ring on the value that matters. */
function markPeak(chart: ChartName, plot: uPlot): void {
  const { min = 0, max = 0 } = plot.scales.x ?? {}
  const peak = peakOf(chart, plot.data, min, max)
  if (peak === undefined) return
  const [x, y] = [plot.valToPos(peak.at, 'x', true), plot.valToPos(peak.value, 'y', true)]
  plot.ctx.save()
  plot.ctx.lineWidth = 2 * devicePixelRatio
  plot.ctx.strokeStyle = color('--peak')
  plot.ctx.beginPath()
  plot.ctx.arc(x, y, 4 * devicePixelRatio, 0, 2 * Math.PI)
  plot.ctx.stroke()
  plot.ctx.restore()
}

/** A dashed line with its meaning. */
function drawLimit({ ctx, bbox, valToPos }: uPlot, limit: number, font: string): void {
  const { texts, format } = contextNow()
  const y = Math.round(valToPos(limit, 'y', true))
  ctx.save()
  ctx.lineWidth = devicePixelRatio
  ctx.strokeStyle = color('--down')
  ctx.fillStyle = color('--muted')
  ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio])
  ctx.beginPath()
  ctx.moveTo(bbox.left, y)
  ctx.lineTo(bbox.left + bbox.width, y)
  ctx.stroke()
  ctx.font = font.replace(/^\d+/, (size) => String(Number(size) * devicePixelRatio))
  ctx.textAlign = 'left'
  ctx.textBaseline = 'top'
  const text = texts.server.limit(format.milliseconds(limit))
  const fits = ctx.measureText(text).width <= bbox.width - 12 * devicePixelRatio
  ctx.fillText(fits ? text : format.milliseconds(limit), bbox.left + 6 * devicePixelRatio, y + 4 * devicePixelRatio)
  ctx.restore()
}

interface ChartOptions {
  readonly width: number
  /** Value at which a line is drawn; absent if there is none. */
  readonly limit?: number
  /** The time of a value in words; Unix seconds. */
  readonly timeText: (at: number) => string
  /** Called when another period is shown. */
  readonly onZoom: (plot: uPlot) => void
}

/** The options of a chart. */
export function chartOptions(chart: ChartName, { width, limit, timeText, onZoom }: ChartOptions): uPlot.Options {
  const { texts, format } = contextNow()
  const [time, values] = axesOf(chart === 'players', 4)
  const colors = [color('--accent'), color('--accent-2')]
  return {
    width,
    height: chartHeight,
    legend: { show: true, live: true },
    cursor: { sync: { key: 'charts', setSeries: false }, drag: { x: true, y: false }, points: { size: 6 } },
    scales: { y: { range: (_, __, max) => [0, Math.max(1, Math.max(max ?? 0, limit ?? 0) * 1.1)] } },
    axes: [time, values],
    series: [
      { label: texts.server.time, value: (_, at) => (at === null ? unknownText : timeText(at)) },
      ...chartSeries[chart].map((series, index) => ({
        label: texts.server.series[series as keyof typeof texts.server.series],
        stroke: colors[index] ?? time.stroke,
        width: 1.6,
        ...(index === 0 && { fill: color('--accent-soft') }),
        spanGaps: false,
        points,
        value: (_: uPlot, value: number | null) => format.decimal(value),
      })),
    ],
    hooks: {
      draw: [(plot) => markPeak(chart, plot), (plot) => limit !== undefined && drawLimit(plot, limit, time.font)],
      setScale: [(plot, scale) => scale === 'x' && onZoom(plot)],
    },
  }
}
