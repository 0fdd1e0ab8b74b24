import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../clock.ts'
import { type Log, silentLog } from '../log.ts'
import { createLimiter } from './names/limiter.ts'
import type { Network } from './network.ts'
import type { PhaseRecorder } from './phases.ts'
import type { PollSettings, ServerSettings } from './server.ts'
import type { ServerSnapshot } from './snapshot.ts'
import type { SourceContext, SourceSet } from './sources/source.ts'
import { placeOf } from './spread.ts'
import { createConnectBackoffs, createServerBackoffs } from './watcher/connect-backoff.ts'
import { createWatcher, type Watcher } from './watcher/index.ts'
import { createWheel } from './watcher/wheel.ts'

/** Milliseconds over which the first polls are spread for each server, at most the interval: a small fleet starts at once. */
const startSpacing = 5
/** Polls that run at once: each has a socket, and thousands of servers that do not answer must not take every file descriptor. */
const maxRunningPolls = 4_096

export interface FleetOptions {
  readonly servers: readonly ServerSettings[]
  readonly poll: PollSettings
  readonly clock: Clock
  readonly log: Log
  readonly random?: () => number
  /** What the watched servers are reached through; default: the system's network, without a cache of names. */
  readonly network?: Network
  /** Called when a poll starts, with the seconds since it was due. */
  readonly onPollStart?: (delaySeconds: number) => void
  readonly createSources: (server: ServerSettings, context: SourceContext) => SourceSet
  /**
   * Where several processes share the servers: makes what stands for the watcher of a server, which polls only in one of them.
   * @param createWatcher makes the watcher that polls
   */
  readonly share?: (server: ServerSettings, createWatcher: () => Watcher) => Watcher
}

export interface ProbeOptions {
  /** What the sources reach servers through; default: the system's network, without a cache of names. */
  readonly network?: Network
  readonly phases?: PhaseRecorder
  readonly log?: Log
}

/** What an update has changed: names of servers, each in one of the lists. All are empty where only the order is another. */
export interface FleetChange {
  readonly added: readonly string[]
  /** Their settings have changed: each has a new watcher. */
  readonly changed: readonly string[]
  readonly removed: readonly string[]
}

/** All watched servers, in the order of the configuration; the first is the primary one. */
export interface Fleet {
  /** A new array after each change, the same one until then. */
  readonly servers: readonly ServerSettings[]
  /** In the order of `servers`; a new array after each change, the same one until then. */
  readonly watchers: readonly Watcher[]
  get(name: string): Watcher | undefined
  settingsOf(name: string): ServerSettings | undefined
  /**
   * Watches these servers from now on. A server whose settings are equal to those before keeps its watcher with its connections, one
   * whose settings differ gets a new watcher, and the watcher of one that is not in the list is closed.
   * @param servers in their order, each name once
   * @throws RangeError where two have the same name; then nothing has changed
   */
  update(servers: readonly ServerSettings[]): FleetChange
  /** Calls the listener after each update that changed anything; the function returned unsubscribes. */
  onChange(listener: (change: FleetChange) => void): () => void
  /** Calls the listener with each new snapshot of every server, also of those added later; the function returned unsubscribes. */
  subscribe(listener: (snapshot: ServerSnapshot) => void): () => void
  /**
   * A watcher for one poll of a server that need not be watched; the caller closes it. Nothing is logged unless a log is given:
   * the outcome is in its snapshot. Of a watched server it shares when connections may be made, so that probes with a wrong
   * password do not add to the attempts to log in.
   * @param timeout milliseconds
   */
  probe(server: ServerSettings, timeout: number, options?: ProbeOptions): Watcher
  /** Starts to poll the servers, also those that are added later. */
  start(): void
  close(): void
}

/** A value that is made from the servers once, and again after they have changed. */
export function perServers<T>(fleet: Pick<Fleet, 'servers'>, make: (servers: readonly ServerSettings[]) => T): () => T {
  let last: { readonly servers: readonly ServerSettings[]; readonly value: T } | undefined
  return () => {
    const { servers } = fleet
    if (last?.servers !== servers) last = { servers, value: make(servers) }
    return last.value
  }
}

interface Entry {
  readonly settings: ServerSettings
  readonly watcher: Watcher
}

const noChange: FleetChange = { added: [], changed: [], removed: [] }

function requireDistinctNames(servers: readonly ServerSettings[]): void {
  const names = new Set<string>()
  for (const { name } of servers) {
    if (names.has(name)) throw new RangeError(`two servers have the name ${JSON.stringify(name)}`)
    names.add(name)
  }
}

