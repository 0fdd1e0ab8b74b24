import { createHash } from 'node:crypto'
import type { IconStore } from './snapshot-codec.ts'

/** The icons of all servers by hash, without duplicates. */
export interface Icons extends IconStore {
  add(hash: string, icon: Buffer): void
  /** Removes all other icons. */
  keepOnly(hashes: ReadonlySet<string>): void
}

export function createIcons(): Icons {
  const byHash = new Map<string, Buffer>()
  /** A source returns the same buffer as long as the icon does not change. */
  const hashes = new WeakMap<Buffer, string>()
  return {
    hashOf(icon) {
      const before = hashes.get(icon)
      if (before !== undefined) return before
      const hash = createHash('sha1').update(icon).digest('base64url')
      hashes.set(icon, hash)
      if (!byHash.has(hash)) byHash.set(hash, icon)
      return hash
    },
    get: (hash) => byHash.get(hash),
    add(hash, icon) {
      byHash.set(hash, icon)
      hashes.set(icon, hash)
    },
    keepOnly(wanted) {
      for (const hash of byHash.keys()) if (!wanted.has(hash)) byHash.delete(hash)
    },
  }
}
