import { createHash } from 'node:crypto'
import type { ServerSnapshot } from '../game/snapshot.ts'

/** The icons of all servers by hash, without duplicates. */
export interface IconStore {
  /** The hash of an icon, which is stored if it is new. */
  hashOf(icon: Buffer): string
  get(hash: string): Buffer | undefined
  add(hash: string, icon: Buffer): void
  /** Removes the icons that are in none of these snapshots. @returns the number of snapshots with an icon */
  keepOnly(snapshots: Iterable<ServerSnapshot>): number
}

export function createIconStore(): IconStore {
  const byHash = new Map<string, Buffer>()
  /** A source returns the same buffer as long as the icon does not change. */
  const hashes = new WeakMap<Buffer, string>()

  function hashOf(icon: Buffer): string {
    const before = hashes.get(icon)
    if (before !== undefined) return before
    const hash = createHash('sha1').update(icon).digest('base64url')
    hashes.set(icon, hash)
    if (!byHash.has(hash)) byHash.set(hash, icon)
    return hash
  }

  return {
    hashOf,
    get: (hash) => byHash.get(hash),
    add(hash, icon) {
      byHash.set(hash, icon)
      hashes.set(icon, hash)
    },
    keepOnly(snapshots) {
      const used = new Set<string>()
      let count = 0
      for (const { fields } of snapshots) {
        if (fields.favicon === undefined) continue
        used.add(hashOf(fields.favicon.value))
        count++
      }
      for (const hash of byHash.keys()) if (!used.has(hash)) byHash.delete(hash)
      return count
    },
  }
}
