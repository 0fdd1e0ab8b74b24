import type { Clock } from '../clock.ts'
import type { Fleet } from '../game/fleet.ts'
import type { ServerSnapshot } from '../game/snapshot.ts'
import { type LiveState, type ToState, wallOf } from './state.ts'

export interface PublishedState {
  readonly state: LiveState
  /** Unix milliseconds. */
  readonly at: number
  /** The last full player list, kept while the list is unknown. */
  readonly players: LiveState['players']
}

/** The last state of each server that clients have been sent, or would have been sent. */
export interface PublishedStates {
  has(server: string): boolean
  get(server: string): PublishedState | undefined
  /** Like `get`, but reads the state of a server that has none yet; undefined if it is not watched. */
  read(server: string): PublishedState | undefined
  /** Replaces the state of a server, and returns the new one. */
  update(snapshot: ServerSnapshot): PublishedState
  delete(server: string): void
  clear(): void
}

export function createPublishedStates(fleet: Fleet, clock: Clock, toState: ToState): PublishedStates {
  const states = new Map<string, PublishedState>()

  function update(snapshot: ServerSnapshot): PublishedState {
    const { server } = snapshot
    const state = toState(snapshot, fleet.get(server)?.settings.staleAfter ?? Number.POSITIVE_INFINITY)
    const players = state.players ?? states.get(server)?.players ?? null
    const published = { state, at: wallOf(snapshot, clock), players }
    states.set(server, published)
    return published
  }

  return {
    has: (server) => states.has(server),
    get: (server) => states.get(server),
    read(server) {
      const state = states.get(server)
      const watcher = state === undefined ? fleet.get(server) : undefined
      return watcher === undefined ? state : update(watcher.snapshot())
    },
    update,
    delete: (server) => void states.delete(server),
    clear: () => states.clear(),
  }
}
