import { groupBy } from '../../util/group-by.ts'
import { cleanName, cleanText } from './clean-text.ts'
import type { ViewContext } from './context.ts'
import { type Health, type HealthName, healthNames, healthOf } from './health.ts'
import type { Texts } from './texts/en.ts'
import type { PageServer } from './types.ts'

export type Filter = HealthName | 'all'
export type Sort = keyof Texts['controls']['sorts']

/** What is shown of the servers, and in which order. */
export interface Choice {
  readonly search: string
  readonly state: Filter
  /** Empty: every group. */
  readonly group: string
  readonly sort: Sort
}

export const defaultChoice: Choice = { search: '', state: 'all', group: '', sort: 'attention' }

/** Servers under one heading. */
export interface Section {
  /** Unique among the sections. */
  readonly key: string
  /** Empty: the only section of servers without groups. */
  readonly title: string
  readonly servers: readonly PageServer[]
  /** True: always rows. */
  readonly isCompact: boolean
  /** Number of servers of the group, and the worst state of these: some may be in the first section, or not match. */
  readonly all: number
  readonly worst: Health
}

const searchable = ({ name, state }: PageServer): string =>
  [name, state.group, state.address, state.version, state.software, state.motd]
    .map((part) => cleanText(part ?? ''))
    .join('\n')
    .toLowerCase()

const attentionKey = 'attention'
const keyOf = (group: string | null): string => (group === null ? 'others' : `group ${group}`)

/** The states that there are, with their number of servers. */
export function countStates(servers: readonly PageServer[], context: ViewContext): ReadonlyMap<Filter, number> {
  const counts = new Map<Filter, number>([['all', servers.length], ...healthNames.map((name) => [name, 0] as const)])
  for (const server of servers) {
    const { name } = healthOf(server, context)
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return counts
}

/** The groups in the order in which they are first used; servers without a group come last. */
export function groupsOf(servers: readonly PageServer[]): readonly (string | null)[] {
  return [...new Set(servers.map(({ state }) => state.group))].sort((a, b) => Number(a === null) - Number(b === null))
}

/**
 * The servers to show, in sections. Sorted by attention, the servers that need it come first, whatever their group: problems of a
 * network are found without looking through its groups.
 */
export function arrange(servers: readonly PageServer[], choice: Choice, context: ViewContext): readonly Section[] {
  const { texts } = context
  const health = (server: PageServer) => healthOf(server, context)
  const words = choice.search.toLowerCase().split(/\s+/).filter(Boolean)
  const shown = servers.filter((server) => {
    if (choice.group !== '' && server.state.group !== choice.group) return false
    if (choice.state !== 'all' && health(server).name !== choice.state) return false
    const text = words.length === 0 ? '' : searchable(server)
    return words.every((word) => text.includes(word))
  })
  const collator = new Intl.Collator(texts.language, { numeric: true, sensitivity: 'base' })
  const orders: Readonly<Record<Sort, (a: PageServer, b: PageServer) => number>> = {
    attention: (a, b) => health(a).rank - health(b).rank,
    order: () => 0,
    name: (a, b) => collator.compare(a.name, b.name),
    players: (a, b) => (b.state.online ?? -1) - (a.state.online ?? -1),
    ticks: (a, b) => (b.state.tickTimeMean ?? -1) - (a.state.tickTimeMean ?? -1),
  }
  const groups = groupsOf(servers)
  const isGrouped = groups.length > 1 || (groups[0] ?? null) !== null
  const lifts = (server: PageServer) => isGrouped && choice.sort === 'attention' && health(server).needsAttention
  const members = groupBy(shown.toSorted(orders[choice.sort]), (server) =>
    lifts(server) ? attentionKey : keyOf(server.state.group),
  )
  const byGroup = groupBy(servers, ({ state }) => state.group)
  const toSection = (key: string, title: string, all: readonly PageServer[] = []): readonly Section[] => {
    const own = members.get(key)
    const [first, ...others] = all.map(health)
    if (own === undefined || first === undefined) return []
    const worst = others.reduce((found, next) => (next.rank < found.rank ? next : found), first)
    return [{ key, title, servers: own, isCompact: key === attentionKey, all: all.length, worst }]
  }
  return [
    ...toSection(attentionKey, texts.summary.attention, members.get(attentionKey)),
    ...groups.flatMap((group) => {
      const title = group === null ? (isGrouped ? texts.controls.noGroup : '') : cleanName(group)
      return toSection(keyOf(group), title, byGroup.get(group))
    }),
  ]
}
