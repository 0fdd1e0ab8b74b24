/** Spreads every bit of a 32-bit integer over all of its bits (the finalizer of MurmurHash3). */
function mix(value: number): number {
  let bits = value
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return (bits ^ (bits >>> 16)) >>> 0
}

/** FNV-1a of the UTF-16 code units, mixed. The same on every machine. */
export function hashText(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return mix(hash)
}

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
      const weight = mix(serverHash ^ hash)
      // With equal weights, the first member by id.
      if (weight > highest) [owner, highest] = [id, weight]
    }
    return owner
  }
}
