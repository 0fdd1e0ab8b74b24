import type { DiscoveryView, ListStatus } from '../discovery/status.ts'
import { isAsleep, ongoingWorldUpgrade, type ServerSnapshot, tickRatioOf } from '../game/snapshot.ts'
import { downReason, stateOf, unknownState, wallOf } from '../live/state.ts'
import { repeat } from '../util/clock.ts'
import type { HttpClient } from '../util/http-client.ts'
import type { ChannelMetrics } from '../util/part-metrics.ts'
import { waitUpTo } from '../util/wait-up-to.ts'
import { ChannelNotifier, type NotifierOptions } from './channel-notifier.ts'
import type { Observation } from './observation.ts'
import { createChannelClient } from './sender.ts'

const listCheckMs = 5_000
/** How often senders look for notifications of other replicas, milliseconds. */
const wakeMs = 2_000
/** Maximum time in which attempts in progress end when the service stops, milliseconds. */
const maxCloseMs = 1_000

/** Tells channels what happens to the servers. */
export class Notifier {
  readonly #options: NotifierOptions
  readonly #channels: readonly ChannelNotifier[]
  readonly #client: HttpClient
  readonly #stops: (() => void)[] = []
  /** Unix milliseconds of the last poll of each server. */
  readonly #lastPolls = new Map<string, number>()

  private constructor(options: NotifierOptions, client: HttpClient, channels: readonly ChannelNotifier[]) {
    this.#options = options
    this.#client = client
    this.#channels = channels
    const { fleet } = options
    this.#stops.push(
      fleet.subscribe((snapshot) => this.#observe(snapshot)),
      fleet.onChange(({ replaced = [], removed }) => {
        for (const server of [...replaced, ...removed]) {
          this.#lastPolls.delete(server)
          for (const channel of channels) channel.forget(server)
        }
      }),
    )
    if (options.discovery !== undefined) this.#followLists(options.discovery)
    // Other replicas add notifications too, and one that sends may die.
    const wakeSenders = () => {
      for (const { sender } of channels) void sender.wake()
    }
    wakeSenders()
    this.#stops.push(repeat(options.clock, wakeMs, wakeSenders))
  }

  static async open(options: NotifierOptions): Promise<Notifier> {
    const client = createChannelClient(options.settings.allowPrivate)
    const channels: ChannelNotifier[] = []
    for (const settings of options.settings.channels)
      channels.push(new ChannelNotifier(settings, await options.openOutbox(settings), client, options))
    return new Notifier(options, client, channels)
  }

  /** The channels, for the metrics and the page. */
  metrics(): readonly ChannelMetrics[] {
    return this.#channels.map(({ settings, sender, outbox, statusMessage }) => {
      const problem = sender.problem ?? statusMessage?.problem
      return {
        ...{ channel: settings.name, ...sender.counts, dropped: outbox.dropped, waiting: outbox.length },
        ...(problem !== undefined && { problem }),
      }
    })
  }

  async close(): Promise<void> {
    for (const stop of this.#stops) stop()
    const { clock } = this.#options
    const senders = Promise.all(this.#channels.flatMap(({ sender, statusMessage }) => [sender.close(), statusMessage?.close()]))
    await waitUpTo(senders, maxCloseMs, clock)
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
      ...{ key: server, server, group: group ?? null, at: wallOf(snapshot, clock), now: snapshot.at, isPoll, state },
      error: downReason(snapshot),
      ...{ tickRatio: tickRatioOf(snapshot), trouble: troubleOf(snapshot), record: () => recordOf?.(server) },
    }
    for (const channel of channels) channel.observe(seen)
  }

  /** A list of servers that cannot be read is told like a source that fails, without a server. */
  #followLists(discovery: DiscoveryView): void {
    const { clock } = this.#options
    const check = () => {
      // Files in several folders may have the same name: one of them that cannot be read is enough.
      const lists = new Map<string, ListStatus>()
      for (const status of discovery.status()) {
        const list = `${status.provider} ${status.name}`
        if (status.state !== 'pending' && lists.get(list)?.state !== 'failed') lists.set(list, status)
      }
      for (const [list, { state, error }] of lists) {
        const seen: Observation = {
          ...{ key: `list ${list}`, server: null, group: null, at: Math.round(clock.wall()), now: clock.now(), isPoll: true },
          ...{ state: { ...unknownState, up: true }, error: null, tickRatio: undefined, record: () => undefined },
          trouble: state === 'failed' ? `the list of servers ${list} cannot be read: ${error}` : null,
        }
        for (const channel of this.#channels) if (channel.settings.events.includes('trouble')) channel.observe(seen)
      }
    }
    check()
    this.#stops.push(repeat(clock, listCheckMs, check))
  }
}

function troubleOf({ sources }: ServerSnapshot): string | null {
  const failing = sources.filter(({ state }) => state === 'failed')
  return failing.length === 0
    ? null
    : failing.map(({ source, error }) => `source ${source} fails (${error?.code ?? 'failed'})`).join(', ')
}
