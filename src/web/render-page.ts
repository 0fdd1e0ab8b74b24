import type { PlayerCounts } from '../history/values/overview.ts'
import { mapInSlices } from '../util/pauses.ts'
import type { AssetNames } from './assets.ts'
import { dataText, type LinkPreview, renderDocument } from './document.ts'
import { arrange, defaultChoice, groupsOf } from './view/arrange.ts'
import { type Density, playersText, softwareText, viewCard, viewPast } from './view/card.ts'
import { viewCharts } from './view/charts.ts'
import { cleanName } from './view/clean-text.ts'
import { serverPath, type ViewContext } from './view/context.ts'
import { unknownText } from './view/format.ts'
import { fewServers, viewGraph } from './view/graph.ts'
import { healthOf } from './view/health.ts'
import { viewControls, viewFooter, viewHeader, viewHeading, viewNotices } from './view/layout.ts'
import { h, type ViewElement } from './view/node.ts'
import { viewBadge, viewDataTable, viewTableRow } from './view/parts.ts'
import { viewServerBody, viewServerHead, viewServerSources, viewServerVisits, viewShare } from './view/server.ts'
import { tabOf, totalsOf, viewSummary } from './view/summary.ts'
import type { CardHistory, FleetPage, PageServer, ServerDetails, ServerPage } from './view/types.ts'
import { unknownWeek, viewWeek } from './view/week.ts'

/** Number of servers in the HTML itself, for the first paint. */
const firstServers: Readonly<Record<Density, number>> = { cards: 12, rows: 24 }

/** What both pages have around their content. */
const bodyOf = (content: readonly ViewElement[], context: ViewContext): readonly ViewElement[] => [
  viewHeader(context),
  ...viewNotices(context),
  h('div', { id: 'stale', class: 'stale', role: 'alert', hidden: true }),
  // For the scripts of the page.
  h('main', { id: 'main', 'data-private': context.isPublic === false }, content),
  ...[viewFooter(context)].filter((footer) => footer !== undefined),
  h('div', { id: 'tip', role: 'tooltip', hidden: true }),
]

/** The data of the page of all servers as JSON. */
export async function fleetJson({ servers, ...rest }: FleetPage): Promise<string> {
  const serverTexts = await mapInSlices(servers, dataText)
  return `${dataText(rest).slice(0, -1)},"servers":[${serverTexts.join(',')}]}`
}

/** What the page of all servers shows of the past. */
export interface FleetPast {
  cards(servers: readonly string[]): Promise<ReadonlyMap<string, CardHistory>>
  readonly graph: PlayerCounts
}

/** The HTML of the page of all servers, in the order in which the scripts show them: nothing moves when these are loaded. */
export async function renderFleet(page: FleetPage, assets: AssetNames, past: FleetPast, context: ViewContext): Promise<string> {
  const { servers } = page
  const { format } = context
  const groups = groupsOf(servers).filter((group) => group !== null)
  const rows = await mapInSlices(servers, (server) => viewRow(server, context))
  const data = await fleetJson(page)
  const totals = totalsOf(servers, context)
  const density = servers.length > fewServers ? 'rows' : 'cards'
  const body = bodyOf(
    [
      h('div', { id: 'summary' }, viewSummary(totals, page.peak, page.at, context)),
      h('div', {}, servers.length > 0 && viewGraph(past.graph, context)),
      viewControls(groups, context, servers),
      h('p', { id: 'empty', class: 'empty', hidden: servers.length > 0 }, context.texts.noServers),
      h('div', { id: 'cards' }, await viewSections(servers, density, past, context)),
      h('noscript', {}, [viewLoaded(page.at, context), viewTable(rows, context)]),
    ],
    context,
  )
  const { summary } = context.texts
  const { integer } = format
  const players = totals.players === null ? '' : `, ${summary.players}: ${integer(totals.players)}`
  const description = `${summary.up}: ${summary.of(integer(totals.up), integer(totals.all))}${players}`
  const preview = { title: cleanName(context.title), description }
  const tab = tabOf(totals, context.title)
  return renderDocument(
    { tab, body, data, assets, entry: 'page', density, canonical: './', preview, feed: 'incidents.atom' },
    context,
  )
}

/** For readers without JavaScript: from when the values are. */
const viewLoaded = (at: number, { texts, format }: ViewContext): ViewElement =>
  h('p', { class: 'note' }, `${texts.connection.noScript} (${format.dateTime(at)} UTC)`)

