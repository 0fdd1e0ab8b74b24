import type { DiscoveryView } from '../discovery/status.ts'
import type { Fleet } from '../game/fleet.ts'
import type { LiveState } from '../live/state.ts'
import type { Clock } from '../util/clock.ts'
import type { HttpClient } from '../util/http-client.ts'
import type { Log } from '../util/log.ts'
import type { MaintenanceOf } from '../util/part-metrics.ts'
import { serverPatterns } from '../util/wildcard.ts'
import { createNotification, type EventName, type Notification, type TemplateValues } from './notification.ts'
import type { Observation } from './observation.ts'
import type { Outbox } from './outbox.ts'
import { createQuietCheck } from './quiet-hours.ts'
import { applyRule, createMemory, forgetPending, type Memory, type Rule, resumePending, type Told, withDownAt } from './rules.ts'
import { Sender } from './sender.ts'
import type { ChannelSettings, NotifySettings } from './settings.ts'
import type { ServerDetails } from './status-embeds.ts'
import { StatusMessage } from './status-message.ts'

export interface NotifierOptions {
  readonly settings: NotifySettings
  readonly fleet: Fleet
  readonly clock: Clock
  readonly log: Log
  readonly openOutbox: (channel: ChannelSettings) => Promise<Outbox>
  /** The maintenance of a server: nothing is told of one that is in maintenance. */
  readonly maintenanceOf: MaintenanceOf
  /** With several replicas, whether this one polls the server: only the one that does tells of it. */
  readonly isPolledHere?: (server: string) => boolean
  /** What status messages show besides the state. */
  readonly detailsOf?: (server: string) => Promise<ServerDetails>
  /** Record number of players of a server; null while it is being read. */
  readonly recordOf?: (server: string) => number | null | undefined
  readonly discovery?: DiscoveryView
}

const noDetails: ServerDetails = { peakToday: null, uptime: null, joinedAt: () => undefined }

/** What one channel knows of one server. */
interface Followed {
  readonly memory: Memory
  told: Told | undefined
  isLoaded: boolean
  /** While what has been told is read or stored. */
  isBusy: boolean
}

/**
 * Whether a server of which nothing is stored is remembered as this. In maintenance only without a problem, so that one that lasts longer is
 * told after it.
 */
const isFirstKnown = ({ up, responsive }: LiveState, isMaintained: boolean): boolean =>
  isMaintained ? up === true && responsive !== false : up !== null

/** One channel: what it has been told of each server, and its messages. */
export class ChannelNotifier {
  readonly settings: ChannelSettings
  readonly outbox: Outbox
  readonly sender: Sender
  readonly statusMessage: StatusMessage | undefined
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
    const { fleet, maintenanceOf, detailsOf = async () => noDetails } = options
    this.statusMessage = settings.statusMessage
      ? new StatusMessage({
          ...{ settings, outbox, fleet, maintenanceOf, detailsOf, clock, log },
          context: this.sender.context,
          isAbout: (server, group) => this.isAbout(server, group),
        })
      : undefined
  }

  /** Whether the channel is about a server. */
  isAbout(server: string, group: string | undefined): boolean {
    const hasGroup = this.settings.groups.length === 0 || (group !== undefined && this.#isGroup(group, undefined))
    return hasGroup && this.#isServer(server, group)
  }

  observe(seen: Observation): void {
    const { isPolledHere = () => true, maintenanceOf } = this.#options
    const { key, server, state } = seen
    const followed = this.#followed.get(key) ?? { memory: createMemory(), told: undefined, isLoaded: false, isBusy: false }
    this.#followed.set(key, followed)
    if (followed.isBusy) return
    const isHere = server === null || isPolledHere(server)
    const isMaintained = isHere && server !== null && maintenanceOf(server) !== null
    if (!isHere || isMaintained) forgetPending(followed.memory, state)
    // Another replica may tell something in the meantime.
    if (!isHere) followed.isLoaded = false
    else if (!followed.isLoaded) void this.#load(followed, seen)
    else if (followed.told !== undefined && isMaintained) this.#store(followed, key, withDownAt(followed.told, undefined))
    else if (followed.told !== undefined || isFirstKnown(state, isMaintained)) this.#apply(followed, seen)
  }

  forget(server: string): void {
    const told = this.#followed.get(server)?.told
    this.#followed.delete(server)
    void this.#commit(server, told, undefined, [])
  }

  #apply(followed: Followed, seen: Observation): void {
    const { told, drafts } = applyRule(this.#rule, followed.told, followed.memory, seen)
    this.#store(followed, seen.key, told, drafts)
  }

  /** Does nothing if nothing has changed. */
  #store(followed: Followed, key: string, told: Told, drafts: readonly TemplateValues[] = []): void {
    if (told === followed.told) return
    const now = this.#options.clock.wall()
    const { templates, type } = this.settings
    const notifications = drafts.map((draft) => createNotification(templates, draft, now, type.quote))
    const before = followed.told
    followed.told = told
    followed.isBusy = true
    void this.#commit(key, before, told, notifications).then((isStored) => {
      followed.isBusy = false
      if (!isStored) followed.isLoaded = false
    })
  }

  async #load(followed: Followed, seen: Observation): Promise<void> {
    followed.isBusy = true
    try {
      followed.told = await this.outbox.told(seen.key)
      followed.isLoaded = true
      if (followed.told !== undefined) resumePending(followed.memory, followed.told, seen)
    } catch {
      // Tried again at the next poll. An outage that ends in the meantime must not go on with the next one.
      if (seen.state.up !== false) delete followed.memory.pending.down
    }
    followed.isBusy = false
    // What another replica has told in the meantime may be a later change than this one.
    const isOutdated = followed.told?.toldAt !== undefined && followed.told.toldAt > seen.at
    if (followed.isLoaded && !isOutdated) this.observe(seen)
  }

  /** Never rejects. @returns whether it was stored */
  async #commit(
    key: string,
    before: Told | undefined,
    told: Told | undefined,
    notifications: readonly Notification[],
  ): Promise<boolean> {
    try {
      const isStored = await this.outbox.commit(key, before, told, notifications)
      if (notifications.length > 0) void this.sender.wake()
      return isStored
    } catch {
      return false
    }
  }
}
