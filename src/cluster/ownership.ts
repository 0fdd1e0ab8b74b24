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

/** Which member polls each server. */
export type Ownership = (server: string) => string | undefined

/**
 * Rendezvous hashing (highest random weight): each member computes the same owners by itself, and when a member joins or leaves,
 * only the servers that it gains or had move.
 * @param members ids of the living members, in any order; each counts once
 * @returns gives the owner of a server; undefined if there are no members
 */
export function createOwnership(members: Iterable<string>): Ownership {
  const hashed = [...new Set(members)].sort().map((id) => ({ id, hash: hashText(id) }))
  return (server) => {
    const serverHash = hashText(server)
    let owner: string | undefined
    let highest = -1
    for (const { id, hash } of hashed) {
      const weight = mix(serverHash ^ hash)
      // Of two members with the same weight the first by id.
      if (weight > highest) [owner, highest] = [id, weight]
    }
    return owner
  }
}
