import type { Clock } from '../clock.ts'
import type { PollSettings, ServerSettings } from '../game/server.ts'
import type { ServerSnapshot } from '../game/snapshot.ts'
import type { Watcher } from '../game/watcher/index.ts'
import type { Log } from '../log.ts'

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
  /** Makes every value unknown if the process that polls the server has been silent for `staleAfter`. */
  expire(): void
}

export interface SharedWatcherOptions {
  readonly server: ServerSettings
  readonly settings: PollSettings
  readonly clock: Clock
  readonly log: Log
  /** Creates the watcher that polls the server. */
  readonly createWatcher: () => Watcher
  /** Called with each snapshot from polls of this process. */
  readonly onPolled: (snapshot: ServerSnapshot) => void
  readonly onClose: () => void
}

export function createSharedWatcher(options: SharedWatcherOptions): SharedWatcher {
  const { server, settings, clock, log, createWatcher, onPolled, onClose } = options
  const listeners = new Set<(snapshot: ServerSnapshot) => void>()
  let poller: Watcher | undefined
  let isStarted = false
  let isClosed = false
  /** Monotonic milliseconds of the last snapshot from the process that polls the server. */
  let receivedAt = clock.now()
  let current: ServerSnapshot = Object.freeze({
    server: server.name,
    ...(server.demo && { demo: true as const }),
    at: clock.now(),
    fields: {},
    sources: [],
    polls: {},
  })

  function publish(snapshot: ServerSnapshot, at = clock.now()): void {
    current = snapshot
    receivedAt = at
    for (const listener of listeners) {
      try {
        listener(snapshot)
      } catch (error) {
        log.error({ err: error, server: server.name }, `${server.name}: a snapshot listener failed`)
      }
    }
  }

  /** If the first poll of the new owner fails, the values of the previous owner stay until they are stale, as with one watcher. */
  function withLastContact(snapshot: ServerSnapshot): ServerSnapshot {
    const { lastContact, fields } = current
    const isFresh = lastContact !== undefined && clock.now() - lastContact.at < settings.staleAfter
    return snapshot.up === false && snapshot.lastContact === undefined && isFresh
      ? Object.freeze({ ...snapshot, fields, lastContact })
      : snapshot
  }

  function takeOver(snapshot: ServerSnapshot): void {
    // Until its first poll has ended, the received snapshot is more complete.
    if (snapshot.up === undefined && snapshot.lastPollAt === undefined) return
    const shown = withLastContact(snapshot)
    publish(shown)
    onPolled(shown)
  }

  /** If true, the polling watcher itself expires values. */
  const isPolledHere = (): boolean => poller !== undefined && poller.snapshot().lastPollAt !== undefined

  const isSilent = (): boolean => !isPolledHere() && clock.now() - receivedAt >= settings.staleAfter

  function expire(): void {
    if (isClosed || !isSilent()) return
    if (current.up === undefined && current.sources.every(({ state }) => state === 'pending')) return
    const { up, mainThread, ...rest } = current
    const sources = current.sources.map(({ duration, error, resting, ...source }) => ({ ...source, state: 'pending' as const }))
    publish(Object.freeze({ ...rest, at: clock.now(), fields: {}, sources }), receivedAt)
  }

  return {
    server: server.name,
    settings,
    get isOwned() {
      return poller !== undefined
    },
    get isPolledHere() {
      return isPolledHere()
    },
    get isSilent() {
      return isSilent()
    },
    snapshot: () => current,
    start(delayMs = 0) {
      isStarted = true
      poller?.start(delayMs)
    },
    poll: async () => poller?.poll() ?? current,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    own(delayMs) {
      if (isClosed || poller !== undefined) return
      poller = createWatcher()
      poller.subscribe(takeOver)
      if (isStarted) poller.start(delayMs)
    },
    disown() {
      poller?.close()
      poller = undefined
    },
    receive(snapshot, storedMs) {
      if (isClosed || isPolledHere()) return
      const storedAt = clock.now() - storedMs
      // Ignore a stored snapshot that is older than the last published one.
      if (storedMs > 0 && current.lastPollAt !== undefined && storedAt <= receivedAt) return
      publish(snapshot, storedAt)
      expire()
    },
    expire,
    close() {
      if (isClosed) return
      isClosed = true
      poller?.close()
      poller = undefined
      listeners.clear()
      onClose()
    },
  }
}
