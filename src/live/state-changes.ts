import type { ServerSnapshot } from '../game/snapshot.ts'
import type { Player } from '../http/players.ts'
import type { Static } from '../util/schema.ts'
import type { PublishedState } from './published-states.ts'
import { difference, downReason } from './state.ts'

type PlayerList = readonly Static<typeof Player>[]

/**
 * The players who joined and left between two full lists. They are compared by name, because not every source has the ids and
 * another source may take over at any time.
 */
export function playerChanges(before: PlayerList, now: PlayerList) {
  const [old, current] = [new Set(before.map(({ NAME }) => NAME)), new Set(now.map(({ NAME }) => NAME))]
  return {
    joined: now.filter(({ NAME }) => !old.has(NAME)),
    left: before.filter(({ NAME }) => !current.has(NAME)),
  }
}

/** The name of an event, and the members of its data after `server`. */
export type StateChange = readonly [name: string, data: object]

/**
 * The events to send after a state has changed, in their order.
 * @param maxPlayers maximum number of players who joined and left; of more, a single event `players` is sent
 */
export function* stateChanges(
  before: PublishedState,
  next: PublishedState,
  snapshot: ServerSnapshot,
  maxPlayers = Number.POSITIVE_INFINITY,
): Generator<StateChange> {
  const { state, at } = next
  const changed = difference(before.state, state)
  if (changed !== undefined) yield ['change', { at, ...changed }]
  if (state.up === true && before.lastKnownUp === false) yield ['up', { at }]
  if (state.up === false && before.lastKnownUp === true) yield ['down', { at, error: downReason(snapshot) }]
  // A list that is unknown now is still the one before.
  if (before.players === null || next.players === null || before.players === next.players) return
  const { joined, left } = playerChanges(before.players, next.players)
  if (joined.length + left.length > maxPlayers) {
    yield ['players', { at }]
    return
  }
  for (const player of left) yield ['leave', { at, player }]
  for (const player of joined) yield ['join', { at, player }]
}