export function createFleet(options: FleetOptions): Fleet {
  const { poll, clock, log, random = Math.random, network, onPollStart = () => {}, createSources } = options
  const wheel = createWheel(clock)
  const limit = createLimiter(() => maxRunningPolls)
  const backoffs = createConnectBackoffs(clock, random)
  const snapshotListeners = new Set<(snapshot: ServerSnapshot) => void>()
  const changeListeners = new Set<(change: FleetChange) => void>()
  let entries: ReadonlyMap<string, Entry> = new Map()
  let servers: readonly ServerSettings[] = []
  let watchers: readonly Watcher[] = []
  let isStarted = false
  let isClosed = false

  const createFor = (
    server: ServerSettings,
    settings: PollSettings,
    { log, ...context }: ProbeOptions & { readonly log: Log },
    isProbe: boolean,
  ): Watcher => {
    const timed = isProbe ? clock : wheel
    const ownBackoffs = createServerBackoffs(backoffs, isProbe)
    return createWatcher({
      server: server.name,
      ...(server.demo && { demo: true as const }),
      settingNames: server.settingNames,
      settings,
      clock: timed,
      log,
      random,
      limit,
      onPollStart: (delayMs) => onPollStart(delayMs / 1_000),
      onRecovery: ownBackoffs.endPauses,
      sources: (push, requestPoll) =>
        createSources(server, {
          clock: timed,
          log,
          random,
          push,
          requestPoll,
          connectBackoff: ownBackoffs.acquire,
          ...(isProbe && { isProbe }),
          ...context,
        }),
    })
  }

  /** One listener that fails does not keep the others from being called. */
  function notify<T>(listeners: ReadonlySet<(value: T) => void>, value: T): void {
    for (const listener of listeners) {
      try {
        listener(value)
      } catch (error) {
        log.error({ err: error }, 'a listener of the servers failed')
      }
    }
  }

  function watch(settings: ServerSettings): Entry {
    const createWatcher = () => createFor(settings, poll, { log, ...(network && { network }) }, false)
    const watcher = options.share?.(settings, createWatcher) ?? createWatcher()
    watcher.subscribe((snapshot) => notify(snapshotListeners, snapshot))
    return { settings, watcher }
  }

  function startSpread(started: readonly Watcher[]): void {
    // By the name, so that a server keeps its place over restarts, whatever servers come and go.
    const span = Math.min(poll.interval, started.length * startSpacing)
    for (const watcher of started) watcher.start(placeOf(watcher.server) * span)
  }

  function update(wanted: readonly ServerSettings[]): FleetChange {
    if (isClosed) return noChange
    requireDistinctNames(wanted)
    const before = entries
    const next = new Map<string, Entry>()
    const [added, changed]: [string[], string[]] = [[], []]
    for (const settings of wanted) {
      const { name } = settings
      const entry = before.get(name)
      const isUnchanged = entry !== undefined && (entry.settings === settings || isDeepStrictEqual(entry.settings, settings))
      if (!isUnchanged) (entry === undefined ? added : changed).push(name)
      next.set(name, isUnchanged ? entry : watch(settings))
    }
    const list = [...next.values()]
    const isSame = list.length === watchers.length && list.every(({ watcher }, index) => watcher === watchers[index])
    if (isSame) return noChange
    entries = next
    servers = list.map(({ settings }) => settings)
    watchers = list.map(({ watcher }) => watcher)
    const removed = [...before.keys()].filter((name) => !next.has(name))
    // After creating the new watchers, so that the backoff of a target that both use is kept.
    for (const name of [...changed, ...removed]) before.get(name)?.watcher.close()
    if (isStarted) startSpread([...added, ...changed].flatMap((name) => next.get(name)?.watcher ?? []))
    const change = { added, changed, removed }
    notify(changeListeners, change)
    return change
  }

  update(options.servers)
  return {
    get servers() {
      return servers
    },
    get watchers() {
      return watchers
    },
    get: (name) => entries.get(name)?.watcher,
    settingsOf: (name) => entries.get(name)?.settings,
    update,
    onChange(listener) {
      changeListeners.add(listener)
      return () => changeListeners.delete(listener)
    },
    subscribe(listener) {
      snapshotListeners.add(listener)
      return () => snapshotListeners.delete(listener)
    },
    probe: (server, timeout, options) => createFor(server, { ...poll, timeout }, { log: silentLog, ...options }, true),
    start() {
      isStarted = true
      startSpread(watchers)
    },
    close() {
      isClosed = true
      for (const watcher of watchers) watcher.close()
    },
  }
}
