import type { FleetOptions } from '../game/fleet.ts'
import type { PollSettings } from '../game/server-settings.ts'
import type { ServerSnapshot } from '../game/snapshot.ts'
import type { Clock } from '../util/clock.ts'
import type { Log } from '../util/log.ts'
import { createSharedWatcher, type SharedWatcher, type SharedWatcherOptions } from './shared-watcher.ts'

/** The watchers of a fleet whose servers are polled by one of several processes. */
export interface SharedWatchers {
  /** Creates the watcher of a server, for the fleet. */
  readonly share: NonNullable<FleetOptions['share']>
  get(server: string): SharedWatcher | undefined
  all(): Iterable<SharedWatcher>
}

export interface SharedWatchersOptions {
  readonly settings: PollSettings
  readonly clock: Clock
  readonly log: Log
  /** Called with each snapshot from polls of this process. */
  readonly onPolled: (snapshot: ServerSnapshot) => void
}

export function createSharedWatchers(options: SharedWatchersOptions): SharedWatchers {
  const watchers = new Map<string, SharedWatcher>()
  const shared: SharedWatcherOptions = {
    ...options,
    onClose(watcher) {
      // A server whose settings have changed already has another watcher.
      if (watchers.get(watcher.server) === watcher) watchers.delete(watcher.server)
    },
  }
  return {
    share(server, createWatcher) {
      const watcher = createSharedWatcher(server, createWatcher, shared)
      watchers.set(server.name, watcher)
      return watcher
    },
    get: (server) => watchers.get(server),
    all: () => watchers.values(),
  }
}
