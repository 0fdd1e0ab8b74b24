import { hashText, mixBits } from '../game/spread.ts'

/** Returns the member that polls a server. */
export type Ownership = (server: string) => string | undefined

/**
 * Rendezvous hashing (highest random weight): every member computes the same owners, and when a member joins or leaves,
 * only its own servers move.
 * @param members ids of the live members, in any order; duplicates are ignored
 * @returns a function from a server to its owner; undefined if there are no members
 */
export function createOwnership(members: Iterable<string>): Ownership {
  const hashed = [...new Set(members)].sort().map((id) => ({ id, hash: hashText(id) }))
  return (server) => {
    const serverHash = hashText(server)
    let owner: string | undefined
    let highest = -1
    for (const { id, hash } of hashed) {
      const weight = mixBits(serverHash ^ hash)
      // With equal weights, the first member by id.
      if (weight > highest) [owner, highest] = [id, weight]
    }
    return owner
  }
}
