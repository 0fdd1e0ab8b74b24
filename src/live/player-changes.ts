import type { Player } from '../http/players.ts'
import type { Static } from '../util/schema.ts'

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
