import { softwareText, viewIcon } from './card.ts'
import { cleanName, cleanText } from './clean-text.ts'
import type { ViewContext } from './context.ts'
import { unknownText } from './format.ts'
import { healthOf, textOfCode, tickLight } from './health.ts'
import { viewIncidents } from './incidents.ts'
import { viewMotd } from './motd.ts'
import { type Child, h, type ViewElement } from './node.ts'
import { viewBadge, viewDataTable, viewRelative } from './parts.ts'
import { viewPlayers, viewRecent, viewRegulars } from './players.ts'
import { snippetsOf } from './snippets.ts'
import type { Texts } from './texts/en.ts'
import type { FoundPlayers, ServerDetails, SourceRow } from './types.ts'
import { viewUptime } from './uptime.ts'

const fact = (label: string, children: Child): ViewElement => h('div', {}, [h('dt', {}, label), h('dd', {}, children)])

/** Name, state, and current values. */
export function viewServerHead({ server, record, join, charts }: ServerDetails, context: ViewContext): ViewElement {
  const { texts, format } = context
  const { online, max, tickRate, tickTimeMean, latency } = server.state
  const health = healthOf(server, context)
  const ticks = tickLight(server, context)
  // Most servers have no source of them.
  const hasTicks = tickRate !== null || tickTimeMean !== null || charts.includes('tickRate') || charts.includes('tickTime')
  return h('section', { class: `panel head ${health.name}` }, [
    h('header', {}, [
      viewIcon(server, context, 64),
      h('div', { class: 'title' }, [
        h('h1', {}, h('bdi', {}, cleanName(server.name))),
        h('p', { class: 'software' }, softwareText(server) || ' '),
      ]),
      viewBadge(health.name, context),
    ]),
    viewMotd(server.state),
    // The reason of a server that lags is beside its ticks.
    health.name !== 'up' && health.name !== 'lagging' && h('p', { class: `reason ${health.name}` }, health.reason),
    h('dl', { class: 'facts' }, [
      fact(texts.card.players, [h('b', {}, format.integer(online)), max === null ? '' : ` / ${format.integer(max)}`]),
      hasTicks && [
        fact(texts.table.columns.rate, h('b', {}, format.decimal(tickRate))),
        fact(texts.table.columns.mean, h('b', {}, format.decimal(tickTimeMean))),
      ],
      fact(texts.table.columns.latency, h('b', {}, latency === null ? unknownText : `${format.latency(latency)} ms`)),
      fact(
        texts.server.lastContact,
        server.lastContact === null ? texts.server.never : viewRelative(server.lastContact, context),
      ),
      record !== null &&
        fact(texts.server.record, [
          h('b', {}, format.integer(record.players)),
          ' ',
          h('span', { class: 'when' }, format.dateTime(record.at)),
        ]),
    ]),
    h('p', { class: `light ${ticks.light}` }, [h('span', { class: 'lamp', 'aria-hidden': 'true' }), ticks.reason]),
    join !== null && viewJoin(server.name, join, context),
  ])
}

/** Its first text changes when it is used. */
const viewCopy = (what: string, { copy }: Texts['server']): ViewElement =>
  h('button', { type: 'button', class: 'copy' }, [copy, h('span', { class: 'hidden' }, `: ${what}`)])

/** What to enter in the game, and for Bedrock a link that adds it to the list of servers. */
function viewJoin(name: string, { address, edition }: NonNullable<ServerDetails['join']>, { texts }: ViewContext): ViewElement {
  const { server } = texts
  const label = cleanName(name).replaceAll('|', ' ')
  return h('div', { class: 'join' }, [
    h('span', {}, server.join),
    h('code', {}, h('bdi', {}, address)),
    viewCopy(server.address, server),
    edition === 'bedrock' &&
      h('a', { class: 'add', href: `minecraft://?addExternalServer=${encodeURIComponent(`${label}|${address}`)}` }, server.add),
  ])
}

/** What changes while the page is open, and what the reader has chosen to see of it. */
export interface ShownParts {
  /** The result of a search for players; null if it failed. */
  readonly found?: FoundPlayers | null | undefined
  /** The names of the tables that are open. */
  readonly open?: ReadonlySet<string>
}

/** Panels side by side. How many there are is said before the first, so that it has its width while the next one loads. */
function viewColumns(panels: readonly (ViewElement | false | undefined)[]): ViewElement {
  const shown = panels.filter((panel) => panel !== undefined && panel !== false)
  return h('div', { class: shown.length === 1 ? 'columns single' : 'columns' }, shown)
}

/** Players and uptime: the part between the head and the charts. */
export const viewServerBody = (details: ServerDetails, context: ViewContext, { found, open }: ShownParts = {}): ViewElement =>
  viewColumns([
    viewPlayers(details, context, found),
    details.history !== null && viewUptime(details, details.history, open ?? new Set(), context),
    viewIncidents(details, context),
  ])

/** Who played: the part below the charts. */
export const viewServerVisits = (details: ServerDetails, context: ViewContext): ViewElement =>
  viewColumns([viewRecent(details, context), viewRegulars(details, context)])

/** The sources, and how to see more: for administrators. Empty if the page hides them. */
export function viewServerSources({ sources, hints }: ServerDetails, context: ViewContext): ViewElement {
  const { texts, format } = context
  const { sources: title, source: columns } = texts.server
  const rows = sources?.map((row) => viewSource(row, context))
  return viewColumns([
    rows &&
      h('section', { class: 'panel' }, [
        h('h3', {}, title),
        viewDataTable(title, Object.values(columns), rows, { style: 'sources' }),
      ]),
    hints !== null &&
      hints.length > 0 &&
      h('section', { class: 'panel' }, [
        h('h3', {}, texts.server.hints),
        h('ul', { class: 'hints' }, [
          hints.map(({ source, set, gives }) =>
            h('li', {}, [h('b', {}, source), ' ', texts.server.hint(format.list(set.split(/, | and /)), format.list(gives))]),
          ),
        ]),
      ]),
  ])
}

function viewSource({ source, state, target, lastError }: SourceRow, context: ViewContext): readonly Child[] {
  const { texts } = context
  const told = (code: string, message: string) => cleanText(texts.server.sourceError(textOfCode(code, texts.reasons), message))
  const error =
    lastError === null ? unknownText : [told(lastError.code, lastError.message), ' ', viewRelative(lastError.at, context)]
  return [
    source,
    h('span', { class: `source-${state}` }, textOfCode(state, texts.server.sourceStates)),
    h('bdi', {}, target === null ? unknownText : cleanText(target)),
    error,
  ]
}

/** @param base URL of the service, with a trailing slash */
export function viewShare(base: string, details: ServerDetails, { texts }: ViewContext): ViewElement {
  const { server } = texts
  return h('section', { class: 'panel share' }, [
    h('h3', {}, server.share),
    snippetsOf(base, details.server.name, details.metricsListen).map(([kind, text]) =>
      h('div', { class: 'snippet' }, [
        h('div', { class: 'line' }, [
          h('h4', {}, server.snippets[kind]),
          h('span', {}, server.snippetHints[kind]),
          viewCopy(server.snippets[kind], server),
        ]),
        h('pre', { tabindex: 0, role: 'region', 'aria-label': server.snippets[kind] }, h('code', {}, text)),
      ]),
    ),
  ])
}
