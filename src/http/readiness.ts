import type { DiscoveryView } from '../discovery/status.ts'
import type { Fleet } from '../game/fleet.ts'

export interface ReadinessOptions {
  readonly fleet: Pick<Fleet, 'watchers' | 'get'>
  readonly discovery?: Pick<DiscoveryView, 'status'>
  /** The databases whose snapshot is still being read. */
  readonly loadingDatabases: () => readonly string[]
}

/**
 * Creates the function that lists what the service waits for before it is ready: the lists of servers, the first poll of each
 * of their servers, and the snapshots. Once every list of servers has been read, a server that is added does not make the service
 * unready.
 */
export function createReadiness({ fleet, discovery, loadingDatabases }: ReadinessOptions): () => readonly string[] {
  const pendingLists = () => (discovery?.status() ?? []).filter(({ state }) => state === 'pending')
  let first = pendingLists().length === 0 ? fleet.watchers : undefined
  return function waitingFor() {
    const pending = pendingLists()
    if (pending.length === 0) first ??= fleet.watchers
    return [
      ...pending.map(({ provider, name }) => `the servers of ${provider} (${name})`),
      ...(first ?? fleet.watchers)
        // A server that was removed or changed has another watcher or none.
        .filter((watcher) => fleet.get(watcher.server) === watcher && watcher.snapshot().lastPollAt === undefined)
        .map(({ server }) => `the first poll of "${server}"`),
      ...loadingDatabases().map((database) => `the snapshot of ${database}`),
    ]
  }
}
