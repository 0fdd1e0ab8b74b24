import type { SeriesName } from '../../history/values/series.ts'
import type { ViewContext } from './context.ts'
import { h, type ViewElement } from './node.ts'
import { viewAsTable } from './parts.ts'
import type { Texts } from './texts/en.ts'
import type { ChartName, ServerDetails } from './types.ts'

export type Range = keyof Texts['server']['ranges']

/** What each chart shows. */
export const chartSeries: Readonly<Record<ChartName, readonly SeriesName[]>> = {
  players: ['players'],
  tickTime: ['tickTimeMean', 'tickTimeP99'],
  tickRate: ['tickRate'],
  latency: ['latency'],
}
export const chartNames = Object.keys(chartSeries) as readonly ChartName[]

/** The period at the start: one hour if little more is recorded. */
export const firstRange = ({ history }: Pick<ServerDetails, 'history'>): Range =>
  (history?.parts ?? []).filter((part) => part !== null).length > 4 ? '24h' : '1h'

/** The available periods, and a place of the final height for each chart, which the code in the browser draws. */
export function viewCharts(details: ServerDetails, { texts: { server, graph } }: ViewContext): ViewElement {
  const first = firstRange(details)
  return h('section', { class: 'panel charts' }, [
    h('div', { class: 'line' }, [
      h('h2', {}, server.charts),
      h('div', { class: 'chips', role: 'group', 'aria-label': server.range }, [
        Object.entries(server.ranges).map(([name, label]) =>
          h('button', { type: 'button', class: 'chip', 'data-range': name, 'aria-pressed': String(name === first) }, label),
        ),
        h('button', { type: 'button', class: 'chip reset', hidden: true }, server.reset),
      ]),
    ]),
    h('p', { class: 'hint' }, server.dragHint),
    h('p', { class: 'none failed', role: 'status', hidden: true }, graph.failed),
    h('p', { class: 'none empty', hidden: details.charts.length > 0 }, server.noValues),
    h('div', { class: 'plots' }, [
      chartNames.map((chart) =>
        h('figure', { 'data-chart': chart, hidden: !details.charts.includes(chart) }, [
          h('figcaption', { class: 'line' }, [h('h3', {}, server.chart[chart]), h('span', { class: 'peak' })]),
          h('div', { class: 'plot' }),
          viewAsTable(chart, server.chart[chart], server),
        ]),
      ),
    ]),
  ])
}
