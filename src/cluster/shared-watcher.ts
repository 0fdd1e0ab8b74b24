import type { Clock } from '../clock.ts'
import type { PollSettings, ServerSettings } from '../game/server.ts'
import type { ServerSnapshot } from '../game/snapshot.ts'
import type { Watcher } from '../game/watcher/index.ts'
import type { Log } from '../log.ts'

/**
 * The watcher of a server that one of several processes polls. Where this process is the one, it has a watcher that polls; else it
 * passes on the snapshots that it receives. When the server moves, the last snapshot stays until there is one of the new owner.
 */
export interface SharedWatcher extends Watcher {
  readonly isOwned: boolean
  /** Whether its snapshots are of this process: it has polled the server since it owns it. */
  readonly isPolledHere: boolean
  /** @param delayMs before the first poll */
  own(delayMs: number): void
  disown(): void
  /**
   * Takes a snapshot of the process that polls the server; ignored while this one does.
   * @param storedMs for one that was stored, milliseconds since then; 0 for one that has just been published
   */
  receive(snapshot: ServerSnapshot, storedMs: number): void
  /** Where the process that polls the server has been silent for `staleAfter`, nothing is known of it any more. */
  expire(): void
}

export interface SharedWatcherOptions {
  readonly server: ServerSettings
  readonly settings: PollSettings
  readonly clock: Clock
  readonly log: Log
  /** Makes what polls the server. */
  readonly createWatcher: () => Watcher
  /** Called with each snapshot that this process makes. */
  readonly onPolled: (snapshot: ServerSnapshot) => void
  readonly onClose: () => void
}

export function createSharedWatcher(options: SharedWatcherOptions): SharedWatcher {
  const { server, settings, clock, log, createWatcher, onPolled, onClose } = options
  const listeners = new Set<(snapshot: ServerSnapshot) => void>()
  let poller: Watcher | undefined
  let isStarted = false
  let isClosed = false
  /** Monotonic milliseconds of the last word from the process that polls the server. */
  let heardAt = clock.now()
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
    heardAt = at
    for (const listener of listeners) {
      try {
        listener(snapshot)
      } catch (error) {
        log.error({ err: error, server: server.name }, `${server.name}: a listener of its snapshots failed`)
      }
    }
  }

  /** The new watcher could not reach the server. What the one before had read is shown until it is stale, as with one watcher. */
  function withLastContact(snapshot: ServerSnapshot): ServerSnapshot {
    const { lastContact, fields } = current
    const isFresh = lastContact !== undefined && clock.now() - lastContact.at < settings.staleAfter
    return snapshot.up === false && snapshot.lastContact === undefined && isFresh
      ? Object.freeze({ ...snapshot, fields, lastContact })
      : snapshot
  }

  function takeOver(snapshot: ServerSnapshot): void {
    // Before its first poll has ended it knows less than was received.
    if (snapshot.up === undefined && snapshot.lastPollAt === undefined) return
    const shown = withLastContact(snapshot)
    publish(shown)
    onPolled(shown)
  }

  /** Then the watcher says itself what is stale, and whether the server is up. */
  const isPolledHere = (): boolean => poller !== undefined && poller.snapshot().lastPollAt !== undefined

  function expire(): void {
    const isSilent = clock.now() - heardAt >= settings.staleAfter
    if (isClosed || !isSilent || isPolledHere()) return
    if (current.up === undefined && current.sources.every(({ state }) => state === 'pending')) return
    const { up, mainThread, ...rest } = current
    const sources = current.sources.map(({ duration, error, resting, ...source }) => ({ ...source, state: 'pending' as const }))
    publish(Object.freeze({ ...rest, at: clock.now(), fields: {}, sources }), heardAt)
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
      // What was published since is newer than what was stored.
      if (storedMs > 0 && current.lastPollAt !== undefined && storedAt <= heardAt) return
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