/** @param rows one for each server; for readers without JavaScript */
const viewTable = (rows: readonly ViewElement[], { texts: { table } }: ViewContext): ViewElement =>
  viewDataTable(table.caption, Object.values(table.columns), rows, { caption: table.caption })

function viewRow(server: PageServer, context: ViewContext): ViewElement {
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

/** The servers on the first screen. */
async function viewSections(
  servers: readonly PageServer[],
  density: Density,
  past: FleetPast,
  context: ViewContext,
): Promise<readonly ViewElement[]> {
  let rest = firstServers[density]
  const sections = arrange(servers, defaultChoice, context).flatMap((section) => {
    const shown = section.servers.slice(0, rest)
    rest -= shown.length
    return shown.length === 0 ? [] : [{ ...section, servers: shown, all: section }]
  })
  const histories = await past.cards(sections.flatMap(({ servers }) => servers.map(({ name }) => name)))
  return sections.map((section) => {
    const own = section.isCompact ? 'rows' : density
    const cards = section.servers.map((server) => {
      const history = histories.get(server.name)
      return h('div', { role: 'listitem' }, [
        viewCard(server, history && viewPast(server.name, history, context, own), context, own),
      ])
    })
    const list = h('div', { role: 'list', class: section.isCompact && 'rows' }, h('div', { class: 'cards', role: 'none' }, cards))
    return section.title === '' ? list : h('details', { open: true }, [viewHeading(section.all, context), list])
  })
}

/** The HTML that says that a server is not watched. */
export function renderMissing(name: string, assets: AssetNames, context: ViewContext): Promise<string> {
  const { missing, backToServers } = context.texts
  const body = bodyOf(
    [
      h('p', { class: 'crumb' }, h('a', { href: context.root || './' }, `← ${backToServers}`)),
      h('section', { class: 'panel' }, [h('h1', {}, missing.title), h('p', {}, h('bdi', {}, missing.text(cleanName(name))))]),
    ],
    context,
  )
  const tab = { title: `${missing.title} – ${cleanName(context.title)}`, icon: 'icon' } as const
  return renderDocument({ tab, body, data: 'null', assets, entry: 'server' }, context)
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
      h('noscript', {}, viewLoaded(context.now, context)),
      h('div', { id: 'head' }, viewServerHead(details, context)),
      h('div', { id: 'body' }, viewServerBody(details, context)),
      h('div', { id: 'charts' }, context.isPublic !== false && viewCharts(details, context)),
      h('div', { id: 'week' }, viewWeek(unknownWeek, context)),
      h('div', { id: 'visits' }, viewServerVisits(details, context)),
      ...(context.isPublic === false ? [] : [viewAdmin(details, base, context)]),
      h('div', { id: 'said', class: 'hidden', role: 'status' }),
    ],
    context,
  )
  const tab = tabOf(totals, `${cleanName(server.name)} – ${cleanName(context.title)}`)
  const data = dataText({ at: context.now, details } satisfies ServerPage)
  const preview = previewOf(server, base, tab.title, context)
  return renderDocument(
    {
      ...{ tab, body, data, assets, entry: 'server', preview },
      ...{ canonical: serverPath(context.root, server.name), feed: `${serverPath(context.root, server.name)}/incidents.atom` },
    },
    context,
  )
}

/** What only administrators need, apart from the rest. */
const viewAdmin = (details: ServerDetails, base: string | undefined, context: ViewContext): ViewElement =>
  h('section', { class: 'admin', 'aria-labelledby': 'admin' }, [
    h('h2', { id: 'admin' }, context.texts.server.admin),
    h('div', { id: 'sources' }, viewServerSources(details, context)),
    h('div', { id: 'share' }, base !== undefined && viewShare(base, details, context)),
  ])

/** A link to a server with its state and, unless the page hides pictures, its banner. */
function previewOf(server: PageServer, base: string | undefined, title: string, context: ViewContext): LinkPreview {
  const { texts, isPublic, brand } = context
  const state = texts.states[healthOf(server, context).name]
  const name = encodeURIComponent(server.name)
  return {
    title,
    description: [state, playersText(server, context), softwareText(server)].filter(Boolean).join(' · '),
    ...(base !== undefined && { url: `${base}servers/${name}` }),
    ...(base !== undefined && isPublic !== false && { image: `${base}api/v1/servers/${name}/banner.png?width=1200` }),
    // Chats show no SVG.
    ...(base !== undefined && isPublic === false && brand?.logo && { image: `${base}page/icon-512.png` }),
  }
}
