import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import type { Fleet, FleetOptions } from '../game/fleet.ts'
import type { PollSettings } from '../game/server-settings.ts'
import type { Clock } from '../util/clock.ts'
import type { Log } from '../util/log.ts'
import { oneAtATime } from '../util/one-at-a-time.ts'
import type { ReplicaMetrics, SharedState } from '../util/part-metrics.ts'
import { waitUpTo } from '../util/wait-up-to.ts'
import type { StateAddress } from './address.ts'
import { StateConnection } from './connection.ts'
import { IconStore } from './icon-store.ts'
import { Locks } from './locks.ts'
import { Membership } from './membership.ts'
import { NameConflicts } from './name-conflicts.ts'
import { ServerMoves } from './server-moves.ts'
import type { ClusterSettings } from './settings.ts'
import { createSharedQueue, createSharedValues } from './shared-data.ts'
import { SharedWatcher, type SharedWatcherOptions } from './shared-watcher.ts'
import { SnapshotExchange, type SnapshotExchangeOptions } from './snapshot-exchange.ts'
import { StreamOrder } from './stream-order.ts'
import { type StreamEntry, StreamReader } from './stream-reader.ts'

export interface ReplicaOptions {
  readonly address: StateAddress
  readonly config: ClusterSettings
  readonly poll: PollSettings
  readonly clock: Clock
  readonly log: Log
}

const retryLoadMs = 500
/** Maximum time for leaving, milliseconds. */
const maxLeaveMs = 1_000
const pruneMs = 60_000

/** This process as one of several replicas that share the work of watching all servers. */
export class Replica {
  readonly #options: ReplicaOptions
  readonly #sweepMs: number
  readonly #connection: StateConnection
  readonly #icons = new IconStore()
  /** By key. */
  readonly #watchers = new Map<string, SharedWatcher>()
  readonly #keyOfName = new Map<string, string>()
  readonly #watcherOptions: SharedWatcherOptions
  readonly #conflicts: NameConflicts
  readonly #moves: ServerMoves
  /** The order of the snapshots that is the same on all replicas. */
  readonly order: StreamOrder
  readonly #exchange: SnapshotExchange
  /** Locks for external side effects, so that only one replica causes them. */
  readonly locks: Locks
  readonly #membership: Membership
  readonly #reader: StreamReader
  readonly #closing = new AbortController()

