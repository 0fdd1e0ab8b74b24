import { cleanName, cleanText } from './clean-text.ts'
import { apiPath, serverPath, type ViewContext } from './context.ts'
import { unknownText } from './format.ts'
import { healthOf, tickLight } from './health.ts'
import { viewMotd } from './motd.ts'
import { h, type ViewElement } from './node.ts'
import { viewBadge } from './parts.ts'
import { viewSparkline } from './sparkline.ts'
import type { CardHistory, PageServer } from './types.ts'
import { viewDays, viewHours, viewStrip } from './uptime.ts'

/** The picture is only requested if there is one: browsers report a failed request as an error. */
export function viewIcon({ name, state }: PageServer, { root, isPublic = true }: ViewContext, size = 44): ViewElement {
  if (state.up === true && isPublic)
    return h('img', {
      class: 'icon',
      src: `${apiPath(root, name)}/favicon?size=64`,
      width: size,
      height: size,
      alt: '',
      loading: 'lazy',
    })
  const letter = [...cleanName(name)][0]?.toUpperCase() ?? ''
  return h('span', { class: 'icon letter', 'aria-hidden': 'true' }, letter)
}

/** `Paper 1.21.11`, or the known part of it. */
export function softwareText({ state }: PageServer): string {
  const { software, version } = state
  const name = software === null || software === 'vanilla' ? '' : cleanText(software)
  return `${name} ${cleanText(version ?? '')}`.trim()
}

const value = (text: string, unit: string): ViewElement =>
  h('div', { class: 'value' }, [h('b', {}, text), ' ', h('span', {}, unit)])

/** `3 of 20 players`; undefined if their number is unknown. */
export function playersText(
  { state: { online, max } }: PageServer,
  { texts: { card }, format }: ViewContext,
): string | undefined {
  if (online === null) return undefined
  return max === null ? card.playersOnline(format.count(online)) : card.playersOf(format.integer(online), format.count(max))
}

function viewPlayers(server: PageServer, context: ViewContext): ViewElement {
  const { texts, format } = context
  const { online, max } = server.state
  const share = online !== null && max !== null && max > 0 ? Math.min(1, online / max) : 0
  const label = playersText(server, context) ?? texts.card.players
  return h('div', { class: 'players' }, [
    h('div', { class: 'line' }, [
      h('span', {}, texts.card.players),
      h('span', {}, [h('b', {}, format.integer(online)), max === null ? '' : ` / ${format.integer(max)}`]),
    ]),
    h('svg', { class: 'bar', viewBox: '0 0 100 1', preserveAspectRatio: 'none', role: 'img', 'aria-label': label }, [
      h('rect', { class: 'fill', width: (share * 100).toFixed(1), height: 1 }),
    ]),
  ])
}

function viewTicks(server: PageServer, context: ViewContext): ViewElement {
  const { texts, format } = context
  const { tickRate, tickTimeMean, latency } = server.state
  const { light, reason } = tickLight(server, context)
  return h('div', { class: 'ticks' }, [
    h('div', { class: 'values' }, [
      value(format.decimal(tickRate), texts.card.rate),
      value(format.decimal(tickTimeMean), texts.card.mean),
      value(latency === null ? unknownText : format.latency(latency), texts.card.latency),
    ]),
    h('p', { class: `light ${light}` }, [
      h('span', { class: 'lamp', 'aria-hidden': 'true' }),
      h('span', { title: reason }, reason),
    ]),
  ])
}

/** The head of a card. It also exists while the card is out of view, so that the browser's search finds it. */
export const cardTitle = (server: PageServer, { root }: ViewContext): ViewElement =>
  h('h3', {}, h('a', { href: serverPath(root, server.name) }, h('bdi', {}, cleanName(server.name))))

/** How much is shown of each server. */
export type Density = 'rows' | 'cards'

/** The curve of the players and the bars of the uptime; in a row only the last 24 hours. */
export const viewPast = (server: string, history: CardHistory, context: ViewContext, density: Density = 'cards'): ViewElement => {
  const name = cleanName(server)
  return h('div', { class: 'past' }, [
    viewSparkline(name, history.players, context),
    density === 'rows' ? viewStrip(name, history, context) : viewHours(name, history, context),
    density === 'cards' && viewDays(name, history, context),
  ])
}

/** The card of a server. @param past see `viewPast`; absent until the history is loaded */
export function viewCard(
  server: PageServer,
  past: ViewElement | undefined,
  context: ViewContext,
  density: Density = 'cards',
): ViewElement {
  const health = healthOf(server, context)
  const software = softwareText(server)
  return h('article', { class: `card ${health.name}` }, [
    h('header', {}, [
      viewIcon(server, context),
      h('div', { class: 'title' }, [
        cardTitle(server, context),
        h('p', { class: 'software' }, [
          software || (server.state.address === null ? ' ' : h('bdi', {}, cleanText(server.state.address))),
        ]),
      ]),
      viewBadge(health.name, context),
    ]),
    // On a card, the reason of a server that lags is beside its ticks.
    (health.needsAttention && (density === 'rows' || health.name !== 'lagging')) || server.state.up !== true
      ? h('p', { class: `reason ${health.name}` }, health.reason)
      : (viewMotd(server.state) ?? h('p', { class: 'motd' })),
    viewPlayers(server, context),
    viewTicks(server, context),
    past ?? h('div', { class: 'past', 'aria-busy': 'true' }),
  ])
}
