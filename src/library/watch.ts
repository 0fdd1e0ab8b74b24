import { createFleet } from '../game/fleet.ts'
import { createNetwork } from '../game/network.ts'
import type { ServerSnapshot } from '../game/snapshot.ts'
import { createSources } from '../game/sources/create-sources.ts'
import { silentLog } from '../log.ts'
import { libraryClock as clock } from './clock.ts'
import { parseWatchOptions, type ServerOptions } from './options.ts'

export interface WatchOptions extends ServerOptions {
  /** Milliseconds between two polls; default 5000. */
  readonly interval?: number
  /** Milliseconds that one poll may take; default 3000. */
  readonly timeout?: number
  /** Milliseconds after which a value that was not read again is unknown; default three intervals. */
  readonly staleAfter?: number
  /** Closes the watcher when it is aborted. */
  readonly signal?: AbortSignal
}

/**
 * A server that is being watched. Iterating it yields each new snapshot, starting with the newest one, and ends when the watcher is
 * closed. A loop that is slower than the snapshots gets the newest one each time and misses those between. There may be several loops.
 */
export interface ServerWatcher extends AsyncIterable<ServerSnapshot> {
  /** The newest snapshot; before the end of the first poll one without fields. */
  snapshot(): ServerSnapshot
  /** Ends polling, open connections and every loop. */
  close(): void
}

/**
 * Polls a Minecraft server until the watcher is closed, which also keeps the process alive. A server that cannot be reached is not an
 * error: its snapshots say `up: false` and, in `sources`, why.
 * @throws TypeError that names every option that does not fit
 */
export function watch({ signal, ...options }: WatchOptions): ServerWatcher {
  const { server, poll } = parseWatchOptions(options)
  const network = createNetwork({ clock, servers: 1 })
  const fleet = createFleet({ servers: [server], poll, clock, log: silentLog, network, createSources })
  const [watcher] = fleet.watchers
  if (watcher === undefined) throw new Error('a fleet of one server has no watcher')
  const newest = watcher.snapshot
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
