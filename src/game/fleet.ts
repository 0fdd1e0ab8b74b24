import type { Clock } from '../clock.ts'
import { type Log, silentLog } from '../log.ts'
import type { Network } from './network.ts'
import type { PhaseRecorder } from './phases.ts'
import type { PollSettings, ServerSettings } from './server.ts'
import type { ServerSnapshot } from './snapshot.ts'
import type { SourceContext, SourceSet } from './sources/source.ts'
import { createConnectBackoffs } from './watcher/connect-backoff.ts'
import { createWatcher, type Watcher } from './watcher/index.ts'

/** Starting a server's watcher this many ms after the one before spreads a large fleet over its interval. */
const startSpacing = 5

export interface FleetOptions {
  readonly servers: readonly ServerSettings[]
  readonly poll: PollSettings
  readonly clock: Clock
  readonly log: Log
  readonly random?: () => number
  /** What the watched servers are reached through; default: the system's network, without a cache of names. */
  readonly network?: Network
  readonly createSources: (server: ServerSettings, context: SourceContext) => SourceSet
}

export interface ProbeOptions {
  /** What the sources reach servers through; default: the system's network, without a cache of names. */
  readonly network?: Network
  readonly phases?: PhaseRecorder
  readonly log?: Log
}

/** All watched servers, in the order of the configuration; the first is the primary one. */
export interface Fleet {
  readonly servers: readonly ServerSettings[]
  readonly watchers: readonly Watcher[]
  get(name: string): Watcher | undefined
  /**
   * A watcher for one poll of a server that need not be watched; the caller closes it. Nothing is logged unless a log is given:
   * the outcome is in its snapshot. Of a watched server it shares when connections may be made, so that probes with a wrong
   * password do not add to the attempts to log in.
   * @param timeout milliseconds
   */
  probe(server: ServerSettings, timeout: number, options?: ProbeOptions): Watcher
  subscribe(listener: (snapshot: ServerSnapshot) => void): () => void
  start(): void
  close(): void
}

export function createFleet(options: FleetOptions): Fleet {
  const { servers, poll, clock, log, random = Math.random, network, createSources } = options
  const backoffs = createConnectBackoffs(clock, random)
  const watch = (
    server: ServerSettings,
    settings: PollSettings,
    { log, ...context }: ProbeOptions & { readonly log: Log },
    isProbe: boolean,
  ): Watcher =>
    createWatcher({
      server: server.name,
      ...(server.demo && { demo: true as const }),
      settingNames: server.settingNames,
      settings,
      clock,
      log,
      random,
      sources: (push, requestPoll) =>
        createSources(server, {
          clock,
          log,
          random,
          push,
          requestPoll,
          connectBackoff: (source, target, secret) => backoffs.acquire(source, target, secret, isProbe),
          ...context,
        }),
    })
  const watchers = servers.map((server) => watch(server, poll, { log, ...(network && { network }) }, false))
  const byName = new Map(watchers.map((watcher) => [watcher.server, watcher]))
  return {
    servers,
    watchers,
    get: (name) => byName.get(name),
    probe: (server, timeout, options) => watch(server, { ...poll, timeout }, { log: silentLog, ...options }, true),
    subscribe(listener) {
      const ends = watchers.map((watcher) => watcher.subscribe(listener))
      return () => {
        for (const end of ends) end()
      }
    },
    start() {
      watchers.forEach((watcher, index) => {
        watcher.start((index * startSpacing) % poll.interval)
      })
    },
    close() {
      for (const watcher of watchers) watcher.close()
    },
  }
}
