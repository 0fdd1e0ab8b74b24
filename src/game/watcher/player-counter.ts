import type { KnownFields } from '../snapshot.ts'

export interface PlayerCounter {
  /** Compares the online players with those of the previous call. */
  update(fields: KnownFields): void
  counts(): { readonly joins?: number; readonly leaves?: number }
}

/**
 * Counts joins and leaves, from the difference between two full player lists or, if there are none, from the server's log. The
 * sample in the status is not used, since it contains only some of the players.
 */
export function createPlayerCounter(): PlayerCounter {
  let previous: ReadonlySet<string> | undefined
  let logged: { readonly joins: number; readonly leaves: number } | undefined
  let joins: number | undefined
  let leaves: number | undefined

  return {
    update(fields) {
      // The status is complete only while no players are online; joins and leaves between two such moments would be missed.
      const list = fields.players?.source === 'status' ? undefined : fields.players?.value
      const log =
        fields.logJoins === undefined ? undefined : { joins: fields.logJoins.value, leaves: fields.logLeaves?.value ?? 0 }
      if (list?.complete) {
        // By name: not every source provides ids, and the source of the list may change at any time.
        const before = previous
        const now = new Set(list.players.map(({ name }) => name))
        joins = (joins ?? 0) + (before === undefined ? 0 : [...now].filter((name) => !before.has(name)).length)
        leaves = (leaves ?? 0) + (before === undefined ? 0 : [...before].filter((name) => !now.has(name)).length)
        previous = now
      } else if (log !== undefined) {
        // Events already counted from lists are in the log too. A new log starts at 0.
        const from = logged ?? (joins === undefined ? { joins: 0, leaves: 0 } : log)
        joins = (joins ?? 0) + Math.max(0, log.joins - from.joins)
        leaves = (leaves ?? 0) + Math.max(0, log.leaves - from.leaves)
        previous = undefined
      }
      logged = log ?? logged
    },
    counts: () => ({ ...(joins !== undefined && { joins }), ...(leaves !== undefined && { leaves }) }),
  }
}
