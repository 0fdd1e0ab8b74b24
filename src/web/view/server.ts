import { latencyText, softwareText, viewBadge, viewIcon } from './card.ts'
import { cleanName, cleanText } from './clean-text.ts'
import type { ViewContext } from './context.ts'
import { healthOf, tickLight } from './health.ts'
import { viewMotd } from './motd.ts'
import { type Child, h, type ViewElement } from './node.ts'
import { viewPlayers, viewRecent, viewRegulars } from './players.ts'
import { viewRelative } from './relative.ts'
import { snippetsOf } from './snippets.ts'
import type { ServerDetails } from './types.ts'
import { viewDays, viewHours } from './uptime.ts'

const fact = (label: string, ...children: readonly Child[]): ViewElement =>
  h('div', {}, h('dt', {}, label), h('dd', {}, children))

/** Name, state, and current values. */
export function viewServerHead({ server, record }: ServerDetails, context: ViewContext): ViewElement {
  const { texts, format } = context
  const { online, max, tickRate, tickTimeMean, latency } = server.state
  const health = healthOf(server, texts, format)
  const ticks = tickLight(server, texts, format)
  const unknown = texts.table.unknown
  return h(
    'section',
    { class: `panel head ${health.name}` },
    h(
      'header',
      {},
      viewIcon(server, context, 64),
      h(
        'div',
        { class: 'title' },
        h('h1', {}, h('bdi', {}, cleanName(server.name))),
        h('p', { class: 'software' }, softwareText(server) || ' '),
      ),
      viewBadge(health, context),
    ),
    viewMotd(server),
    health.name === 'up' ? undefined : h('p', { class: `reason ${health.name}` }, health.reason),
    h(
      'dl',
      { class: 'facts' },
      fact(
        texts.card.players,
        h('b', {}, online === null ? unknown : format.integer(online)),
        max === null ? '' : ` / ${format.integer(max)}`,
      ),
      fact(texts.table.columns.rate, h('b', {}, tickRate === null ? unknown : format.decimal(tickRate))),
      fact(texts.table.columns.mean, h('b', {}, tickTimeMean === null ? unknown : format.decimal(tickTimeMean))),
      fact(texts.server.latency, h('b', {}, latency === null ? unknown : `${latencyText(latency, format)} ms`)),
      server.address !== null && fact(texts.server.address, h('bdi', {}, cleanText(server.address))),
      fact(
        texts.server.lastContact,
        server.lastContact === null ? texts.server.never : viewRelative(server.lastContact, context),
      ),
      record !== null &&
        fact(
          texts.server.record,
          h('b', {}, format.integer(record.players)),
          ' ',
          h('span', { class: 'when' }, format.dateTime(record.at)),
        ),
    ),
    h('p', { class: `light ${ticks.light}` }, h('span', { class: 'lamp', 'aria-hidden': 'true' }), ticks.reason),
  )
}

/** Uptime, players and sources: the part below the charts that changes while the page is open. */
export function viewServerBody(details: ServerDetails, context: ViewContext): ViewElement {
  const { texts } = context
  const { server, history, sources, hints } = details
  return h(
    'div',
    { class: 'columns' },
    history !== null &&
      h(
        'section',
        { class: 'panel past' },
        viewHours(cleanName(server.name), history, context),
        viewDays(cleanName(server.name), history, context),
      ),
    viewPlayers(details, context),
    viewRecent(details, context),
    viewRegulars(details, context),
    sources !== null &&
      h(
        'section',
        { class: 'panel' },
        h('h2', {}, texts.server.sources),
        h(
          'div',
          { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': texts.server.sources },
          h(
            'table',
            { class: 'sources' },
            h(
              'thead',
              {},
              h(
                'tr',
                {},
                Object.values(texts.server.source).map((name) => h('th', { scope: 'col' }, name)),
              ),
            ),
            h(
              'tbody',
              {},
              sources.map(({ source, state, target, lastError }) =>
                h(
                  'tr',
                  {},
                  h('th', { scope: 'row' }, source),
                  h('td', { class: `source-${state}` }, texts.server.sourceStates[state] ?? state),
                  h('td', {}, h('bdi', {}, target === null ? texts.table.unknown : cleanText(target))),
                  h(
                    'td',
                    {},
                    lastError === null
                      ? texts.table.unknown
                      : [cleanText(lastError.message), ' ', viewRelative(lastError.at, context)],
                  ),
                ),
              ),
            ),
          ),
        ),
      ),
    hints !== null &&
      hints.length > 0 &&
      h(
        'section',
        { class: 'panel' },
        h('h2', {}, texts.server.hints),
        h(
          'ul',
          { class: 'hints' },
          hints.map(({ source, set, gives }) => h('li', {}, h('b', {}, source), ' ', texts.server.hint(set, gives.join(', ')))),
        ),
      ),
  )
}

/** @param base URL of the service, with a trailing slash */
export function viewShare(base: string, details: ServerDetails, { texts }: ViewContext): ViewElement {
  const { server } = texts
  return h(
    'section',
    { class: 'panel share' },
    h('h2', {}, server.share),
    snippetsOf(base, details.server.name, details.metricsListen).map(([kind, text]) =>
      h(
        'div',
        { class: 'snippet' },
        h(
          'div',
          { class: 'line' },
          h('h3', {}, server.snippets[kind]),
          h('span', {}, server.snippetHints[kind]),
          h(
            'button',
            { type: 'button', class: 'copy', hidden: true, 'aria-label': `${server.copy}: ${server.snippets[kind]}` },
            server.copy,
          ),
        ),
        h('pre', { tabindex: 0, role: 'region', 'aria-label': server.snippets[kind] }, h('code', {}, text)),
      ),
    ),
  )
}
