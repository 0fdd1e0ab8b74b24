import { cleanName } from './clean-text.ts'
import { serverPath, type ViewContext } from './context.ts'
import { type Health, healthOf } from './health.ts'
import { h, type ViewElement } from './node.ts'
import type { FleetPage, PageServer } from './types.ts'

/** Maximum number of servers listed; further ones are counted. */
const maxListed = 12
/** More slots mean "unlimited", such as 2147483647. */
const maxSlots = 1_000_000

export interface Totals {
  readonly all: number
  readonly up: number
  /** Servers that are down, for the title and the icon. */
  readonly down: number
  /** Null if no server has a known count. */
  readonly players: number | null
  /** Servers whose state is unknown. */
  readonly unknown: number
  /** 0 if that of a server that is up is unknown or unlimited. */
  readonly slots: number
  /** Worst first. */
  readonly attention: readonly { readonly server: PageServer; readonly health: Health }[]
}

export function totalsOf(servers: readonly PageServer[], { texts, format }: ViewContext): Totals {
  let [up, down, unknown, slots] = [0, 0, 0, 0]
  let isLimited = true
  let players: number | null = null
  const attention: { readonly server: PageServer; readonly health: Health }[] = []
  // A single pass, because this runs for every change of one of a thousand servers.
  for (const server of servers) {
    const { state } = server
    if (state.up === true) {
      up++
      if (state.max !== null && state.max <= maxSlots) slots += state.max
      else isLimited = false
      if (state.online !== null) players = (players ?? 0) + state.online
    }
    const health = healthOf(server, texts, format)
    if (health.name === 'down') down++
    if (health.name === 'unknown') unknown++
    if (health.needsAttention) attention.push({ server, health })
  }
  attention.sort((a, b) => a.health.rank - b.health.rank)
  return { all: servers.length, up, down, players, unknown, slots: isLimited ? slots : 0, attention }
}

const tile = (name: string, label: string, big: string, small: string): ViewElement =>
  h('div', { class: `tile ${name}` }, h('dt', {}, label), h('dd', {}, h('b', {}, big), ' ', h('span', {}, small)))

/** The top of the page. */
export function viewSummary(totals: Totals, peak: FleetPage['peak'], context: ViewContext): ViewElement {
  const { texts, format } = context
  const { summary } = texts
  const { all, up, players, unknown, slots, attention } = totals
  const isWell = all > 0 && unknown === 0
  const tone = totals.down > 0 ? 'down' : attention.length > 0 ? 'lagging' : isWell ? 'up' : 'plain'
  const others = unknown > 0 ? summary.unknown(format.integer(unknown)) : isWell && attention.length === 0 ? summary.none : ''
  return h(
    'section',
    { class: 'summary', 'aria-label': summary.label },
    h(
      'dl',
      { class: 'tiles' },
      tile(
        totals.down > 0 ? 'down' : all > 0 && up === all ? 'up' : 'plain',
        summary.up,
        format.integer(up),
        `/ ${format.integer(all)}`,
      ),
      tile(
        'plain',
        summary.players,
        players === null ? '–' : format.integer(players),
        slots > 0 ? summary.slots(format.integer(slots)) : '',
      ),
      tile(
        'plain',
        summary.peak,
        peak === null ? '–' : format.integer(peak.players),
        peak === null ? summary.noPeak : summary.at(format.time(peak.at)),
      ),
      tile(tone, summary.attention, format.integer(attention.length), others),
    ),
    attention.length > 0 &&
      h(
        'ul',
        { class: 'attention', 'aria-label': summary.attentionList },
        attention.slice(0, maxListed).map(({ server, health }) => viewAttention(server, health, context)),
        attention.length > maxListed && h('li', { class: 'more' }, summary.more(format.integer(attention.length - maxListed))),
      ),
  )
}

const viewAttention = (server: PageServer, { name, reason }: Health, { texts, root }: ViewContext): ViewElement =>
  h(
    'li',
    { class: name },
    h(
      'a',
      { href: serverPath(root, server.name) },
      h('span', { class: 'mark', 'aria-hidden': 'true' }),
      h('b', {}, h('bdi', {}, cleanName(server.name))),
      h('span', { class: 'what' }, texts.states[name]),
      h('span', { class: 'why' }, reason),
    ),
  )

/** The title of the browser tab, starting with the number of servers that are down. */
export const pageTitle = ({ down }: Totals, title: string): string => `${down > 0 ? `(${down}) ` : ''}${cleanName(title)}`
