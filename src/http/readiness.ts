import type { DiscoveryView } from '../discovery/status.ts'
import type { Fleet } from '../game/fleet.ts'
import type { ServerSettings } from '../game/server-settings.ts'
import { joinFirst } from '../util/join-first.ts'

export interface ReadinessOptions {
  readonly fleet: Pick<Fleet, 'watchers' | 'get'>
  readonly discovery?: Pick<DiscoveryView, 'status'> & {
    /** The servers of all lists, which the fleet must have. */
    readonly servers?: () => readonly Pick<ServerSettings, 'name'>[]
  }
  /** Number of servers whose state is unknown to this replica. */
  readonly unknownServers?: () => number
  /** The databases whose snapshot is still being read. */
  readonly loadingDatabases: () => readonly string[]
}

/**
 * Creates the function that lists what the service waits for before it is ready: the lists of servers, the first poll of each
 * of their servers, and the snapshots. Once every list of servers has been read, a server that is added does not make the service
 * unready. A replica is also unready while more than half of its servers are unknown to it.
 */
export function createReadiness({
  fleet,
  discovery,
  unknownServers,
  loadingDatabases,
}: ReadinessOptions): () => readonly string[] {
  const pendingLists = () => (discovery?.status() ?? []).filter(({ state }) => state === 'pending')
  function describeMissing(): readonly string[] {
    const missing = (discovery?.servers?.() ?? []).flatMap(({ name }) => (fleet.get(name) === undefined ? [`"${name}"`] : []))
    return missing.length === 0 ? [] : [`listed servers that are not watched yet: ${joinFirst(missing, ', ')}`]
  }
  function describeUnknown(): readonly string[] {
    const unknown = unknownServers?.() ?? 0
    return 2 * unknown > fleet.watchers.length ? [`the state of servers, which is unknown to this replica (${unknown})`] : []
  }
  let first = pendingLists().length === 0 ? fleet.watchers : undefined
  return function waitingFor() {
    const pending = pendingLists()
    if (pending.length === 0) first ??= fleet.watchers
    return [
      ...describeMissing(),
      ...describeUnknown(),
      ...pending.map(({ provider, name }) => `the servers of ${provider} (${name})`),
      ...(first ?? fleet.watchers)
        // A server that was removed or changed has another watcher or none.
        .filter((watcher) => fleet.get(watcher.server) === watcher && watcher.snapshot().lastPollAt === undefined)
        .map(({ server }) => `the first poll of "${server}"`),
      ...loadingDatabases().map((database) => `the snapshot of ${database}`),
    ]
  }
}
