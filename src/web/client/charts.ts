import uPlot from 'uplot'
import { apiPath } from '../view/context.ts'
import { h } from '../view/node.ts'
import type { english } from '../view/texts.ts'
import { contextNow } from './chrome.ts'
import { create } from './dom.ts'

type SeriesName = keyof typeof english.server.series
type ChartName = keyof typeof english.server.chart
export type Range = keyof typeof english.server.ranges
type Values = readonly (number | null)[]

interface HistoryReply {
  readonly from: number
  readonly to: number
  readonly step: number
  readonly series: Readonly<Partial<Record<SeriesName, { readonly min: Values; readonly mean: Values; readonly max: Values }>>>
}

/** What each chart shows. */
const chartSeries: Readonly<Record<ChartName, readonly SeriesName[]>> = {
  players: ['players'],
  tickTime: ['tickTimeMean', 'tickTimeP99'],
  tickRate: ['tickRate'],
  latency: ['latency'],
}
const charts = Object.keys(chartSeries) as readonly ChartName[]
const ranges: Readonly<Record<Range, number>> = {
  '1h': 3_600_000,
  '24h': 86_400_000,
  '7d': 604_800_000,
  '90d': 7_776_000_000,
  '365d': 31_536_000_000,
}
const rangeNames = Object.keys(ranges) as readonly Range[]
const height = 180
/** Charts are loaded again after this time, ms, while nothing is zoomed. */
const reloadAfter = 30_000
const points: Readonly<Record<Range, number>> = { '1h': 360, '24h': 288, '7d': 336, '90d': 90, '365d': 365 }

const color = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim()

/** Values for uPlot: seconds, then each series; of players the most in each step, because a mean hides the peak. */
function columns(reply: HistoryReply, names: readonly SeriesName[]): uPlot.AlignedData {
  const all = names.map((name) => reply.series[name]?.[name === 'players' ? 'max' : 'mean'] ?? [])
  const length = Math.round((reply.to - reply.from) / reply.step)
  const times = Array.from({ length }, (_, index) => (reply.from + (index + 0.5) * reply.step) / 1000)
  return [times, ...all.map((values) => times.map((_, index) => values[index] ?? null))] as uPlot.AlignedData
}

/** Steps of an axis that counts. */
const counts = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 50_000, 100_000]

/** Positions of values without a neighbour. */
function lonely(plot: uPlot, series: number): number[] {
  const values = plot.data[series] ?? []
  return [...values].flatMap((value, index) =>
    value !== null && (values[index - 1] ?? null) === null && (values[index + 1] ?? null) === null ? [index] : [],
  )
}

/** Times as the reader's locale writes them: the day where one begins or the steps are days. */
function timeLabels(_: uPlot, splits: number[], __: number, ___: number, step: number): string[] {
  const { format } = contextNow()
  return splits.map((at) => {
    const date = new Date(at * 1000)
    const isDay = step >= 86_400 || (date.getHours() === 0 && date.getMinutes() === 0)
    return isDay ? format.day(at * 1000) : format.time(at * 1000)
  })
}

/** The highest value within what is shown. */
function peakOf([times, ...series]: uPlot.AlignedData, min: number, max: number) {
  let peak: { readonly at: number; readonly value: number } | undefined
  for (const [index, at] of times.entries()) {
    if (at < min || at > max) continue
    for (const values of series) {
      const value = values[index]
      if (value !== null && value !== undefined && value > (peak?.value ?? Number.NEGATIVE_INFINITY)) peak = { at, value }
    }
  }
  return peak
}

