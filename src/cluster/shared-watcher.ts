import type { PollSettings, ServerSettings } from '../game/server-settings.ts'
import { beganAt, type ServerSnapshot } from '../game/snapshot.ts'
import { descriptorOf } from '../game/sources/descriptor-of.ts'
import { placeOf } from '../game/spread.ts'
import type { Watcher } from '../game/watcher/index.ts'
import type { Clock } from '../util/clock.ts'
import { serverKeyOf } from './server-fingerprint.ts'
import type { SnapshotOrigin } from './snapshot-exchange.ts'

/** Options that all shared watchers of a process have in common. */
export interface SharedWatcherOptions {
  readonly settings: PollSettings
  readonly clock: Clock
  /** Called with each snapshot from polls of this process. */
  readonly onPolled: (key: string, snapshot: ServerSnapshot) => void
  /** Called before the listeners with whether the new snapshot is the same on all replicas. */
  readonly onPublish: (watcher: SharedWatcher, isShared: boolean) => void
  readonly onClose: (watcher: SharedWatcher) => void
}

/** The time at which another process has created a snapshot is known with this error, milliseconds. */
const maxErrorMs = 20

const noFields: ServerSnapshot['fields'] = Object.freeze({})
const noSources: ServerSnapshot['sources'] = Object.freeze([])
const noPolls: ServerSnapshot['polls'] = Object.freeze({})

/**
 * Milliseconds until the next poll of a server is due. The times of the servers are spread over the interval by name, so that those
 * that were taken over at the same time are not polled at the same time from then on.
 */
const untilDue = (server: string, interval: number, now: number): number => {
  const passed = (now - placeOf(server) * interval) % interval
  return passed < 0 ? -passed : interval - passed
}

/**
 * The watcher of a server that one of several processes polls. If this process owns the server, it polls it; else it publishes the
 * snapshots that it receives. When the server moves, the last snapshot stays until the new owner has one.
 * A class to save memory: closures took 2.7 kB for each of thousands of servers (`npm run bench -- replica`).
 */
export class SharedWatcher implements Watcher {
  readonly server: string
  /** Identifies the server among replicas. */
  readonly key: string
  readonly #createWatcher: () => Watcher
  readonly #options: SharedWatcherOptions
  #listeners: readonly ((snapshot: ServerSnapshot) => void)[] = []
  #poller: Watcher | undefined
  #isClosed = false
  /** Monotonic milliseconds of the last snapshot from the process that polls the server. */
  #receivedAt: number
  /** Monotonic milliseconds at which the current snapshot was created, before any value of it expired. */
  #createdAt = Number.NEGATIVE_INFINITY
  #epoch = 0
  #number = 0
  #member = ''
  /** Monotonic milliseconds at which this process last published a snapshot. */
  #publishedAt = Number.NEGATIVE_INFINITY
  #current: ServerSnapshot

  /** @param createWatcher creates the watcher that polls the server */
  constructor(
    settings: Pick<ServerSettings, 'name' | 'demo' | 'sources'>,
    createWatcher: () => Watcher,
    options: SharedWatcherOptions,
  ) {
    const { name, demo } = settings
    this.server = name
    this.key = serverKeyOf(settings)
    this.#createWatcher = createWatcher
    this.#options = options
    this.#receivedAt = options.clock.now()
    const unknown = {
      server: name,
      at: this.#receivedAt,
      fields: noFields,
      sources: noSources,
      polls: noPolls,
      isStale: true as const,
    }
    this.#current = Object.freeze(demo ? { ...unknown, demo } : unknown)
  }

  get settings(): PollSettings {
    return this.#options.settings
  }

  get isOwned(): boolean {
    return this.#poller !== undefined
  }

  /** Monotonic milliseconds of the last snapshot, from this process or another; that of its creation if there was none. */
  get receivedAt(): number {
    return this.#receivedAt
  }

  /** Whether it owns the server and has polled it since: then the polling watcher itself expires values. */
  get isPolledHere(): boolean {
    return this.#poller?.snapshot().lastPollAt !== undefined
  }

  /**
   * Whether nothing was received for `staleAfter`, or only values that are too old, although the server has been polled. False if no
   * source connects to it: then nobody knows whether it is up.
   */
  get isUnknown(): boolean {
    const { up, lastPollAt, sources } = this.snapshot()
    if (up !== undefined) return false
    const isConnected = sources.some(({ source }) => descriptorOf(source).network)
    return this.#isSilentAt(this.#options.clock.now()) || (lastPollAt !== undefined && isConnected)
  }

