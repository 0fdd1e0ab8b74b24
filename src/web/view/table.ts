import { viewBadge } from './badge.ts'
import { latencyText, softwareText } from './card.ts'
import { cleanName } from './clean-text.ts'
import { serverPath, type ViewContext } from './context.ts'
import { healthOf } from './health.ts'
import { h, type ViewElement } from './node.ts'
import type { PageServer } from './types.ts'

/** @param rows one for each server; for readers without JavaScript */
export function viewTable(rows: readonly ViewElement[], context: ViewContext): ViewElement {
  const { table } = context.texts
  return h(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': table.caption },
    h(
      'table',
      {},
      h('caption', {}, table.caption),
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          Object.values(table.columns).map((name) => h('th', { scope: 'col' }, name)),
        ),
      ),
      h('tbody', {}, rows),
    ),
  )
}

export function viewRow(server: PageServer, context: ViewContext): ViewElement {
  const { texts, format, root } = context
  const { online, max, tickRate, tickTimeMean, latency } = server.state
  const health = healthOf(server, context)
  const { unknown } = texts.table
  const number = (value: number | null, show: (value: number) => string) => h('td', {}, value === null ? unknown : show(value))
  return h(
    'tr',
    {},
    h('th', { scope: 'row' }, h('a', { href: serverPath(root, server.name) }, h('bdi', {}, cleanName(server.name)))),
    h('td', {}, viewBadge(health.name, context), health.name === 'up' ? '' : ` ${health.reason}`),
    h('td', {}, online === null ? unknown : `${format.integer(online)}${max === null ? '' : ` / ${format.integer(max)}`}`),
    h('td', {}, softwareText(server) || unknown),
    number(tickRate, format.decimal),
    number(tickTimeMean, format.decimal),
    number(latency, (ms) => `${latencyText(ms, format)} ms`),
  )
}
