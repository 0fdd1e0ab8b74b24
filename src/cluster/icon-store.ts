import { createHash } from 'node:crypto'
import type { ServerSnapshot } from '../game/snapshot.ts'

/** The icons of all servers by hash, without duplicates. */
export class IconStore {
  readonly #byHash = new Map<string, Buffer>()
  /** A source returns the same buffer as long as the icon does not change. */
  readonly #hashes = new WeakMap<Buffer, string>()

  /** The hash of an icon, which is stored if it is new. */
  hashOf(icon: Buffer): string {
    const before = this.#hashes.get(icon)
    if (before !== undefined) return before
    const hash = createHash('sha1').update(icon).digest('base64url')
    this.#hashes.set(icon, hash)
    if (!this.#byHash.has(hash)) this.#byHash.set(hash, icon)
    return hash
  }

  get(hash: string): Buffer | undefined {
    return this.#byHash.get(hash)
  }

  /** Removes the icons that are in none of these snapshots. */
  keepOnly(snapshots: Iterable<ServerSnapshot>): void {
    const used = new Set<string>()
    for (const { fields } of snapshots) if (fields.favicon !== undefined) used.add(this.hashOf(fields.favicon.value))
    for (const hash of this.#byHash.keys()) if (!used.has(hash)) this.#byHash.delete(hash)
  }
}