  snapshot(): ServerSnapshot {
    // Publishes here too, if it is stale.
    this.#poller?.snapshot()
    this.expire(this.#options.clock.now())
    return this.#current
  }

  /** Polls start as soon as this process owns the server. */
  start(): void {}

  async poll(): Promise<ServerSnapshot> {
    return this.#poller?.poll() ?? this.#current
  }

  subscribe(listener: (snapshot: ServerSnapshot) => void): () => void {
    this.#listeners = this.#listeners.concat(listener)
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== listener)
    }
  }

  /** @param delayMs before the first poll */
  own(delayMs: number): void {
    if (this.#isClosed || this.#poller !== undefined) return
    const poller = this.#createWatcher()
    this.#poller = poller
    let isFirst = true
    poller.subscribe((snapshot) => {
      if (isFirst && snapshot.lastPollAt !== undefined) {
        isFirst = false
        poller.start(untilDue(this.server, this.settings.interval, this.#options.clock.now()))
      }
      this.#takeOver(snapshot)
    })
    poller.start(delayMs)
  }

  disown(): void {
    this.#poller?.close()
    this.#poller = undefined
  }

  /** Applies a snapshot, from this process too, unless it is older than the current one. */
  apply(given: ServerSnapshot, { from, member, epoch, number }: SnapshotOrigin): void {
    if (this.#isClosed) return
    const isFromHere = from === 'here'
    // Of two members, only the one with the higher epoch owns the server, but the other one may have polled it last. If both polled it at the
    // same time, it is not known which values are newer: the first ones stay.
    const isLater = beganAt(given) - maxErrorMs >= this.#createdAt
    const isNewer = member === this.#member ? number >= this.#number : (isFromHere || epoch >= this.#epoch) && isLater
    if (!isNewer) return
    const { lastContact } = this.#current
    const isSkewed = lastContact && given.lastContact && member === this.#member && given.lastContact.at < lastContact.at
    const snapshot = isSkewed ? Object.freeze({ ...given, lastContact: { ...given.lastContact, at: lastContact.at } }) : given
    this.#epoch = Math.max(epoch, this.#epoch)
    this.#number = number
    this.#member = member
    this.#createdAt = given.at
    const now = this.#options.clock.now()
    this.#publish(snapshot, from === 'stored' ? snapshot.at : now, !isFromHere)
    this.expire(now)
  }

  /**
   * Publishes an unchanged snapshot again: silence would mean that no process polls the server.
   * @param now monotonic milliseconds
   * @param afterMs since the last one was published
   */
  repeat(now: number, afterMs = this.settings.staleAfter / 3): void {
    const last = this.#poller?.snapshot()
    if (last?.lastPollAt !== undefined && now - this.#publishedAt >= afterMs) this.#takeOver(last)
  }

  /**
   * Makes every value unknown if the process that polls the server has been silent for `staleAfter`, or its last snapshot is stale.
   * @param now monotonic milliseconds
   */
  expire(now: number): void {
    if (this.#isClosed) return
    if (!this.#isSilentAt(now)) {
      this.#expireContact(now)
      return
    }
    const { up, knownUntil, mainThread, ...rest } = this.#current
    if (up === undefined && rest.sources.every(({ state }) => state === 'pending')) return
    const sources = rest.sources.map(({ duration, error, resting, ...source }) => ({ ...source, state: 'pending' as const }))
    this.#publish(Object.freeze({ ...rest, isStale: true as const, at: now, fields: noFields, sources }), this.#receivedAt)
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.disown()
    this.#listeners = []
    this.#options.onClose(this)
  }

  /** The process that polls the server does the same, but its snapshot may not arrive. */
  #expireContact(now: number): void {
    const { up, knownUntil, lastContact, isStale } = this.#current
    const isUnknown = up !== undefined && knownUntil !== undefined && now >= knownUntil
    const isOld = lastContact !== undefined && now - lastContact.at >= this.settings.staleAfter
    if (!isUnknown && (!isOld || isStale)) return
    const { mainThread, ...known } = this.#current
    const { up: _, knownUntil: __, ...unknown } = known
    this.#publish(Object.freeze({ ...(isUnknown ? unknown : known), at: now, isStale: true as const }), this.#receivedAt)
  }

  #isSilentAt(now: number): boolean {
    return now - this.#receivedAt >= this.settings.staleAfter && !this.isPolledHere
  }

  #publish(snapshot: ServerSnapshot, at: number, isShared = false): void {
    this.#current = snapshot
    this.#receivedAt = at
    this.#options.onPublish(this, isShared)
    // That of the fleet, which does not throw.
    for (const listener of this.#listeners) listener(snapshot)
  }

  /** If the polls of the new owner fail, the values of the previous owner stay until they are stale, and its last contact, as with one watcher. */
  #withLastContact(snapshot: ServerSnapshot): ServerSnapshot {
    const { lastContact, fields } = this.#current
    if (snapshot.lastContact !== undefined || lastContact === undefined) return snapshot
    const isFresh = this.#options.clock.now() - lastContact.at < this.settings.staleAfter
    if (snapshot.up !== false || !isFresh) return Object.freeze(Object.assign({}, snapshot, { lastContact }))
    const { isStale, ...rest } = snapshot
    return Object.freeze({ ...rest, fields, lastContact })
  }

  #takeOver(snapshot: ServerSnapshot): void {
    // Until its first poll has ended, the received snapshot is more complete.
    if (snapshot.up === undefined && snapshot.lastPollAt === undefined) return
    const { clock } = this.#options
    const isOld = clock.wall() - (snapshot.lastPollAt ?? 0) >= this.settings.staleAfter
    // Every process makes stale values unknown itself, and another one may have newer values than one that was suspended.
    if (snapshot.up === undefined && snapshot.isStale && (this.#current.up !== undefined || isOld)) {
      this.expire(clock.now())
      return
    }
    this.#publishedAt = clock.now()
    this.#options.onPolled(this.key, this.#withLastContact(snapshot))
  }
}
