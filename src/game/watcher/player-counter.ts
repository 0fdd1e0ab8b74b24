import type { KnownFields } from '../snapshot.ts'

export interface PlayerCounter {
  /** Compares who is on with the last time. */
  update(fields: KnownFields): void
  counts(): { readonly joins?: number; readonly leaves?: number }
}

/**
 * Counts joins and leaves: from the difference between two full player lists, or from the server's log where there is no full list.
 * A status sample shows only some of the players, so it counts nothing.
 */
export function createPlayerCounter(): PlayerCounter {
  let known: ReadonlySet<string> | undefined
  let logged: { readonly joins: number; readonly leaves: number } | undefined
  let joins: number | undefined
  let leaves: number | undefined

  return {
    update(fields) {
      // The status is complete only while nobody is on: between two such moments any number came and went.
      const list = fields.players?.source === 'status' ? undefined : fields.players?.value
      const log =
        fields.logJoins === undefined ? undefined : { joins: fields.logJoins.value, leaves: fields.logLeaves?.value ?? 0 }
      if (list?.complete) {
        // By name: not every source knows the ids, and another source may take over at any time.
        const before = known
        const now = new Set(list.players.map(({ name }) => name))
        joins = (joins ?? 0) + (before === undefined ? 0 : [...now].filter((name) => !before.has(name)).length)
        leaves = (leaves ?? 0) + (before === undefined ? 0 : [...before].filter((name) => !now.has(name)).length)
        known = now
      } else if (log !== undefined) {
        // What was counted from lists so far is in the log's count too. A log that was replaced starts at 0.
        const from = logged ?? (joins === undefined ? { joins: 0, leaves: 0 } : log)
        joins = (joins ?? 0) + Math.max(0, log.joins - from.joins)
        leaves = (leaves ?? 0) + Math.max(0, log.leaves - from.leaves)
        known = undefined
      }
      logged = log ?? logged
    },
    counts: () => ({ ...(joins !== undefined && { joins }), ...(leaves !== undefined && { leaves }) }),
  }
}
