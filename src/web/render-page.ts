import { mapInSlices } from '../util/pauses.ts'
import type { AssetNames } from './assets.ts'
import { dataText, renderDocument } from './document.ts'
import type { PageHistory } from './page-history.ts'
import { viewCard, viewPast } from './view/card.ts'
import { cleanName } from './view/clean-text.ts'
import type { ViewContext } from './view/context.ts'
import { viewControls, viewHeader, viewNotices } from './view/layout.ts'
import { h, type ViewElement } from './view/node.ts'
import { viewServerBody, viewServerHead, viewShare } from './view/server.ts'
import { pageTitle, totalsOf, viewSummary } from './view/summary.ts'
import { viewRow, viewTable } from './view/table.ts'
import type { FleetPage, PageData, ServerDetails } from './view/types.ts'

/** Number of cards in the HTML itself, for the first paint. */
const firstCards = 12

/** What both pages have around their content. */
const bodyOf = (content: readonly ViewElement[], context: ViewContext): readonly ViewElement[] => [
  viewHeader(context),
  ...viewNotices(context),
  h('div', { id: 'stale', class: 'stale', role: 'alert', hidden: true }),
  // For the scripts of the page.
  h('main', { id: 'main', 'data-private': context.isPublic === false }, content),
  h('div', { id: 'tip', role: 'tooltip', hidden: true }),
]

/** The data of the page of all servers as JSON. */
export async function fleetJson({ servers, ...rest }: FleetPage): Promise<string> {
  const serverTexts = await mapInSlices(servers, dataText)
  return `${dataText(rest).slice(0, -1)},"servers":[${serverTexts.join(',')}]}`
}

/** The HTML of the page of all servers. */
export async function renderFleet(page: FleetPage, assets: AssetNames, past: PageHistory, context: ViewContext): Promise<string> {
  const rows = await mapInSlices(page.servers, (server) => viewRow(server, context))
  const data = await fleetJson(page)
  const totals = totalsOf(page.servers, context)
  const groups = [...new Set(page.servers.flatMap(({ group }) => group ?? []))]
  const cards = page.servers
    .slice(0, firstCards)
    .map((server) =>
      h('div', { role: 'listitem' }, viewCard(server, viewPast(server.name, past.card(server.name), context), context)),
    )
  const body = bodyOf(
    [
      h('h1', { class: 'hidden' }, context.texts.servers),
      h('div', { id: 'summary' }, viewSummary(totals, page.peak, context)),
      viewControls(groups, context),
      h('p', { id: 'empty', class: 'empty', hidden: page.servers.length > 0 }, context.texts.noServers),
      h('div', { id: 'cards' }, h('div', { role: 'list' }, h('div', { class: 'cards', role: 'none' }, cards))),
      h('noscript', {}, h('p', { class: 'note' }, context.texts.connection.noScript), viewTable(rows, context)),
    ],
    context,
  )
  const title = pageTitle(totals, context.title)
  return renderDocument({ title, down: totals.down, body, data, assets, entry: 'page' }, context)
}

/**
 * The HTML of the page of one server.
 * @param base URL of the service, with a trailing slash; without one, scripts of the page add the snippets
 */
export function renderServer(
  details: ServerDetails,
  base: string | undefined,
  assets: AssetNames,
  context: ViewContext,
): Promise<string> {
  const { server } = details
  const totals = totalsOf([server], context)
  const body = bodyOf(
    [
      h('p', { class: 'crumb' }, h('a', { href: context.root || './' }, `← ${context.texts.backToServers}`)),
      h('div', { id: 'head' }, viewServerHead(details, context)),
      h('div', { id: 'charts' }),
      h('div', { id: 'body' }, viewServerBody(details, context)),
      h('div', { id: 'share' }, base === undefined || context.isPublic === false ? [] : viewShare(base, details, context)),
    ],
    context,
  )
  const title = pageTitle(totals, `${cleanName(server.name)} – ${cleanName(context.title)}`)
  const data = dataText({ kind: 'server', at: context.now, details } satisfies PageData)
  return renderDocument({ title, down: totals.down, body, data, assets, entry: 'server' }, context)
}
