import type { LiveState } from '../live/state.ts'
import { groupBy } from '../util/group-by.ts'
import { floorPercent } from '../util/uptime.ts'
import { escapeMarkdown } from './channels/discord.ts'
import { cut } from './notification.ts'

/** What a status message shows of the past and future of a server. Times are Unix milliseconds. */
export interface ServerDetails {
  readonly peakToday: number | null
  /** Of the last 30 days, 0 to 1. */
  readonly uptime: number | null
  /** When a player joined; undefined if unknown. */
  joinedAt(player: string): number | undefined
  readonly nextMaintenance?: { readonly from: number; readonly reason: string } | undefined
}

/** Discord allows ten embeds, with 6,000 characters together. */
const maxEmbeds = 10
const maxCharacters = 5_500
const maxPlayers = 20

/** The worst last. */
const looks = {
  up: { mark: '🟢', colour: 0x1e_8e_3e, word: undefined },
  unknown: { mark: '⚪', colour: 0x80_86_8b, word: 'Unknown' },
  // Has a line of its own.
  maintenance: { mark: '🔵', colour: 0x1a_73_e8, word: undefined },
  hung: { mark: '🟠', colour: 0xf9_ab_00, word: 'Hung' },
  down: { mark: '🔴', colour: 0xd9_30_25, word: 'Down' },
} as const

function lookOf({ up, responsive, maintenance }: LiveState): keyof typeof looks {
  if (maintenance !== null) return 'maintenance'
  if (up === null) return 'unknown'
  return !up ? 'down' : responsive === false ? 'hung' : 'up'
}

/** Shown in the time zone of the reader, and kept up to date by Discord. */
const ago = (at: number): string => `<t:${Math.floor(at / 1_000)}:R>`

const countOf = ({ online, max }: LiveState): string => (online === null ? '' : `${online}${max === null ? '' : ` / ${max}`}`)
const ticksOf = ({ tickRate }: LiveState): string => (tickRate === null ? '' : `${tickRate.toFixed(1)} TPS`)

/** A server in a status message. */
export interface Shown {
  readonly name: string
  readonly group: string | undefined
  readonly state: LiveState
}

function serverEmbed({ name, state }: Shown, details: ServerDetails, maxLength: number) {
  const look = lookOf(state)
  const { peakToday, uptime, nextMaintenance } = details
  const players = (state.players ?? []).slice(0, maxPlayers).map(({ NAME }) => {
    const joined = details.joinedAt(NAME)
    return `• ${escapeMarkdown(cut(NAME, 40))}${joined === undefined ? '' : ` (joined ${ago(joined)})`}`
  })
  const more = (state.players?.length ?? 0) - players.length
  const lines = [
    state.maintenance && `Maintenance until ${ago(state.maintenance.until)} ${escapeMarkdown(state.maintenance.reason)}`,
    looks[look].word,
    countOf(state) && `Players: ${countOf(state)}`,
    peakToday !== null && `Peak today: ${peakToday}`,
    uptime !== null && `Uptime, 30 days: ${floorPercent(uptime).toFixed(2)} %`,
    ticksOf(state) && `Ticks: ${ticksOf(state)}`,
    nextMaintenance && `Next maintenance: ${ago(nextMaintenance.from)} ${escapeMarkdown(nextMaintenance.reason)}`,
    ...players,
    more > 0 && `and ${more} more`,
  ]
  return {
    title: `${looks[look].mark} ${cut(escapeMarkdown(name), 100)}`,
    color: looks[look].colour,
    description: cutLines(
      lines.filter((line): line is string => Boolean(line)),
      maxLength - 110,
    ),
  }
}

/** Leaves out the last lines if they are too long together, and counts them. */
function cutLines(lines: readonly string[], maxLength: number): string {
  const all = lines.join('\n')
  if (all.length <= maxLength) return all
  let [text, count] = ['', 0]
  for (const line of lines) {
    if (text.length + line.length + 20 > maxLength) break
    text += `${line}\n`
    count++
  }
  return `${text}and ${lines.length - count} more`
}

const order = Object.keys(looks)
const severity = ({ state }: Shown): number => order.indexOf(lookOf(state))

function groupEmbed(title: string, servers: readonly Shown[], maxLength: number) {
  const worstFirst = servers.toSorted((a, b) => severity(b) - severity(a))
  const look = lookOf((worstFirst[0] as Shown).state)
  const toLines = (list: readonly Shown[]) =>
    list.map(({ name, state }) =>
      [`${looks[lookOf(state)].mark} ${cut(escapeMarkdown(name), 60)}`, countOf(state), ticksOf(state)]
        .filter(Boolean)
        .join(' · '),
    )
  const all = toLines(servers).join('\n')
  // What has a problem must not be what is left out.
  const description = all.length <= maxLength - 110 ? all : cutLines(toLines(worstFirst), maxLength - 110)
  return { title: cut(escapeMarkdown(title), 100), color: looks[look].colour, description }
}

/**
 * One embed for each server, or for each group if there are groups or too many servers.
 * @returns at most ten, with at most 6,000 characters together
 */
export async function statusEmbeds(servers: readonly Shown[], detailsOf: (server: string) => Promise<ServerDetails>) {
  const hasGroups = servers.length > maxEmbeds || servers.some(({ group }) => group !== undefined)
  if (!hasGroups)
    return await Promise.all(
      servers.map(async (server) =>
        serverEmbed(server, await detailsOf(server.name), Math.min(4_000, maxCharacters / servers.length)),
      ),
    )
  const shown = limitGroups([...groupBy(servers, ({ group }) => group ?? 'Servers')])
  return shown.map(([title, members]) => groupEmbed(title, members, Math.min(4_000, maxCharacters / shown.length)))
}

type Group = readonly [title: string, servers: readonly Shown[]]

/** Joins the last groups if there are too many. */
function limitGroups(groups: readonly Group[]): readonly Group[] {
  if (groups.length <= maxEmbeds) return groups
  const others = groups.slice(maxEmbeds - 1)
  return [...groups.slice(0, maxEmbeds - 1), [`${others.length} more groups`, others.flatMap(([, servers]) => servers)]]
}