/** The charts of a server, with their periods. @param first the period at the start */
export function createCharts(place: HTMLElement, name: string, first: Range): void {
  const { texts, format, root } = contextNow()
  const { server } = texts
  let range = first
  let replies: HistoryReply | undefined
  let zoom: { readonly min: number; readonly max: number } | undefined
  let plots: { readonly plot: uPlot; readonly name: ChartName }[] = []

  place.replaceChildren(
    create(
      h(
        'section',
        { class: 'panel charts' },
        h(
          'div',
          { class: 'line' },
          h('h2', {}, server.charts),
          h(
            'div',
            { class: 'chips', role: 'group', 'aria-label': server.range },
            rangeNames.map((name) =>
              h(
                'button',
                { type: 'button', class: 'chip', 'data-range': name, 'aria-pressed': String(name === range) },
                server.ranges[name],
              ),
            ),
            h('button', { type: 'button', class: 'chip reset', hidden: true }, server.reset),
          ),
        ),
        h('p', { class: 'hint' }, server.dragHint),
        h('p', { class: 'none failed', role: 'status', hidden: true }, server.chartFailed),
        h(
          'div',
          { class: 'plots' },
          charts.map((chart) =>
            h(
              'figure',
              { 'data-chart': chart },
              h('figcaption', { class: 'line' }, h('h3', {}, server.chart[chart]), h('span', { class: 'peak' })),
              h('div', { class: 'plot' }),
            ),
          ),
        ),
      ),
    ),
  )
  const find = (selector: string) => place.querySelector<HTMLElement>(selector)

  function showPeak(chart: ChartName, data: uPlot.AlignedData, min: number, max: number): void {
    const peak = peakOf(data, min, max)
    const text = find(`[data-chart="${chart}"] .peak`)
    if (text === null) return
    const unit = server.units[chart]
    const value = peak === undefined ? '' : chart === 'players' ? format.integer(peak.value) : format.decimal(peak.value)
    text.textContent =
      peak === undefined ? server.noData : server.peak(unit === '' ? value : `${value} ${unit}`, format.dateTime(peak.at * 1000))
  }

  /** A ring on the highest value. */
  function markPeak(plot: uPlot): void {
    const { min = 0, max = 0 } = plot.scales.x ?? {}
    const peak = peakOf(plot.data, min, max)
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

  function optionsOf(chart: ChartName, width: number): uPlot.Options {
    const [grid, text] = [color('--line'), color('--muted')]
    const colors = [color('--accent'), color('--accent-2')]
    const font = '11px system-ui, sans-serif'
    const isCount = chart === 'players'
    const axis = { stroke: text, font, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 } }
    return {
      width,
      height,
      legend: { show: true, live: true },
      cursor: { sync: { key: 'charts', setSeries: false }, drag: { x: true, y: false }, points: { size: 6 } },
      scales: { y: { range: (_, __, max) => [0, Math.max(1, (max ?? 0) * 1.1)] } },
      axes: [
        { ...axis, space: 70, values: timeLabels },
        {
          ...axis,
          size: 46,
          ...(isCount && { incrs: counts }),
          values: (_, values) => values.map((value) => format.integer(value)),
        },
      ],
      series: [
        { value: (_, at) => (at === null ? '–' : format.dateTime(at * 1000)) },
        ...chartSeries[chart].map((series, index) => ({
          label: server.series[series],
          stroke: colors[index] ?? text,
          width: 1.6,
          ...(index === 0 && { fill: color('--accent-soft') }),
          spanGaps: false,
          // A value between two gaps has no line.
          points: { show: true, size: 4, filter: lonely },
          value: (_: uPlot, value: number | null) => (value === null ? '–' : format.decimal(value)),
        })),
      ],
      hooks: {
        draw: [markPeak],
        setScale: [(plot, scale) => scale === 'x' && onZoom(plot, chart)],
      },
    }
  }

  /** One period for all charts. */
  let following = false
  function onZoom(plot: uPlot, chart: ChartName): void {
    const { min, max } = plot.scales.x ?? {}
    if (min === undefined || min === null || max === undefined || max === null) return
    showPeak(chart, plot.data, min, max)
    if (following || replies === undefined) return
    const [first, last] = [(replies.from + replies.step / 2) / 1000, (replies.to - replies.step / 2) / 1000]
    const isWhole = min <= first && max >= last
    zoom = isWhole ? undefined : { min, max }
    const reset = find('.reset')
    if (reset !== null) reset.hidden = isWhole
    following = true
    for (const other of plots) if (other.plot !== plot) other.plot.setScale('x', { min, max })
    following = false
  }

  function draw(): void {
    for (const { plot } of plots) plot.destroy()
    plots = []
    if (replies === undefined) return
    following = true
    for (const chart of charts) {
      const target = find(`[data-chart="${chart}"] .plot`)
      if (target === null) continue
      const data = columns(replies, chartSeries[chart])
      const plot = new uPlot(optionsOf(chart, Math.max(200, target.clientWidth)), data, target)
      plot.root.setAttribute('role', 'img')
      plots.push({ plot, name: chart })
      showPeak(chart, data, replies.from / 1000, replies.to / 1000)
      plot.root.setAttribute(
        'aria-label',
        `${server.chart[chart]}, ${server.ranges[range]}: ${find(`[data-chart="${chart}"] .peak`)?.textContent ?? ''}`,
      )
    }
    following = false
  }

  async function load(): Promise<void> {
    const series = Object.values(chartSeries).flat().join(',')
    const asked = range
    const failed = find('.failed')
    try {
      const response = await fetch(`${apiPath(root, name)}/history?series=${series}&range=${asked}&points=${points[asked]}`)
      if (!response.ok) throw new Error(`status ${response.status}`)
      const reply = (await response.json()) as HistoryReply
      if (asked !== range) return
      replies = reply
      if (failed !== null) failed.hidden = true
      draw()
    } catch {
      if (failed !== null) failed.hidden = false
    }
  }

  place.addEventListener('click', ({ target }) => {
    const button = (target as Element).closest<HTMLElement>('button')
    if (button === null) return
    if (button.dataset.range === undefined) {
      zoom = undefined
      button.hidden = true
      draw()
      return
    }
    range = button.dataset.range as Range
    zoom = undefined
    const reset = find('.reset')
    if (reset !== null) reset.hidden = true
    for (const chip of place.querySelectorAll('[data-range]')) chip.setAttribute('aria-pressed', String(chip === button))
    load()
  })
  new ResizeObserver(() => {
    for (const { plot } of plots) {
      const width = plot.root.parentElement?.clientWidth ?? 0
      if (width > 0 && width !== plot.width) plot.setSize({ width, height })
    }
  }).observe(place)
  addEventListener('themechange', draw)
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw)
  setInterval(() => {
    if (zoom === undefined && !document.hidden) load()
  }, reloadAfter)
  load()
}
