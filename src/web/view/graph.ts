import type { PlayerCounts } from '../../history/values/overview.ts'
import type { ViewContext } from './context.ts'
import { h, type ViewElement } from './node.ts'
import { viewAsTable } from './parts.ts'
import { viewSparkline } from './sparkline.ts'

/** With more servers the graph has the total and a few, and the servers are rows. */
export const fewServers = 24
/** The servers with most players that have a line each if the servers are many. */
export const largestServers = 10

/** The middle of a step, Unix milliseconds; of the one that is not over, that of its part up to now. */
export function middleOf({ from, step }: PlayerCounts, index: number, now: number): number {
  const start = from + index * step
  return (start + Math.min(start + step, Math.max(start, now))) / 2
}

/** When the most players were on all servers together. */
export function peakText(counts: PlayerCounts, { texts, format, now }: ViewContext): string {
  const { total } = counts
  const peak = Math.max(...total.map((players) => players ?? -1))
  return peak < 0
    ? texts.summary.noPeak
    : texts.graph.peak(format.integer(peak), format.near(middleOf(counts, total.indexOf(peak), now), now))
}

/** The place of the graph of all servers; without JavaScript it has the total. */
export function viewGraph(counts: PlayerCounts, context: ViewContext): ViewElement {
  const { graph, server } = context.texts
  return h('section', { class: 'panel graph', id: 'graph', 'aria-label': graph.title }, [
    h('div', { class: 'line' }, [h('h2', {}, graph.title), h('span', { class: 'readout' }, peakText(counts, context))]),
    h('div', { class: 'plot' }, h('noscript', {}, viewSparkline(graph.all, counts.total, context))),
    h('div', { class: 'lines', role: 'group', 'aria-label': graph.toggles }),
    viewAsTable('graph', graph.title, server),
  ])
}
