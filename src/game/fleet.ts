import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../util/clock.ts'
import { createLimiter } from '../util/limiter.ts'
import { type Log, silentLog } from '../util/log.ts'
import type { Network } from './network.ts'
import type { PhaseRecorder } from './phases.ts'
import { isSameServer, type PollSettings, type ServerSettings } from './server-settings.ts'
import type { ServerSnapshot } from './snapshot.ts'
import type { SourceContext, SourceSet } from './sources/source.ts'
import { placeOf } from './spread.ts'
import { createConnectBackoffs, type SessionBackoff } from './watcher/connect-backoff.ts'
import { SourceWatcher, type Watcher } from './watcher/index.ts'
import { createWheel } from './watcher/wheel.ts'

/** The first polls are spread over this many milliseconds per server, at most one interval: a small fleet starts immediately. */
const startSpacing = 5
/** The part of the interval over which the first polls are spread, so that the last one ends within the interval. */
const startShare = 0.95
/**
 * Milliseconds within which polls that are due start together, if there are no more of them: the process is woken up less often
 * (`npm run bench -- fleet --servers=100 --interval=1000`).
 */
const batch = { ms: 50, maxPolls: 20 } as const
/** Maximum number of concurrent polls: each has a socket, and thousands of silent servers must not use up all file descriptors. */
const maxRunningPolls = 4_096

export interface FleetOptions {
  readonly servers: readonly ServerSettings[]
  readonly poll: PollSettings
  readonly clock: Clock
  readonly log: Log
  readonly random?: () => number
  /** Network access to the watched servers; default: the system's network, without a name cache. */
  readonly network?: Network
  /** Called when a poll starts, with the seconds since it was due. */
  readonly onPollStart?: (delaySeconds: number) => void
  /** Called with the sources that were found in the directory of a server. */
  readonly onDiscovery?: (server: string, text: string) => void
  readonly createSources: (server: ServerSettings, context: SourceContext) => SourceSet
  /**
   * If several processes share the servers: creates the watcher of a server, which polls in only one of them.
   * @param createWatcher creates the watcher that polls
   */
  readonly share?: (server: ServerSettings, createWatcher: () => Watcher) => Watcher
}

export interface ProbeOptions {
  /** Network access of the sources; default: the system's network, without a name cache. */
  readonly network?: Network
  readonly phases?: PhaseRecorder
  readonly log?: Log
}

/** The changes of an update: names of servers. All lists are empty if only the order has changed. */
export interface FleetChange {
  readonly added: readonly string[]
  /** Servers whose settings have changed; each has a new watcher. */
  readonly changed: readonly string[]
  /**
   * Those of `changed` whose settings now locate another server: earlier values of them are not valid any more. Absent if there
   * are none.
   */
  readonly replaced?: readonly string[]
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
   * Replaces the watched servers. A server with unchanged settings keeps its watcher and its connections, one with changed
   * settings gets a new watcher, and the watcher of a server that is not in the list is closed.
   * @param servers in order, with unique names
   * @throws RangeError if two have the same name; then nothing has changed
   */
  update(servers: readonly ServerSettings[]): FleetChange
  /** Calls the listener after each update that changed anything; the returned function unsubscribes. */
  onChange(listener: (change: FleetChange) => void): () => void
  /**
   * Calls the listener with each new snapshot of every server, including servers added later; the returned function
   * unsubscribes.
   */
  subscribe(listener: (snapshot: ServerSnapshot) => void): () => void
  /**
   * Creates a watcher for a single poll of a server, watched or not; the caller closes it. Without a log nothing is logged. It
   * shares the connection backoff of a watched server, so that probes with a wrong password cause no further logins.
   * @param timeout milliseconds
   */
  probe(server: ServerSettings, timeout: number, options?: ProbeOptions): Watcher
  /** Starts polling the servers, including those added later. */
  start(): void
  close(): void
}

/** A value computed from the servers once, and again after they have changed. */
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

/** The persistent connections of a server. Most have none, and an array takes less memory than a Set. */
const noSessions: readonly SessionBackoff[] = []

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
  // One closure for all servers, which may be thousands.
  const pollStarted = (delayMs: number) => onPollStart(delayMs / 1_000)
  const align = (at: number) => {
    const areMany = servers.length * batch.ms > poll.interval * batch.maxPolls
    return areMany ? at : Math.floor(at / batch.ms) * batch.ms
  }
  const notifySnapshot = (snapshot: ServerSnapshot) => notify(snapshotListeners, snapshot)

  const createFor = (
    server: ServerSettings,
    settings: PollSettings,
    { log, ...context }: ProbeOptions & { readonly log: Log },
    isProbe: boolean,
  ): Watcher => {
    const timed = isProbe ? clock : wheel
    let sessions = noSessions
    return new SourceWatcher({
      server: server.name,
      ...(server.demo && { demo: true as const }),
      settingNames: server.settingNames,
      settings,
      clock: timed,
      log,
      random,
      limit,
      align,
      onPollStart: pollStarted,
      onRecovery: () => sessions.forEach((session) => void session.endPause()),
      sources: (push, requestPoll) =>
        createSources(server, {
          clock: timed,
          log,
          random,
          push,
          requestPoll,
          connectBackoff(source, target, secret) {
            const session = backoffs.acquire(source, target, secret, isProbe)
            sessions = sessions.filter(({ isReleased }) => !isReleased).concat(session)
            return session
          },
          ...(isProbe && { isProbe }),
          // Only then, to save the memory of a closure.
          ...(!isProbe && server.sources.directory && { onDiscovery: (text) => options.onDiscovery?.(server.name, text) }),
          ...context,
        }),
    })
  }

  /** If one listener throws, the others are still called. */
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
    watcher.subscribe(notifySnapshot)
    return { settings, watcher }
  }

  function startSpread(started: readonly Watcher[]): void {
    // Derived from the name, so that a server keeps its offset across restarts, whatever other servers are added or removed.
    const span = Math.min(poll.interval * startShare, started.length * startSpacing)
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
    // After creating the new watchers, so that a backoff shared by both is kept.
    for (const name of [...changed, ...removed]) before.get(name)?.watcher.close()
    if (isStarted) startSpread([...added, ...changed].flatMap((name) => next.get(name)?.watcher ?? []))
    const isReplaced = (name: string) => {
      const [old, now] = [before.get(name), next.get(name)]
      return old !== undefined && now !== undefined && !isSameServer(old.settings, now.settings)
    }
    const replaced = changed.filter(isReplaced)
    const change = { added, changed, removed, ...(replaced.length > 0 && { replaced }) }
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
