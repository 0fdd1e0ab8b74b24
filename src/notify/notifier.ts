import { randomUUID } from 'node:crypto'
import type { DiscoveryView } from '../discovery/status.ts'
import { currentFields } from '../game/current-fields.ts'
import type { Fleet } from '../game/fleet.ts'
import { isAsleep, ongoingWorldUpgrade, type ServerSnapshot } from '../game/snapshot.ts'
import { waitUpTo } from '../game/watcher/deadline.ts'
import { downReason, stateOf, wallOf } from '../live/state.ts'
import type { Clock } from '../util/clock.ts'
import { escapeControlsInLines } from '../util/escape-controls.ts'
import type { HttpClient } from '../util/http-client.ts'
import type { Log } from '../util/log.ts'
import type { ChannelMetrics, MaintenanceOf } from '../util/part-metrics.ts'
import { serverPatterns } from '../util/wildcard.ts'
import { cut } from './channels/channel.ts'
import { type EventName, type Notification, renderTemplate, type TemplateValues, templateOf } from './notification.ts'
import type { Outbox } from './outbox.ts'
import { createQuietCheck } from './quiet-hours.ts'
import { applyRule, createMemory, forgetPending, type Memory, type Observation, type Rule, type Told } from './rules.ts'
import { createChannelClient, Sender } from './sender.ts'
import type { ChannelSettings, NotifySettings } from './settings.ts'
import { type ServerDetails, StatusMessage } from './status-message.ts'

export interface NotifierOptions {
  readonly settings: NotifySettings
  readonly fleet: Fleet
  readonly clock: Clock
  readonly log: Log
  readonly openOutbox: (channel: ChannelSettings, describeDropped: (count: number) => Notification) => Promise<Outbox>
  /** The maintenance of a server: nothing is told of one that is in maintenance. */
  readonly maintenanceOf: MaintenanceOf
  /** With several replicas, whether this one polls the server: only the one that does tells of it. */
  readonly isPolledHere?: (server: string) => boolean
  /** What status messages show besides the state. */
  readonly detailsOf?: (server: string) => ServerDetails
  /** Record number of players of a server. */
  readonly recordOf?: (server: string) => number | undefined
  readonly discovery?: DiscoveryView
}

const maxText = 1_000
const discoveryCheckMs = 5_000
/** How often senders look for notifications of other replicas, milliseconds. */
const wakeMs = 2_000
/** Maximum time in which attempts in progress end when the service stops, milliseconds. */
const maxCloseMs = 1_000

/** What one channel knows of one server. */
interface Followed {
  readonly memory: Memory
  told: Told | undefined
  isLoaded: boolean
  /** While what has been told is read or stored. */
  isBusy: boolean
}

export function createNotification(
  settings: Pick<ChannelSettings, 'templates'>,
  values: TemplateValues,
  now: number,
): Notification {
  const { event, at, server, group, error, duration, state } = values
  const text = cut(escapeControlsInLines(renderTemplate(templateOf(values, settings.templates), values)), maxText)
  return { id: randomUUID(), at, event, server, group, text, error, duration, state, queuedAt: Math.round(now) }
}

/** Tells channels what happens to the servers. */
export class Notifier {
  readonly #options: NotifierOptions
  readonly #channels: readonly Channel[]
  readonly #client: HttpClient
  readonly #stops: (() => void)[] = []
  /** Unix milliseconds of the last poll of each server. */
  readonly #lastPolls = new Map<string, number>()

  private constructor(options: NotifierOptions, client: HttpClient, channels: readonly Channel[]) {
    this.#options = options
    this.#client = client
    this.#channels = channels
    const { fleet } = options
    this.#stops.push(
      () => {},
      fleet.subscribe((snapshot) => this.#observe(snapshot)),
      fleet.onChange(({ replaced = [], removed }) => {
        for (const server of [...replaced, ...removed]) {
          this.#lastPolls.delete(server)
          for (const channel of channels) channel.forget(server)
        }
        for (const channel of channels) channel.matches.clear()
      }),
    )
    if (options.discovery !== undefined) this.#checkDiscovery(options.discovery)
    this.#wakeSenders()
  }

  static async open(options: NotifierOptions): Promise<Notifier> {
    const client = createChannelClient(options.settings.allowPrivate)
    const channels: Channel[] = []
    for (const settings of options.settings.channels) {
      const { clock } = options
      const describeDropped = (count: number) => {
        const sender = channels.find((channel) => channel.settings === settings)?.sender
        if (sender !== undefined) sender.counts.dropped += count
        const dropped = {
          ...noServer,
          at: Math.round(clock.wall()),
          error: `${count} more notifications were dropped because the channel failed`,
        }
        return createNotification({ templates: {} }, dropped, clock.wall())
      }
      channels.push(new Channel(settings, await options.openOutbox(settings, describeDropped), client, options))
    }
    return new Notifier(options, client, channels)
  }

