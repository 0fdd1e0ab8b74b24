import type { Clock } from '../../../util/clock.ts'
import type { Player } from '../../fields.ts'
import type { TimedFields } from './event-pusher.ts'

/** Maximum number of players that are listed. */
const maxPlayers = 10_000

/** The players that are online, from the lists and events of one server. Those beyond the maximum are only counted. */
export interface OnlinePlayers {
  /** Replaces the list; undefined if it is unknown. */
  set(players: readonly Player[] | undefined): void
  /** Adds a player. Returns false if the list is unknown. */
  joined(player: Player): boolean
  /** Removes a player. Returns false if the list is unknown, or the player is not in it. */
  left(player: Player): boolean
  /** Returns the players with the time of the last list or event; no fields if the list is unknown. */
  read(): TimedFields
}

export function createOnlinePlayers(clock: Pick<Clock, 'now'>): OnlinePlayers {
  let byName: Map<string, Player> | undefined
  let unlisted = 0
  /** Monotonic milliseconds of the last list or event. */
  let readAt = 0
  return {
    set(players) {
      byName = players && new Map(players.slice(0, maxPlayers).map((player) => [player.name, player]))
      unlisted = Math.max(0, (players?.length ?? 0) - maxPlayers)
      if (byName !== undefined) readAt = clock.now()
    },
    joined(player) {
      if (byName === undefined) return false
      if (byName.size < maxPlayers || byName.has(player.name)) byName.set(player.name, player)
      else unlisted++
      readAt = clock.now()
      return true
    },
    left({ name }) {
      if (!byName?.delete(name)) {
        if (unlisted === 0) return false
        unlisted--
      }
      readAt = clock.now()
      return true
    },
    read() {
      const times = { players: readAt, playersOnline: readAt }
      if (byName === undefined) return { fields: {}, readAt: times }
      const players = { players: [...byName.values()], complete: unlisted === 0 }
      return { fields: { playersOnline: byName.size + unlisted, players }, readAt: times }
    },
  }
}
