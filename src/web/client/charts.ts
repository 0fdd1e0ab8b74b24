import uPlot from 'uplot'
import { apiPath } from '../view/context.ts'
import { h, type ViewElement } from '../view/node.ts'
import type { Texts } from '../view/texts.ts'
import {
  type ChartName,
  charts,
  columns,
  finerQuery,
  type HistoryReply,
  loadHistory,
  peakOf,
  type Range,
  rangeNames,
  ranges,
} from './chart-data.ts'
import { chartHeight, chartOptions } from './chart-options.ts'
import { contextNow } from './chrome.ts'
import { create } from './dom.ts'

/** Time after which charts are loaded again, ms, unless they are zoomed. */
const reloadAfter = 30_000

/** The available periods, and an element for each chart. */
const viewCharts = ({ server }: Texts, first: Range): ViewElement =>
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
            { type: 'button', class: 'chip', 'data-range': name, 'aria-pressed': String(name === first) },
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
  )

/** The charts of a server, with their periods. @param first the period at the start */
export function createCharts(place: HTMLElement, name: string, first: Range): void {
  const { texts, format, root } = contextNow()
  const { server } = texts
  const path = apiPath(root, name)
  let range = first
  let reply: HistoryReply | undefined
  /** The shown part of the period, seconds; undefined: all of it. */
  let zoom: { readonly min: number; readonly max: number } | undefined
  let plots: { readonly plot: uPlot; readonly chart: ChartName }[] = []
  /** True while the code itself changes the visible period. */
  let isSyncing = false

  place.replaceChildren(create(viewCharts(texts, first)))
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
    const value = peak === undefined ? '' : chart === 'players' ? format.integer(peak.value) : format.decimal(peak.value)
    text.textContent =
      peak === undefined
        ? server.noData
        : (chart === 'tickRate' ? server.lowest : server.peak)(
            unit === '' ? value : `${value} ${unit}`,
            format.dateTime(peak.at * 1000),
          )
  }

  /** All charts show the same period. */
  function onZoom(plot: uPlot, chart: ChartName): void {
    const { min, max } = plot.scales.x ?? {}
    if (min === undefined || min === null || max === undefined || max === null) return
    showPeak(chart, plot.data, min, max)
    if (isSyncing || reply === undefined) return
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
    const query = finerQuery(wanted.min * 1000, whole.step, Date.now())
    if (query === undefined) return
    // If this fails, the charts keep their values.
    const finer = await loadHistory(path, query).catch(() => undefined)
    if (finer === undefined || wanted !== zoom || whole !== reply) return
    isSyncing = true
    for (const { plot, chart } of plots) {
      plot.setData(columns(whole, chart, finer), false)
      plot.setScale('x', wanted)
    }
    isSyncing = false
  }

  function draw(): void {
    for (const { plot } of plots) plot.destroy()
    plots = []
    if (reply === undefined) return
    isSyncing = true
    for (const chart of charts) {
      const target = find(`[data-chart="${chart}"] .plot`)
      if (target === null) continue
      const data = columns(reply, chart)
      // What no source of this server tells has no chart.
      const [, ...series] = data
      const isEmpty = chart !== 'players' && series.every((values) => [...values].every((value) => value === null))
      target.closest('figure')?.toggleAttribute('hidden', isEmpty)
      if (isEmpty) continue
      const width = Math.max(200, target.clientWidth)
      const plot = new uPlot(
        chartOptions(chart, width, (zoomed) => onZoom(zoomed, chart)),
        data,
        target,
      )
      plot.root.setAttribute('role', 'img')
      plots.push({ plot, chart })
      showPeak(chart, data, reply.from / 1000, reply.to / 1000)
      const peak = find(`[data-chart="${chart}"] .peak`)?.textContent ?? ''
      plot.root.setAttribute('aria-label', `${server.chart[chart]}, ${server.ranges[range]}: ${peak}`)
    }
    isSyncing = false
  }

  /** Shows the whole period. */
  function reset(): void {
    zoom = undefined
    setHidden('.reset', true)
    draw()
  }

  async function load(): Promise<void> {
    const wanted = range
    const loaded = await loadHistory(path, ranges[wanted]).catch(() => undefined)
    if (wanted !== range) return
    setHidden('.failed', loaded !== undefined)
    if (loaded === undefined || zoom !== undefined) return
    reply = loaded
    draw()
  }

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
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', reset)
  setInterval(() => {
    if (zoom === undefined && !document.hidden) load()
  }, reloadAfter)
  load()
}