  /** Other replicas add notifications too, and one that sends may die. */
  #wakeSenders(): void {
    const cancel = this.#options.clock.after(wakeMs, () => this.#wakeSenders())
    this.#stops[0] = cancel
    for (const { sender } of this.#channels) sender.wake()
  }

  /** The channels, for the metrics and the page. */
  metrics(): readonly ChannelMetrics[] {
    return this.#channels.map(({ settings, sender, outbox, statusMessage }) => {
      const problem = sender.problem ?? statusMessage?.problem
      return {
        ...{ channel: settings.name, ...sender.counts, waiting: outbox.length },
        ...(problem !== undefined && { problem }),
      }
    })
  }

  async close(): Promise<void> {
    for (const stop of this.#stops) stop()
    const { clock } = this.#options
    const senders = Promise.all(this.#channels.flatMap(({ sender, statusMessage }) => [sender.close(), statusMessage?.close()]))
    await waitUpTo(
      senders.then(() => {}),
      maxCloseMs,
      clock,
    )
    await this.#client.close()
    await Promise.all(this.#channels.map(({ outbox }) => outbox.close()))
  }

  #observe(snapshot: ServerSnapshot): void {
    const { server, lastPollAt } = snapshot
    const { fleet, clock, recordOf } = this.#options
    const group = fleet.settingsOf(server)?.group
    const channels = this.#channels.filter((channel) => channel.settings.events.length > 0 && channel.isAbout(server, group))
    if (channels.length === 0) return
    const isPoll = lastPollAt !== undefined && lastPollAt !== this.#lastPolls.get(server)
    if (lastPollAt !== undefined) this.#lastPolls.set(server, lastPollAt)
    const known = stateOf(snapshot)
    // A server that is stopped until a player joins, or that upgrades its world, is not an outage.
    const isDownOnPurpose = isAsleep(snapshot) === true || ongoingWorldUpgrade(snapshot)?.state === 'running'
    const state = isDownOnPurpose ? { ...known, up: null } : known
    const seen: Observation = {
      ...{ server, group: group ?? null, at: wallOf(snapshot, clock), isPoll, state },
      error: state.up === false ? downReason(snapshot) : null,
      ...{ tickRatio: tickRatioOf(snapshot), trouble: troubleOf(snapshot), record: () => recordOf?.(server) },
    }
    for (const channel of channels) channel.observe(seen)
  }

  /** Lists of servers that cannot be read are told like a source that fails, without a server. */
  #checkDiscovery(discovery: DiscoveryView): void {
    const { clock, settings } = this.#options
    const failing = new Map<string, { readonly since: number; isTold: boolean }>()
    let cancel = () => {}
    const check = () => {
      cancel = clock.after(discoveryCheckMs, check)
      for (const { provider, name, state, error } of discovery.status()) {
        const list = `${provider} ${name}`
        if (state !== 'failed') failing.delete(list)
        else if (!failing.has(list)) failing.set(list, { since: clock.wall(), isTold: false })
        const problem = failing.get(list)
        if (problem === undefined || problem.isTold || clock.wall() - problem.since < settings.troubleAfter) continue
        problem.isTold = true
        const values = {
          ...noServer,
          at: Math.round(problem.since),
          error: `the list of servers ${list} cannot be read: ${error}`,
        }
        for (const channel of this.#channels) channel.tellTrouble(values)
      }
    }
    check()
    this.#stops.push(() => cancel())
  }
}

const noServer = { event: 'trouble', server: null, group: null, duration: null, state: null } as const

/** Undefined if unknown, or if the server does not tick at its target on purpose. */
function tickRatioOf(snapshot: ServerSnapshot): number | undefined {
  const { tickRate, tickRateTarget, tickPaused, tickFrozen, tickSprinting } = currentFields(snapshot)
  if (tickRate === undefined || tickPaused?.value || tickFrozen?.value || tickSprinting?.value) return undefined
  return tickRate.value / (tickRateTarget?.value || 20)
}

function troubleOf({ sources, up }: ServerSnapshot): string | null {
  const failing = up === true ? sources.filter(({ state }) => state === 'failed') : []
  return failing.length === 0
    ? null
    : `${failing.map(({ source, error }) => `source ${source} fails (${error?.code ?? 'failed'})`).join(', ')}`
}

/** One channel: what it has been told of each server, and its messages. */
class Channel {
  readonly settings: ChannelSettings
  readonly outbox: Outbox
  readonly sender: Sender
  readonly statusMessage: StatusMessage | undefined
  /** Whether the channel is about a server. */
  readonly matches = new Map<string, boolean>()
  readonly #options: NotifierOptions
  readonly #followed = new Map<string, Followed>()
  readonly #rule: Rule
  readonly #isServer: ReturnType<typeof serverPatterns>
  readonly #isGroup: ReturnType<typeof serverPatterns>

  constructor(settings: ChannelSettings, outbox: Outbox, client: HttpClient, options: NotifierOptions) {
    const { clock, log, settings: all } = options
    const { allowPrivate, publicUrl, quietHours } = all
    this.settings = settings
    this.outbox = outbox
    this.#options = options
    this.#isServer = serverPatterns(settings.servers)
    this.#isGroup = serverPatterns(settings.groups)
    const isQuietAt = quietHours && createQuietCheck(quietHours)
    const isQuiet = (event: EventName) =>
      isQuietAt !== undefined && !quietHours?.except.includes(event) && isQuietAt(clock.wall())
    this.#rule = { channel: settings, settings: all, isQuiet }
    this.sender = new Sender({ settings, outbox, client, allowPrivate, publicUrl, clock, log })
    const { fleet, maintenanceOf, detailsOf = () => ({ peakToday: null, uptime: null, joinedAt: () => undefined }) } = options
    this.statusMessage = settings.statusMessage
      ? new StatusMessage({
          ...{ settings, outbox, fleet, maintenanceOf, detailsOf, clock, log },
          context: this.sender.context,
          isAbout: (server, group) => this.isAbout(server, group),
        })
      : undefined
  }

  isAbout(server: string, group: string | undefined): boolean {
    const known = this.matches.get(server)
    if (known !== undefined) return known
    const hasGroup = this.settings.groups.length === 0 || (group !== undefined && this.#isGroup(group, undefined))
    const isAbout = hasGroup && this.#isServer(server, group)
    this.matches.set(server, isAbout)
    return isAbout
  }

  observe(seen: Observation): void {
    const { isPolledHere = () => true, maintenanceOf } = this.#options
    const { server, state } = seen
    const followed = this.#followed.get(server) ?? { memory: createMemory(), told: undefined, isLoaded: false, isBusy: false }
    this.#followed.set(server, followed)
    if (followed.isBusy) return
    // Another replica may tell something in the meantime.
    if (!isPolledHere(server)) followed.isLoaded = false
    if (!isPolledHere(server) || maintenanceOf(server) !== null) {
      forgetPending(followed.memory, state)
      return
    }
    if (!followed.isLoaded) void this.#load(followed, seen)
    else if (followed.told !== undefined || state.up !== null) this.#apply(followed, seen)
  }

  tellTrouble(values: TemplateValues): void {
    if (!this.settings.events.includes('trouble') || this.#rule.isQuiet('trouble')) return
    void this.#commit('', undefined, undefined, [this.#toNotification(values)])
  }

  forget(server: string): void {
    this.#followed.delete(server)
    void this.#commit(server, undefined, undefined, [])
  }

  #apply(followed: Followed, seen: Observation): void {
    const { told, drafts } = applyRule(this.#rule, followed.told, followed.memory, seen)
    if (told === followed.told) return
    const notifications = drafts.map((draft) => this.#toNotification(draft))
    const before = followed.told
    followed.told = told
    followed.isBusy = true
    void this.#commit(seen.server, before, told, notifications).then((isStored) => {
      followed.isBusy = false
      if (!isStored) followed.isLoaded = false
    })
  }

  #toNotification(values: TemplateValues): Notification {
    return createNotification(this.settings, values, this.#options.clock.wall())
  }

  async #load(followed: Followed, seen: Observation): Promise<void> {
    followed.isBusy = true
    try {
      followed.told = await this.outbox.told(seen.server)
      followed.isLoaded = true
    } catch {
      // Tried again at the next poll.
    }
    followed.isBusy = false
    if (followed.isLoaded) this.observe(seen)
  }

  /** Never rejects. @returns whether it was stored */
  async #commit(
    server: string,
    before: Told | undefined,
    told: Told | undefined,
    notifications: readonly Notification[],
  ): Promise<boolean> {
    try {
      const isStored = await this.outbox.commit(server, before, told, notifications)
      if (notifications.length > 0) this.sender.wake()
      return isStored
    } catch {
      return false
    }
  }
}
