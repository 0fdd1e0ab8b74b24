import { maxListed } from '../view/players.ts'
import type { FoundPlayers, ListedPlayer, ServerDetails } from '../view/types.ts'

/** Times of the same list differ by a rounding error. */
const toleranceMs = 10

interface PlayerMessage {
  /** Unix milliseconds. */
  readonly at: number
  readonly player: ListedPlayer
}

const isSame = (a: ListedPlayer, b: ListedPlayer): boolean => a.NAME === b.NAME

/** A list after a player has joined, who is its first one, or left. */
function change({ players, total }: FoundPlayers, event: 'join' | 'leave', player: ListedPlayer): FoundPlayers {
  const others = players.filter((other) => !isSame(other, player))
  return event === 'join'
    ? { players: [player, ...others].slice(0, maxListed), total: total + 1 }
    : { players: others, total: Math.max(others.length, total - 1) }
}

/** The details after an event about a player; the same if they have it already. The sessions are those of the shown players. */
export function applyPlayer(details: ServerDetails, event: 'join' | 'leave', { at, player }: PlayerMessage): ServerDetails {
  const { server, listed, sessions } = details
  const { players } = server.state
  if (listed === null || players === null || at <= listed.at + toleranceMs) return details
  const next = change({ players, total: listed.total }, event, player)
  const before = sessions?.find((session) => session.isOnline && isSame(session.player, player))
  const session =
    event === 'join'
      ? { player, from: at, to: null, isOnline: true }
      : { player, from: before?.from ?? null, to: at, isOnline: false }
  return {
    ...details,
    server: { ...server, state: { ...server.state, players: next.players } },
    // The other changes of the same poll have the same time.
    listed: { total: next.total, at: listed.at },
    sessions: sessions && [session, ...sessions.filter((other) => other !== before)],
  }
}

/** The result of a search after an event about a player. */
export const applyToFound = (
  found: FoundPlayers,
  text: string,
  event: 'join' | 'leave',
  { player }: PlayerMessage,
): FoundPlayers => (player.NAME.toLowerCase().includes(text.toLowerCase()) ? change(found, event, player) : found)
