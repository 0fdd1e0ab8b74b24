import { createFleet } from '../game/fleet.ts'
import { createNetwork } from '../game/network.ts'
import type { ServerSnapshot } from '../game/snapshot.ts'
import { createSources } from '../game/sources/create-sources.ts'
import { silentLog } from '../util/log.ts'
import { libraryClock as clock } from './clock.ts'
import { parseWatchOptions, type ServerOptions } from './options.ts'

export interface WatchOptions extends ServerOptions {
  /** Milliseconds between two polls; default 5000. */
  readonly interval?: number
  /** Milliseconds that one poll may take; default 3000. */
  readonly timeout?: number
  /** Milliseconds after which a value is treated as unknown; default: three intervals, or one interval and timeout if that is longer. */
  readonly staleAfter?: number
  /** Closes the watcher when it is aborted. */
  readonly signal?: AbortSignal
}

/**
 * Watches one server. Iterating it yields the newest snapshot, then each new one, until the watcher is closed. A slow consumer skips
 * snapshots and always gets the newest one. Several loops may iterate at the same time.
 */
export interface ServerWatcher extends AsyncIterable<ServerSnapshot> {
  /** Returns the newest snapshot, which has no fields until the first poll ends. */
  snapshot(): ServerSnapshot
  /** Stops polling, closes the connections and ends every loop. */
  close(): void
}

/**
 * Polls a Minecraft server until the watcher is closed. The process stays alive until then. An unreachable server is not an error:
 * its snapshots have `up: false` and the reason in `sources`.
 * @throws TypeError naming every invalid option
 */
export function watch({ signal, ...options }: WatchOptions): ServerWatcher {
  const { server, poll } = parseWatchOptions(options)
  const network = createNetwork({ clock, servers: 1 })
  const fleet = createFleet({ servers: [server], poll, clock, log: silentLog, network, createSources })
  const [watcher] = fleet.watchers
  if (watcher === undefined) throw new Error('a fleet of one server has no watcher')
  const newest = () => watcher.snapshot()
  const first = newest()
  const waiting = new Set<() => void>()
  let isClosed = false

  function wake(): void {
    for (const resume of waiting) resume()
    waiting.clear()
  }

  async function* snapshots(): AsyncGenerator<ServerSnapshot, void> {
    let last = first
    while (!isClosed) {
      const snapshot = newest()
      if (snapshot === last) await new Promise<void>((resume) => waiting.add(resume))
      else {
        last = snapshot
        yield snapshot
      }
    }
  }

  function close(): void {
    if (isClosed) return
    isClosed = true
    signal?.removeEventListener('abort', close)
    fleet.close()
    network.close()
    wake()
  }

  watcher.subscribe(wake)
  if (signal?.aborted) close()
  else {
    signal?.addEventListener('abort', close, { once: true })
    fleet.start()
  }
  return { snapshot: newest, close, [Symbol.asyncIterator]: snapshots }
}
