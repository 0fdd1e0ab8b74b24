import type { PollSettings, ServerSettings } from '../game/server-settings.ts'
import type { ServerSnapshot } from '../game/snapshot.ts'
import { placeOf } from '../game/spread.ts'
import type { Watcher } from '../game/watcher/index.ts'
import type { Clock } from '../util/clock.ts'
import type { Log } from '../util/log.ts'

/**
 * The watcher of a server that one of several processes polls. If this process owns the server, it polls it; else it publishes the
 * snapshots that it receives. When the server moves, the last snapshot stays until the new owner has one.
 */
export interface SharedWatcher extends Watcher {
  readonly isOwned: boolean
  /** Whether its snapshots come from this process: it owns the server and has polled it since. */
  readonly isPolledHere: boolean
  /** Whether this process does not poll it, and has received no snapshot from the one that should for `staleAfter`. */
  readonly isSilent: boolean
  /** @param delayMs before the first poll */
  own(delayMs: number): void
  disown(): void
  /**
   * Publishes a snapshot from the process that polls the server; ignored while this process polls it.
   * @param storedMs milliseconds since the snapshot was stored; 0 for one that was just published
   */
  receive(snapshot: ServerSnapshot, storedMs: number): void
  /**
   * Makes every value unknown if the process that polls the server has been silent for `staleAfter`, or its last snapshot is stale.
   * @param now monotonic milliseconds
   */
  expire(now: number): void
}

/** Options that all shared watchers of a process have in common. */
export interface SharedWatcherOptions {
  readonly settings: PollSettings
  readonly clock: Clock
  readonly log: Log
  /** Called with each snapshot from polls of this process. */
  readonly onPolled: (snapshot: ServerSnapshot) => void
  readonly onClose: (watcher: SharedWatcher) => void
}

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

/** @param createWatcher creates the watcher that polls the server */
export const createSharedWatcher = (
  server: Pick<ServerSettings, 'name' | 'demo'>,
  createWatcher: () => Watcher,
  options: SharedWatcherOptions,
): SharedWatcher => new RelayingWatcher(server, createWatcher, options)

/** A class to save memory: closures took 2.7 kB for each of thousands of servers (`npm run bench -- replica`). */
class RelayingWatcher implements SharedWatcher {
  readonly server: string
  readonly #createWatcher: () => Watcher
  readonly #options: SharedWatcherOptions
  #listeners: readonly ((snapshot: ServerSnapshot) => void)[] = []
  #poller: Watcher | undefined
  #isStarted = false
  #isClosed = false
  /** Monotonic milliseconds of the last snapshot from the process that polls the server. */
  #receivedAt: number
  #current: ServerSnapshot

  constructor(
    { name, demo }: Pick<ServerSettings, 'name' | 'demo'>,
    createWatcher: () => Watcher,
    options: SharedWatcherOptions,
  ) {
    this.server = name
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

  /** If true, the polling watcher itself expires values. */
  get isPolledHere(): boolean {
    return this.#poller?.snapshot().lastPollAt !== undefined
  }

  get isSilent(): boolean {
    return this.#isSilentAt(this.#options.clock.now())
  }

  snapshot(): ServerSnapshot {
    // Publishes here too, if it is stale.
    this.#poller?.snapshot()
    this.expire(this.#options.clock.now())
    return this.#current
  }

  start(delayMs = 0): void {
    this.#isStarted = true
    this.#poller?.start(delayMs)
  }

  async poll(): Promise<ServerSnapshot> {
    return this.#poller?.poll() ?? this.#current
  }

  subscribe(listener: (snapshot: ServerSnapshot) => void): () => void {
    this.#listeners = this.#listeners.concat(listener)
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== listener)
    }
  }

  own(delayMs: number): void {
    if (this.#isClosed || this.#poller !== undefined) return
    const poller = this.#createWatcher()
    this.#poller = poller
    let isFirst = true
    poller.subscribe((snapshot) => {
      if (isFirst && this.#isStarted && snapshot.lastPollAt !== undefined) {
        isFirst = false
        poller.start(untilDue(this.server, this.settings.interval, this.#options.clock.now()))
      }
      this.#takeOver(snapshot)
    })
    if (this.#isStarted) poller.start(delayMs)
  }

  disown(): void {
    this.#poller?.close()
    this.#poller = undefined
  }

  receive(snapshot: ServerSnapshot, storedMs: number): void {
    if (this.#isClosed || this.isPolledHere) return
    const now = this.#options.clock.now()
    const storedAt = now - storedMs
    // Ignore a stored snapshot that is older than the last published one.
    if (storedMs > 0 && this.#current.lastPollAt !== undefined && storedAt <= this.#receivedAt) return
    this.#publish(snapshot, storedAt)
    this.expire(now)
  }

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
    const { up, knownUntil, mainThread, ...rest } = this.#current
    const isUnknown = up !== undefined && knownUntil !== undefined && now >= knownUntil
    const isStale = rest.lastContact !== undefined && now - rest.lastContact.at >= this.settings.staleAfter
    if (!isUnknown && (!isStale || rest.isStale)) return
    const state = isUnknown ? {} : { ...(up !== undefined && { up }), ...(knownUntil !== undefined && { knownUntil }) }
    this.#publish(Object.freeze({ ...rest, ...state, at: now, isStale: true as const }), this.#receivedAt)
  }

  #isSilentAt(now: number): boolean {
    return now - this.#receivedAt >= this.settings.staleAfter && !this.isPolledHere
  }

  #publish(snapshot: ServerSnapshot, at: number): void {
    this.#current = snapshot
    this.#receivedAt = at
    for (const listener of this.#listeners) {
      try {
        listener(snapshot)
      } catch (error) {
        this.#options.log.error({ err: error, server: this.server }, `${this.server}: a snapshot listener failed`)
      }
    }
  }

  /** If the first poll of the new owner fails, the values of the previous owner stay until they are stale, as with one watcher. */
  #withLastContact(snapshot: ServerSnapshot): ServerSnapshot {
    const { lastContact, fields } = this.#current
    const isFresh = lastContact !== undefined && this.#options.clock.now() - lastContact.at < this.settings.staleAfter
    if (snapshot.up !== false || snapshot.lastContact !== undefined || !isFresh) return snapshot
    const { isStale, ...rest } = snapshot
    return Object.freeze({ ...rest, fields, lastContact })
  }

  #takeOver(snapshot: ServerSnapshot): void {
    // Until its first poll has ended, the received snapshot is more complete.
    if (snapshot.up === undefined && snapshot.lastPollAt === undefined) return
    const shown = this.#withLastContact(snapshot)
    this.#publish(shown, this.#options.clock.now())
    this.#options.onPolled(shown)
  }
}
