import { cleanName } from './clean-text.ts'
import { serverPath, type ViewContext } from './context.ts'
import { type Health, type HealthName, healthNames, healthOf, type VerdictState, verdictStates } from './health.ts'
import type { IconName } from './icons.ts'
import { h, type ViewElement } from './node.ts'
import { viewRelative } from './parts.ts'
import type { FleetPage, PageServer } from './types.ts'

/** Maximum number of servers listed; further ones are counted. */
const maxListed = 4
/** More slots mean "unlimited", such as 2147483647. */
const maxSlots = 1_000_000

const isVerdictState = (name: HealthName): name is VerdictState => (verdictStates as readonly HealthName[]).includes(name)

export function totalsOf(servers: readonly PageServer[], context: ViewContext) {
  let [up, slots] = [0, 0]
  let isLimited = true
  let players: number | null = null
  const counts = new Map<VerdictState, number>()
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
    const health = healthOf(server, context)
    if (isVerdictState(health.name)) counts.set(health.name, (counts.get(health.name) ?? 0) + 1)
    if (health.needsAttention) attention.push({ server, health })
  }
  attention.sort((a, b) => a.health.rank - b.health.rank)
  const down = counts.get('down') ?? 0
  const contacts = attention.slice(0, down).map(({ server }) => server.lastContact)
  const known = contacts.filter((at) => at !== null)
  const downSince = down > 0 && known.length === down ? ([Math.min(...known), Math.max(...known)] as const) : null
  return {
    all: servers.length,
    up,
    /** Servers that are down, for the title and the icon. */
    down,
    /** Null if no server has a known count. */
    players,
    /** 0 if that of a server that is up is unknown or unlimited. */
    slots: isLimited ? slots : 0,
    /** Number of servers in each state that a verdict counts; none has 0. */
    counts,
    /** Unix milliseconds of the last contact of the servers that are down, the earliest and the latest; null if one has none. */
    downSince,
    /** Worst first. */
    attention,
  }
}

export type Totals = ReturnType<typeof totalsOf>

/** The state of all servers in a sentence. A server whose state is unknown is never fine. */
function verdictText({ all, counts, downSince }: Totals, { texts, format, now }: ViewContext): string {
  const { verdict } = texts
  const found = verdictStates.flatMap((state) => {
    const count = counts.get(state) ?? 0
    return count === 0 ? [] : [{ state, count: format.count(count) }]
  })
  const [worst, ...others] = found
  if (worst === undefined) return all === 0 ? verdict.none : verdict.fine(format.count(all))
  const worstState = verdict.state(worst.state, worst.count)
  const rest = others.map(({ state, count }) => verdict.also(count, verdict.state(state, count)))
  if (healthNames.indexOf(worst.state) > healthNames.indexOf('unknown')) {
    const fine = all - [...counts.values()].reduce((sum, count) => sum + count, 0)
    if (fine > 0) return [verdict.some(format.count(fine)), verdict.also(worst.count, worstState), ...rest].join(', ')
  }
  const text = verdict.servers(worst.count, worstState)
  if (downSince === null) return [text, ...rest].join(', ')
  const [first, last] = downSince
  const when = format.near(first, now)
  return [last - first < 60_000 ? verdict.since(text, when) : verdict.firstSince(text, when), ...rest].join(', ')
}

const tile = (name: string, label: string, big: string, small: string): ViewElement =>
  h('div', { class: `tile ${name}` }, [h('dt', {}, label), h('dd', {}, [h('b', {}, big), ' ', h('span', {}, small)])])

/**
 * The top of the page: how all servers are, and what is wrong. Its height does not depend on that, so that nothing below moves.
 * @param at Unix milliseconds of the values
 */
export function viewSummary(totals: Totals, peak: FleetPage['peak'], at: number, context: ViewContext): ViewElement {
  const { texts, format } = context
  const { summary, verdict } = texts
  const { all, up, players, slots, counts, attention } = totals
  const tone = attention[0]?.health.name ?? (counts.has('unknown') || all === 0 ? 'unknown' : 'up')
  return h('section', { class: 'panel summary', 'aria-label': summary.label }, [
    h('div', { class: `verdict ${tone}` }, [
      h('span', { class: 'mark', 'aria-hidden': 'true' }),
      h('div', { role: 'status' }, h('h1', {}, verdictText(totals, context))),
      h('p', { class: 'age' }, [verdict.updated, ' ', viewRelative(at, context)]),
    ]),
    attention.length === 0
      ? h('p', { class: 'attention' }, all === 0 || counts.has('unknown') ? '' : summary.none)
      : h('ul', { class: 'attention', 'aria-label': summary.attentionList }, [
          attention.slice(0, maxListed).map(({ server, health }) => viewAttention(server, health, context)),
          attention.length > maxListed && h('li', { class: 'more' }, summary.more(format.count(attention.length - maxListed))),
        ]),
    h('dl', { class: 'tiles' }, [
      tile('up', summary.up, format.integer(up), `/ ${format.integer(all)}`),
      tile('players', summary.players, format.integer(players), slots > 0 ? summary.slots(format.integer(slots)) : ''),
      tile('peak', summary.peak, format.integer(peak?.players ?? null), peak === null ? '' : summary.at(format.time(peak.at))),
    ]),
  ])
}

const viewAttention = (server: PageServer, { name, reason }: Health, { texts, root }: ViewContext): ViewElement =>
  h('li', { class: name }, [
    h('a', { href: serverPath(root, server.name), title: `${cleanName(server.name)}: ${reason}` }, [
      h('span', { class: 'mark', 'aria-hidden': 'true' }),
      h('b', {}, h('bdi', {}, cleanName(server.name))),
      h('span', { class: 'what' }, texts.states[name]),
      h('span', { class: 'why' }, reason),
    ]),
  ])

/** What the tab of the browser shows, which is all that a reader sees of a page in the background. */
export interface Tab {
  readonly title: string
  readonly icon: IconName
}

/**
 * The title starts with the number of servers that are down, or with `(?)` if that is not known.
 * @param isCurrent false: nothing is known now
 */
export function tabOf({ down, counts }: Pick<Totals, 'down' | 'counts'>, title: string, isCurrent = true): Tab {
  const isUnknown = !isCurrent || (down === 0 && counts.has('unknown'))
  const mark = isUnknown ? '(?) ' : down > 0 ? `(${down}) ` : ''
  const isAlert = isCurrent && (down > 0 || counts.has('hung'))
  return { title: `${mark}${cleanName(title)}`, icon: isAlert ? 'icon-alert' : isUnknown ? 'icon-unknown' : 'icon' }
}
