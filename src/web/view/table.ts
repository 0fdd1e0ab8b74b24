import { softwareText } from './card.ts'
import { cleanName } from './clean-text.ts'
import { serverPath, type ViewContext } from './context.ts'
import { unknownText } from './format.ts'
import { healthOf } from './health.ts'
import { h, type ViewElement } from './node.ts'
import { viewBadge, viewDataTable, viewTableRow } from './parts.ts'
import type { PageServer } from './types.ts'

/** @param rows one for each server; for readers without JavaScript */
export const viewTable = (rows: readonly ViewElement[], { texts: { table } }: ViewContext): ViewElement =>
  viewDataTable(table.caption, Object.values(table.columns), rows, { caption: table.caption })

export function viewRow(server: PageServer, context: ViewContext): ViewElement {
  const { format, root } = context
  const { online, max, tickRate, tickTimeMean, latency } = server.state
  const health = healthOf(server, context)
  return viewTableRow([
    h('a', { href: serverPath(root, server.name) }, h('bdi', {}, cleanName(server.name))),
    [viewBadge(health.name, context), health.name === 'up' ? '' : ` ${health.reason}`],
    online === null ? unknownText : `${format.integer(online)}${max === null ? '' : ` / ${format.integer(max)}`}`,
    softwareText(server) || unknownText,
    format.decimal(tickRate),
    format.decimal(tickTimeMean),
    latency === null ? unknownText : `${format.latency(latency)} ms`,
  ])
}
