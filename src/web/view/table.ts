import { viewBadge } from './badge.ts'
import { latencyText, softwareText } from './card.ts'
import { cleanName } from './clean-text.ts'
import { serverPath, type ViewContext } from './context.ts'
import { viewDataTable, viewTableRow } from './data-table.ts'
import { healthOf } from './health.ts'
import { h, type ViewElement } from './node.ts'
import type { PageServer } from './types.ts'

/** @param rows one for each server; for readers without JavaScript */
export const viewTable = (rows: readonly ViewElement[], { texts: { table } }: ViewContext): ViewElement =>
  viewDataTable(table.caption, Object.values(table.columns), rows, { caption: table.caption })

export function viewRow(server: PageServer, context: ViewContext): ViewElement {
  const { texts, format, root } = context
  const { online, max, tickRate, tickTimeMean, latency } = server.state
  const health = healthOf(server, context)
  const { unknown } = texts.table
  return viewTableRow([
    h('a', { href: serverPath(root, server.name) }, h('bdi', {}, cleanName(server.name))),
    [viewBadge(health.name, context), health.name === 'up' ? '' : ` ${health.reason}`],
    online === null ? unknown : `${format.integer(online)}${max === null ? '' : ` / ${format.integer(max)}`}`,
    softwareText(server) || unknown,
    tickRate === null ? unknown : format.decimal(tickRate),
    tickTimeMean === null ? unknown : format.decimal(tickTimeMean),
    latency === null ? unknown : `${latencyText(latency, format)} ms`,
  ])
}
