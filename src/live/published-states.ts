import type { Fleet } from '../game/fleet.ts'
import type { ServerSnapshot } from '../game/snapshot.ts'
import type { Clock } from '../util/clock.ts'
import { type LiveState, type SentState, type ToState, wallOf } from './state.ts'

export interface PublishedState {
  readonly state: SentState
  /** Unix milliseconds. */
  readonly at: number
  /** The last full player list, kept while the list is unknown. */
  readonly players: LiveState['players']
  /** Whether the server was up when that was last known. */
  readonly lastKnownUp: LiveState['up']
}

/**
 * The last state of each server that clients have been sent, or would have been sent.
 * @param sendsPlayers false: states are without the list of players
 */
export function createPublishedStates(fleet: Fleet, clock: Clock, toState: ToState, sendsPlayers = true) {
  const states = new Map<string, PublishedState>()

  /** Replaces the state of a server, and returns the new one. */
  function update(snapshot: ServerSnapshot): PublishedState {
    const { server } = snapshot
    const full = toState(snapshot)
    const { players: list, ...others } = full
    const state = sendsPlayers ? full : others
    const before = states.get(server)
    const players = list ?? before?.players ?? null
    const lastKnownUp = state.up ?? before?.lastKnownUp ?? null
    const published = { state, at: wallOf(snapshot, clock), players, lastKnownUp }
    states.set(server, published)
    return published
  }

  return {
    has: (server: string): boolean => states.has(server),
    get: (server: string): PublishedState | undefined => states.get(server),
    /** Like `get`, but reads the state of a server that has none yet; undefined if it is not watched. */
    read(server: string): PublishedState | undefined {
      const state = states.get(server)
      const watcher = state === undefined ? fleet.get(server) : undefined
      return watcher === undefined ? state : update(watcher.snapshot())
    },
    update,
    /** Forgets what events compare with: the server was replaced by another one. */
    replace(server: string): void {
      const before = states.get(server)
      if (before !== undefined) states.set(server, { ...before, players: null, lastKnownUp: null })
    },
    delete: (server: string): void => void states.delete(server),
    clear: (): void => states.clear(),
  }
}

export type PublishedStates = ReturnType<typeof createPublishedStates>
