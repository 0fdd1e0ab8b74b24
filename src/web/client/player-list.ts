import { maxListed } from '../view/players.ts'
import type { ListedPlayer, ServerDetails } from '../view/types.ts'

/** Times of the same list differ by a rounding error. */
const toleranceMs = 10

interface PlayerMessage {
  /** Unix milliseconds. */
  readonly at: number
  readonly player: ListedPlayer
}

const isSame = (a: ListedPlayer, b: ListedPlayer): boolean => a.NAME === b.NAME

/** The details after an event about a player; the same if they have it already. The sessions are those of the shown players. */
export function applyPlayer(details: ServerDetails, event: 'join' | 'leave', { at, player }: PlayerMessage): ServerDetails {
  const { server, listed, sessions } = details
  const { players } = server.state
  if (listed === null || players === null || at <= listed.at + toleranceMs) return details
  const others = players.filter((other) => !isSame(other, player))
  const [shown, total] =
    event === 'join'
      ? [[player, ...others].slice(0, maxListed), listed.total + 1]
      : [others, Math.max(others.length, listed.total - 1)]
  const before = sessions?.find((session) => session.isOnline && isSame(session.player, player))
  const session =
    event === 'join'
      ? { player, from: at, to: null, isOnline: true }
      : { player, from: before?.from ?? null, to: at, isOnline: false }
  return {
    ...details,
    server: { ...server, state: { ...server.state, players: shown } },
    // The other changes of the same poll have the same time.
    listed: { total, at: listed.at },
    sessions: sessions && [session, ...sessions.filter((other) => other !== before)],
  }
}
