import uPlot from 'uplot'
import { dayMs } from '../../history/values/levels.ts'
import type { RangeValues } from '../../history/values/range.ts'
import { chartNames, chartSeries, type Range } from '../view/charts.ts'
import { apiPath } from '../view/context.ts'
import { viewDataTable } from '../view/parts.ts'
import type { ChartName } from '../view/types.ts'
import { columns, finerQuery, loadHistory, peakOf, ranges } from './chart-data.ts'
import { chartHeight, chartOptions } from './chart-options.ts'
import { contextNow } from './chrome.ts'
import { create, openTable } from './dom.ts'
import { loadEvery, serviceTime } from './request.ts'

/** Time after which charts are loaded again, ms, unless they are zoomed. */
const reloadAfter = 30_000

/**
 * Draws the charts of a server, and loads their periods.
 * @param place the element of `viewCharts`, as the server has sent it
 * @param first the period at the start
 * @param budget returns the available milliseconds per tick
 */
export function createCharts(place: HTMLElement, name: string, first: Range, budget: () => number): void {
  const { texts, format, root } = contextNow()
  const { server } = texts
  const path = apiPath(root, name)
  let range = first
  let reply: RangeValues | undefined
  /** Start of the finer values, seconds; Infinity: there are none. */
  let finerFrom = Number.POSITIVE_INFINITY
  /** The shown part of the period, seconds; undefined: all of it. */
  let zoom: { readonly min: number; readonly max: number } | undefined
  let plots: { readonly plot: uPlot; readonly chart: ChartName }[] = []
  /** True while the code itself changes the visible period. */
  let isSyncing = false

  const find = (selector: string) => place.querySelector<HTMLElement>(selector)
  const setHidden = (selector: string, isHidden: boolean) => {
    const element = find(selector)
    if (element !== null) element.hidden = isHidden
  }

  function showPeak(chart: ChartName, data: uPlot.AlignedData, min: number, max: number): void {
    const peak = peakOf(chart, data, min, max)
    const text = find(`[data-chart="${chart}"] .peak`)
    if (text === null) return
    const unit = server.units[chart]
    const value = peak === undefined ? '' : valueText(chart, peak.value)
    text.textContent =
      peak === undefined
        ? server.noValues
        : (chart === 'tickRate' ? server.lowest : server.peak)(unit === '' ? value : `${value} ${unit}`, timeText(peak.at))
  }

  /** @param at seconds. The days are those of UTC, as in the bars of the uptime: a value of one has no time of day. */
  const timeText = (at: number) =>
    at >= finerFrom || (reply?.step ?? 0) < dayMs
      ? format.dateTime(at * 1000)
      : format.date(new Date(at * 1000).toISOString().slice(0, 10))

  const valueText = (chart: ChartName, value: number | null) =>
    chart === 'players' ? format.integer(value) : format.decimal(value)

  /** Fills the table of a chart with the shown period, newest first, if it is open. */
  function showTable({ plot, chart }: { readonly plot: uPlot; readonly chart: ChartName }): void {
    const table = openTable(place, chart)
    if (table === null) return
    const [times, ...series] = plot.data
    const { min = 0, max = 0 } = plot.scales.x ?? {}
    const rows = [...times.entries()].flatMap(([index, at]) => {
      const values = series.map((of) => of[index] ?? null)
      if (at < min || at > max || values.every((value) => value === null)) return []
      return [[timeText(at), ...values.map((value) => valueText(chart, value))]]
    })
    const names = chartSeries[chart].map((of) => [server.series[of], server.units[chart]].filter(Boolean).join(', '))
    table.replaceChildren(create(viewDataTable(server.chart[chart], [server.time, ...names], rows.toReversed())))
  }

  /** All charts show the same period. */
  function onZoom(plot: uPlot, chart: ChartName): void {
    const { min, max } = plot.scales.x ?? {}
    if (min === undefined || min === null || max === undefined || max === null) return
    showPeak(chart, plot.data, min, max)
    showTable({ plot, chart })
    // The other charts report the period that they were given later.
    if (isSyncing || reply === undefined || (zoom?.min === min && zoom.max === max)) return
    const isWhole = min <= (reply.from + reply.step / 2) / 1000 && max >= (reply.to - reply.step / 2) / 1000
    zoom = isWhole ? undefined : { min, max }
    setHidden('.reset', isWhole)
    isSyncing = true
    for (const other of plots) if (other.plot !== plot) other.plot.setScale('x', { min, max })
    isSyncing = false
    if (!isWhole) loadFiner()
  }

  /** Shows the zoomed period in finer steps, if they are stored. */
  async function loadFiner(): Promise<void> {
    const [wanted, whole] = [zoom, reply]
    if (wanted === undefined || whole === undefined) return
    const query = finerQuery(wanted.min * 1000, whole.step, serviceTime())
    if (query === undefined) return
    // If this fails, the charts keep their values.
    const finer = await loadHistory(path, query)
    if (finer === undefined || wanted !== zoom || whole !== reply) return
    finerFrom = finer.from / 1000
    isSyncing = true
    for (const { plot, chart } of plots) {
      plot.setData(columns(whole, chart, finer), false)
      plot.setScale('x', wanted)
      showPeak(chart, plot.data, wanted.min, wanted.max)
      showTable({ plot, chart })
    }
    isSyncing = false
  }

  function draw(): void {
    for (const { plot } of plots) plot.destroy()
    plots = []
    if (reply === undefined) return
    finerFrom = Number.POSITIVE_INFINITY
    isSyncing = true
    for (const chart of chartNames) {
      const target = find(`[data-chart="${chart}"] .plot`)
      if (target === null) continue
      const data = columns(reply, chart)
      // What no source of this server tells has no chart.
      const [, ...series] = data
      const isEmpty = series.every((values) => [...values].every((value) => value === null))
      target.closest('figure')?.toggleAttribute('hidden', isEmpty)
      if (isEmpty) continue
      const width = Math.max(200, target.clientWidth)
      const plot = new uPlot(
        chartOptions(chart, {
          ...{ width, timeText, onZoom: (zoomed) => onZoom(zoomed, chart) },
          ...(chart === 'tickTime' && { limit: budget() }),
        }),
        data,
        target,
      )
      plot.root.setAttribute('role', 'img')
      plots.push({ plot, chart })
      showTable({ plot, chart })
      showPeak(chart, data, reply.from / 1000, reply.to / 1000)
      const peak = find(`[data-chart="${chart}"] .peak`)?.textContent ?? ''
      plot.root.setAttribute('aria-label', `${server.chart[chart]}, ${server.ranges[range]}: ${peak}`)
    }
    isSyncing = false
    setHidden('.empty', plots.length > 0)
  }

  /** Shows the whole period. */
  function reset(): void {
    zoom = undefined
    setHidden('.reset', true)
    draw()
  }

  async function load(): Promise<void> {
    const wanted = range
    const loaded = await loadHistory(path, ranges[wanted])
    if (wanted !== range) return
    setHidden('.failed', loaded !== undefined)
    if (loaded === undefined || zoom !== undefined) return
    reply = loaded
    draw()
  }

  // This event does not bubble.
  place.addEventListener('toggle', () => plots.forEach(showTable), true)
  place.addEventListener('click', ({ target }) => {
    const button = (target as Element).closest<HTMLElement>('button')
    if (button === null) return
    if (button.dataset.range === undefined) return reset()
    range = button.dataset.range as Range
    zoom = undefined
    setHidden('.reset', true)
    for (const chip of place.querySelectorAll('[data-range]')) chip.setAttribute('aria-pressed', String(chip === button))
    load()
  })
  new ResizeObserver(() => {
    for (const { plot } of plots) {
      const width = plot.root.parentElement?.clientWidth ?? 0
      if (width > 0 && width !== plot.width) plot.setSize({ width, height: chartHeight })
    }
  }).observe(place)
  addEventListener('themechange', reset)
  loadEvery(reloadAfter, () => zoom === undefined && load())
}
