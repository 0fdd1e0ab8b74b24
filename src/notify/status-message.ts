import type { Fleet } from '../game/fleet.ts'
import { type LiveState, stateOf } from '../live/state.ts'
import { backoffMs } from '../util/backoff.ts'
import type { Clock } from '../util/clock.ts'
import { parseJson } from '../util/json.ts'
import type { Log } from '../util/log.ts'
import type { MaintenanceOf } from '../util/part-metrics.ts'
import { type ChannelContext, cut, type DeliveryError, jsonHeaders } from './channels/channel.ts'
import { escapeMarkdown } from './channels/discord.ts'
import type { Outbox } from './outbox.ts'
import type { ChannelSettings } from './settings.ts'

/** What a status message shows of the past and future of a server. Times are Unix milliseconds. */
export interface ServerDetails {
  readonly peakToday: number | null
  /** Of the last 30 days, 0 to 1. */
  readonly uptime: number | null
  /** When a player joined; undefined if unknown. */
  joinedAt(player: string): number | undefined
  readonly nextMaintenance?: { readonly from: number; readonly reason: string } | undefined
}

export interface StatusMessageOptions {
  readonly settings: Pick<ChannelSettings, 'name' | 'values'>
  readonly isAbout: (server: string, group: string | undefined) => boolean
  readonly outbox: Outbox
  readonly context: ChannelContext
  readonly fleet: Fleet
  readonly maintenanceOf: MaintenanceOf
  readonly detailsOf: (server: string) => Promise<ServerDetails>
  readonly clock: Clock
  readonly log: Log
}

const minEditMs = 15_000
/** Time in which the servers that are polled at once are collected, milliseconds. */
const collectMs = 1_000
/** Discord allows ten embeds, with 6,000 characters together. */
const maxEmbeds = 10
const maxCharacters = 5_500
const maxPlayers = 20