  constructor(options: ReplicaOptions) {
    const { address, config, poll, clock, log } = options
    const { staleAfter } = poll
    const { stateHeartbeat: heartbeatMs, statePassword: password, statePrefix: prefix } = config
    const id = `${hostname().replaceAll(/\s/g, '-')}-${process.pid}-${randomBytes(4).toString('hex')}`
    const timeoutMs = Math.min(5_000, Math.max(1_000, heartbeatMs))
    this.#options = options
    const expiryMs = Math.round(Math.max(2 * staleAfter, 4 * heartbeatMs))
    this.#sweepMs = Math.min(1_000, staleAfter / 8)
    const { signal } = this.#closing
    const connection = new StateConnection({
      ...{ address, prefix, password, clock, log, timeoutMs },
      maxBlockMs: 2 * heartbeatMs,
      maxRetryMs: Math.min(2_000, heartbeatMs),
    })
    this.#connection = connection
    this.locks = new Locks({ connection, clock })
    this.#watcherOptions = {
      ...{ settings: poll, clock },
      onPolled: (key, snapshot) => this.#exchange.publish(key, snapshot),
      onPublish: (watcher, isShared) => this.order.published(watcher, isShared),
      onClose: (watcher) => this.#forget(watcher),
    }
    this.#conflicts = new NameConflicts({
      ...{ clock, log, signal },
      hasKey: (key) => this.#watchers.has(key),
      hasName: (name) => this.#keyOfName.has(name),
    })
    this.#moves = new ServerMoves({
      ...{ id, watchers: this.#watchers, poll, heartbeatMs, sweepMs: this.#sweepMs, clock, log, signal },
      // With Redis, a silent owner is also one that does not list the server.
      mayFallBack: () => config.stateFailOpen === 'true' || connection.isUp,
    })
    const shared = { connection, clock }
    this.#membership = new Membership({
      ...{ ...shared, id, heartbeatMs, log },
      dataExpiryMs: expiryMs,
      position: () => this.#reader.position,
      onChange: (members) => this.#follow(members),
    })
    this.#reader = new StreamReader({
      ...{ ...shared, blockMs: 2 * heartbeatMs },
      prepare: (texts) => this.#exchange.readIcons(texts),
      onEntry: (entry) => this.#receive(entry),
      onGap: () => void this.#load(),
    })
    this.order = new StreamOrder(this.#membership, this.#reader)
    this.#exchange = new SnapshotExchange({
      ...{ ...shared, icons: this.#icons, log, expiryMs },
      // A poll waits for others up to this time, then for Redis. What is shown until then is older by an interval, which is usually at
      // most half of STALE_AFTER, and must not become stale.
      lateMs: Math.min(timeoutMs, staleAfter / 5),
      membership: this.#membership,
      position: () => this.#reader.position,
      nameOf: (key) => {
        const watcher = this.#watchers.get(key)
        if (watcher === undefined) this.#conflicts.check(key)
        return watcher?.server
      },
      onRejected: (key) => this.#watchers.get(key)?.repeat(clock.now(), 0),
      onSnapshot: (...applied) => this.#apply(...applied),
    })
  }

  /** What the other parts may use of the shared state. */
  get shared(): SharedState {
    return {
      locks: this.locks,
      values: (part) => createSharedValues(this.#connection, part),
      queue: (name) => createSharedQueue(this.#connection, name),
    }
  }

  /** Creates the watcher of a server for the fleet. */
  readonly share: NonNullable<FleetOptions['share']> = (server, createWatcher) => {
    const watcher = new SharedWatcher(server, createWatcher, this.#watcherOptions)
    this.#watchers.set(watcher.key, watcher)
    this.#keyOfName.set(watcher.server, watcher.key)
    return watcher
  }

  /** Joins the other replicas. To be called once the fleet has its servers. */
  start(fleet: Fleet): void {
    fleet.onChange(({ added }) => {
      void this.#moves.move()
      // Not of those whose settings have changed: a stored snapshot may be of another address.
      const addedKeys = added.flatMap((name) => this.#keyOfName.get(name) ?? [])
      void this.#loadServers(addedKeys).catch(() => {})
    })
    this.#membership.start()
    this.#reader.start()
    void this.#sweep()
  }

  /** Whether this replica owns the server and has polled it since. */
  isPolledHere(server: string): boolean {
    return this.#watchers.get(this.#keyOfName.get(server) ?? '')?.isPolledHere ?? false
  }

  metrics(): ReplicaMetrics {
    let [servers, unknown, fallback] = [0, 0, 0]
    for (const watcher of this.#watchers.values()) {
      if (watcher.isOwned) servers++
      if (this.#moves.isFallback(watcher)) fallback++
      if (watcher.isUnknown) unknown++
    }
    const { isUp } = this.#connection
    const members = this.#membership.members.length
    return { servers, unknown, fallback, isStateUp: isUp, invalid: this.#exchange.invalid, ...(isUp && { members }) }
  }

  /** Leaves; other replicas take over its servers immediately. */
  async close(): Promise<void> {
    this.#closing.abort()
    this.#reader.close()
    await waitUpTo(this.#membership.close(), maxLeaveMs, this.#options.clock)
    this.#connection.close()
  }

  #forget(watcher: SharedWatcher): void {
    this.order.removed(watcher)
    // A server whose settings have changed already has another watcher.
    if (this.#watchers.get(watcher.key) !== watcher) return
    this.#watchers.delete(watcher.key)
    if (this.#keyOfName.get(watcher.server) === watcher.key) this.#keyOfName.delete(watcher.server)
    this.#conflicts.changed(watcher.server)
  }

  #apply(...[key, snapshot, origin]: Parameters<SnapshotExchangeOptions['onSnapshot']>): void {
    const watcher = this.#watchers.get(key)
    if (watcher === undefined) return
    watcher.apply(snapshot, origin)
    if (origin.from === 'stream') this.#moves.reported(watcher, origin.member)
  }

  #receive(entry: StreamEntry): void {
    const { epoch } = this.#membership
    if (epoch !== undefined && entry.epoch > epoch) void this.#membership.check()
    if (entry.kind === 'snapshots') this.order.apply(entry.position, () => this.#exchange.receive(entry))
  }

  #follow(members: readonly string[]): void {
    if (this.#closing.signal.aborted) return
    this.#options.log.info({ members }, `Live replicas: ${members.length}.`)
    this.#moves.follow(members)
  }

  async #sweep(): Promise<void> {
    const { clock } = this.#options
    let lastPrune = clock.now()
    while (!this.#closing.signal.aborted) {
      await this.#moves.sweep()
      if (clock.now() - lastPrune > pruneMs) {
        lastPrune = clock.now()
        this.#icons.keepOnly(Array.from(this.#watchers.values(), (watcher) => watcher.snapshot()))
      }
      await this.#wait(this.#sweepMs)
    }
  }

  /** Waits, at most until it is closed. */
  async #wait(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.#closing.signal, ref: false }).catch(() => {})
  }

  async #loadServers(serverKeys: readonly string[]): Promise<void> {
    this.order.loaded(await this.#exchange.load(serverKeys))
  }

  /**
   * Loads everything, after entries of the stream were missed. New entries are applied meanwhile: the stream would not keep them for as
   * long as it takes to load tens of thousands of servers.
   */
  readonly #load = oneAtATime(async () => {
    this.order.setLoading(true)
    while (!this.#closing.signal.aborted) {
      try {
        await this.#loadServers([...this.#watchers.keys()])
        break
      } catch {
        // Reported by the connection.
        await this.#wait(retryLoadMs)
      }
    }
    this.order.setLoading(false)
  })
}
