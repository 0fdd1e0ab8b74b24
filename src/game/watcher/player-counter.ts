import type { Player } from '../fields.ts'
import type { KnownFields } from '../snapshot.ts'

/**
 * Returns the number of players in `list` who are not in `other`. By name: not every source provides ids, and the source of the list
 * may change at any time.
 */
function countMissing(list: readonly Player[], other: readonly Player[]): number {
  const names = new Set(other.map(({ name }) => name))
  return new Set(list.flatMap(({ name }) => (names.has(name) ? [] : name))).size
}

/**
 * Counts joins and leaves, from the difference between two full player lists or, if there are none, from the server's log. The
 * sample in the status is not used, since it contains only some of the players.
 */
export class PlayerCounter {
  /** The previous full list: the array of the last snapshot, which takes no extra memory. */
  #previous: readonly Player[] | undefined
  #logged: { readonly joins: number; readonly leaves: number } | undefined
  #joins: number | undefined
  #leaves: number | undefined

  /** Compares the online players with those of the previous call. */
  update(fields: KnownFields): void {
    // The status is complete only while no players are online; joins and leaves between two such moments would be missed.
    const list = fields.players?.source === 'status' ? undefined : fields.players?.value
    const log = fields.logJoins === undefined ? undefined : { joins: fields.logJoins.value, leaves: fields.logLeaves?.value ?? 0 }
    if (list?.complete) {
      const before = this.#previous ?? list.players
      this.#previous = list.players
      // Most polls find the same list.
      if (before === list.players) this.#add(0, 0)
      else this.#add(countMissing(list.players, before), countMissing(before, list.players))
    } else if (log !== undefined) {
      // Events already counted from lists are in the log too. A new log starts at 0.
      const from = this.#logged ?? (this.#joins === undefined ? { joins: 0, leaves: 0 } : log)
      this.#add(Math.max(0, log.joins - from.joins), Math.max(0, log.leaves - from.leaves))
      this.#previous = undefined
    }
    this.#logged = log ?? this.#logged
  }

  counts(): { readonly joins?: number; readonly leaves?: number } {
    const [joins, leaves] = [this.#joins, this.#leaves]
    return { ...(joins !== undefined && { joins }), ...(leaves !== undefined && { leaves }) }
  }

  #add(joins: number, leaves: number): void {
    this.#joins = (this.#joins ?? 0) + joins
    this.#leaves = (this.#leaves ?? 0) + leaves
  }
}
