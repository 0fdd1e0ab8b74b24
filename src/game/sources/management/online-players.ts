import type { Clock } from '../../../clock.ts'
import type { Player } from '../../fields.ts'
import type { TimedFields } from './event-pusher.ts'

const maxPlayers = 10_000

/** The players that are online, from the lists and events of one server. */
export interface OnlinePlayers {
  /** Replaces the list; undefined if it is unknown. */
  set(players: readonly Player[] | undefined): void
  /** Adds a player. Returns false if the list is unknown or full. */
  joined(player: Player): boolean
  /** Removes a player. Returns false if the list is unknown, or the player is not in it. */
  left(player: Player): boolean
  /** Returns the players with the time of the last list or event; no fields if the list is unknown. */
  read(): TimedFields
}

export function createOnlinePlayers(clock: Pick<Clock, 'now'>): OnlinePlayers {
  let byName: Map<string, Player> | undefined
  /** Monotonic milliseconds of the last list or event. */
  let readAt = 0
  return {
    set(players) {
      byName = players && new Map(players.map((player) => [player.name, player]))
      if (byName !== undefined) readAt = clock.now()
    },
    joined(player) {
      if (byName === undefined || byName.size >= maxPlayers) return false
      byName.set(player.name, player)
      readAt = clock.now()
      return true
    },
    left({ name }) {
      if (!byName?.delete(name)) return false
      readAt = clock.now()
      return true
    },
    read() {
      const times = { players: readAt, playersOnline: readAt }
      if (byName === undefined) return { fields: {}, readAt: times }
      return { fields: { playersOnline: byName.size, players: { players: [...byName.values()], complete: true } }, readAt: times }
    },
  }
}
