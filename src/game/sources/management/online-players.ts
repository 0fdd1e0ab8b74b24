import type { Clock } from '../../../util/clock.ts'
import { maxItems } from '../../check.ts'
import type { Player } from '../../fields.ts'
import type { TimedFields } from './event-pusher.ts'

/** The players that are online, from the lists and events of one server. Those beyond the maximum are only counted. */
export class OnlinePlayers {
  readonly #clock: Pick<Clock, 'now'>
  #byName: Map<string, Player> | undefined
  #unlisted = 0
  /** Monotonic milliseconds of the last list or event. */
  #readAt = 0

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  /** Replaces the list; undefined if it is unknown. */
  set(players: readonly Player[] | undefined): void {
    this.#byName = players && new Map(players.slice(0, maxItems).map((player) => [player.name, player]))
    this.#unlisted = Math.max(0, (players?.length ?? 0) - maxItems)
    if (players !== undefined) this.#readAt = this.#clock.now()
  }

  /** Adds a player. Returns false if the list is unknown. */
  joined(player: Player): boolean {
    if (this.#byName === undefined) return false
    if (this.#byName.size < maxItems || this.#byName.has(player.name)) this.#byName.set(player.name, player)
    else this.#unlisted++
    this.#readAt = this.#clock.now()
    return true
  }

  /** Removes a player. Returns false if the list is unknown, or the player is not in it. */
  left({ name }: Player): boolean {
    if (!this.#byName?.delete(name)) {
      if (this.#unlisted === 0) return false
      this.#unlisted--
    }
    this.#readAt = this.#clock.now()
    return true
  }

  /** Returns the players with the time of the last list or event; no fields if the list is unknown. */
  read(): TimedFields {
    const readAt = { players: this.#readAt, playersOnline: this.#readAt }
    if (this.#byName === undefined) return { fields: {}, readAt }
    const players = { players: [...this.#byName.values()], complete: this.#unlisted === 0 }
    return { fields: { playersOnline: this.#byName.size + this.#unlisted, players }, readAt }
  }
}