const looks = {
  up: { mark: '🟢', colour: 0x1e_8e_3e },
  unknown: { mark: '⚪', colour: 0x80_86_8b },
  maintenance: { mark: '🔵', colour: 0x1a_73_e8 },
  hung: { mark: '🟠', colour: 0xf9_ab_00 },
  down: { mark: '🔴', colour: 0xd9_30_25 },
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

interface Shown {
  readonly name: string
  readonly group: string | undefined
  readonly state: LiveState
}

function serverEmbed({ name, state }: Shown, details: ServerDetails, maxLength: number) {
  const look = lookOf(state)
  const { peakToday, uptime, nextMaintenance } = details
  const players = (state.players ?? []).slice(0, maxPlayers).map(({ NAME }) => {
    const joined = details.joinedAt(NAME)
    return `• ${escapeMarkdown(NAME.slice(0, 40))}${joined === undefined ? '' : ` (joined ${ago(joined)})`}`
  })
  const more = (state.players?.length ?? 0) - players.length
  const lines = [
    state.maintenance && `Maintenance until ${ago(state.maintenance.until)} ${escapeMarkdown(state.maintenance.reason)}`,
    look === 'up' ? '' : look === 'maintenance' ? '' : look[0]?.toUpperCase() + look.slice(1),
    countOf(state) && `Players: ${countOf(state)}`,
    peakToday !== null && `Peak today: ${peakToday}`,
    uptime !== null && `Uptime, 30 days: ${(uptime * 100).toFixed(2)} %`,
    ticksOf(state) && `Ticks: ${ticksOf(state)}`,
    nextMaintenance && `Next maintenance: ${ago(nextMaintenance.from)} ${escapeMarkdown(nextMaintenance.reason)}`,
    ...players,
    more > 0 && `and ${more} more`,
  ]
  return {
    title: `${looks[look].mark} ${cut(escapeMarkdown(name), 100)}`,
    color: looks[look].colour,
    description: cutLines(lines.filter(Boolean) as string[], maxLength - 110),
  }
}

/** Leaves out the last lines, and counts them. */
function cutLines(lines: readonly string[], maxLength: number): string {
  let [text, count] = ['', 0]
  for (const line of lines) {
    if (text.length + line.length + 20 > maxLength) break
    text += `${line}\n`
    count++
  }
  return `${text}${count < lines.length ? `and ${lines.length - count} more` : ''}`.trimEnd()
}

function groupEmbed(title: string, servers: readonly Shown[], maxLength: number) {
  const lines = servers.map(({ name, state }) =>
    [`${looks[lookOf(state)].mark} ${cut(escapeMarkdown(name), 60)}`, countOf(state), ticksOf(state)]
      .filter((part) => part !== '')
      .join(' · '),
  )
  const order = Object.keys(looks)
  const worst = Math.max(...servers.map(({ state }) => order.indexOf(lookOf(state))))
  const look = order[worst] as keyof typeof looks
  return { title: cut(escapeMarkdown(title), 100), color: looks[look].colour, description: cutLines(lines, maxLength - 110) }
}

/** One embed for each server, or for each group if there are groups or too many servers. */
export async function statusEmbeds(servers: readonly Shown[], detailsOf: StatusMessageOptions['detailsOf']) {
  const hasGroups = servers.length > maxEmbeds || servers.some(({ group }) => group !== undefined)
  if (!hasGroups)
    return await Promise.all(
      servers.map(async (server) =>
        serverEmbed(server, await detailsOf(server.name), Math.min(4_000, maxCharacters / servers.length)),
      ),
    )
  const shown = [...groupServers(servers)].slice(0, maxEmbeds)
  return shown.map(([title, members]) => groupEmbed(title, members, Math.min(4_000, maxCharacters / shown.length)))
}

function groupServers(servers: readonly Shown[]): ReadonlyMap<string, readonly Shown[]> {
  const groups = new Map<string, Shown[]>()
  for (const server of servers) {
    const title = server.group ?? 'Servers'
    const members = groups.get(title)
    if (members === undefined) groups.set(title, [server])
    else members.push(server)
  }
  return groups
}

/** A message of a Discord webhook that shows the state of all servers, and is edited when that changes. */
export class StatusMessage {
  /** Why the last edit failed; undefined if it did not. */
  problem: string | undefined
  readonly #options: StatusMessageOptions
  readonly #unsubscribe: () => void
  #cancel: (() => void) | undefined
  #editing: Promise<void> | undefined
  #last = ''
  #failures = 0
  /** Monotonic milliseconds before which it is not edited. */
  #notBefore = 0
  #isClosed = false

  constructor(options: StatusMessageOptions) {
    this.#options = options
    this.#unsubscribe = options.fleet.subscribe(() => this.#schedule())
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#unsubscribe()
    this.#cancel?.()
    await this.#editing
  }

  #schedule(): void {
    if (this.#cancel !== undefined || this.#editing !== undefined || this.#isClosed) return
    const { clock } = this.#options
    this.#cancel = clock.after(Math.max(collectMs, this.#notBefore - clock.now()), () => {
      this.#cancel = undefined
      this.#editing = this.#edit().finally(() => {
        this.#editing = undefined
      })
    })
  }

  /** Never rejects. */
  async #edit(): Promise<void> {
    const { clock, log, settings, outbox } = this.#options
    try {
      if (!(await outbox.isSender())) return
      const body = await this.#body()
      if (body === this.#last) return
      this.#notBefore = clock.now() + minEditMs
      await this.#send(body)
      this.#last = body
      this.#failures = 0
      this.problem = undefined
    } catch (error) {
      const { message, retryAfterMs = 0 } = error as DeliveryError
      if (this.problem === undefined)
        log.warn({ channel: settings.name }, `${settings.name}: the status message cannot be edited (${message})`)
      this.problem = message
      this.#failures++
      this.#notBefore = clock.now() + Math.max(retryAfterMs, backoffMs(this.#failures, { firstMs: minEditMs, maxMs: 300_000 }))
    }
  }

  async #body(): Promise<string> {
    const { fleet, isAbout, maintenanceOf, detailsOf } = this.#options
    const servers = fleet.watchers.flatMap((watcher): Shown[] => {
      const { server: name } = watcher
      const group = fleet.settingsOf(name)?.group
      return isAbout(name, group) ? [{ name, group, state: stateOf(watcher.snapshot(), maintenanceOf(name)) }] : []
    })
    return JSON.stringify({ content: '', embeds: await statusEmbeds(servers, detailsOf), allowed_mentions: { parse: [] } })
  }

  /** Edits the message, or creates it if there is none or it was deleted. */
  async #send(body: string): Promise<void> {
    const { outbox, context, settings } = this.#options
    const url = new URL(settings.values.url ?? '')
    const id = await outbox.value()
    if (id !== undefined && /^\d{1,30}$/.test(id)) {
      const message = new URL(url)
      message.pathname = `${url.pathname.replace(/\/$/, '')}/messages/${id}`
      try {
        await context.request({ method: 'PATCH', url: message, headers: jsonHeaders, body })
        return
      } catch (error) {
        if ((error as DeliveryError).status !== 404) throw error
      }
    }
    url.searchParams.set('wait', 'true')
    const reply = await context.request({ method: 'POST', url, headers: jsonHeaders, body })
    const { id: created } = parseJson(reply.body.toString()) as { readonly id?: unknown }
    await outbox.setValue(String(created))
  }
}
