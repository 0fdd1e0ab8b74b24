import type { KnownFields } from './snapshot.ts'

export interface PlayerCounter {
  /** Takes note of who is on. */
  see(fields: KnownFields): void
  counts(): { readonly joins?: number; readonly leaves?: number }
}

/**
 * Counts joins and leaves: from the difference of two full player lists, or from the server's log where there is no full list.
 * A status sample shows only some of the players, so it counts nothing.
 */
export function createPlayerCounter(): PlayerCounter {
  let known: ReadonlySet<string> | undefined
  let logged: { readonly joins: number; readonly leaves: number } | undefined
  let joins: number | undefined
  let leaves: number | undefined

  return {
    see(fields) {
      const list = fields.players?.value
      const log = { joins: fields.logJoins?.value ?? 0, leaves: fields.logLeaves?.value ?? 0 }
      if (list?.complete) {
        const now = new Set(list.players.map(({ id, name }) => id ?? name))
        const came = known === undefined ? 0 : [...now].filter((player) => !known?.has(player)).length
        const went = known === undefined ? 0 : [...known].filter((player) => !now.has(player)).length
        joins = (joins ?? 0) + came
        leaves = (leaves ?? 0) + went
        known = now
      } else if (fields.logJoins !== undefined) {
        // A log that was replaced starts to count anew.
        joins = (joins ?? 0) + Math.max(0, log.joins - (logged?.joins ?? 0))
        leaves = (leaves ?? 0) + Math.max(0, log.leaves - (logged?.leaves ?? 0))
        known = undefined
      }
      logged = log
    },
    counts: () => ({ ...(joins !== undefined && { joins }), ...(leaves !== undefined && { leaves }) }),
  }
}
