import { createHash } from 'node:crypto'
import type { ServerSnapshot } from '../game/snapshot.ts'

/** Milliseconds for which the shared state keeps an icon, and after which it is written again. */
export const iconExpiryMs = 3_600_000
const rewriteMs = iconExpiryMs / 3

/** The icons of all servers by hash, without duplicates. Snapshots are exchanged with the hash; each icon has its own key. */
export class IconStore {
  readonly #byHash = new Map<string, Buffer>()
  /** A source returns the same buffer as long as the icon does not change. */
  readonly #hashes = new WeakMap<Buffer, string>()
  /** Monotonic milliseconds at which this process has written icons, by their hash. */
  readonly #writtenAt = new Map<string, number>()

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

  /** The hashes of icons in the texts of snapshots that are not in memory. */
  missingIn(texts: readonly string[]): readonly string[] {
    const hashes = texts.flatMap((text) => Array.from(text.matchAll(/"favicon":\["([\w-]{27})"/g), ([, hash = '']) => hash))
    return [...new Set(hashes)].filter((hash) => !this.#byHash.has(hash))
  }

  /** The icons of snapshots that are to be written, by their hash. */
  toWrite(snapshots: readonly ServerSnapshot[], now: number): ReadonlyMap<string, Buffer> {
    const icons = snapshots.flatMap(({ fields: { favicon } }) => favicon?.value ?? [])
    const isDue = (hash: string) => now - (this.#writtenAt.get(hash) ?? Number.NEGATIVE_INFINITY) > rewriteMs
    return new Map(icons.map((icon) => [this.hashOf(icon), icon] as const).filter(([hash]) => isDue(hash)))
  }

  written(hashes: Iterable<string>, now: number): void {
    for (const hash of hashes) this.#writtenAt.set(hash, now)
  }

  /** Removes the icons that are in none of these snapshots; to be called from time to time. */
  keepOnly(snapshots: Iterable<ServerSnapshot>): void {
    const used = new Set<string>()
    for (const { fields } of snapshots) if (fields.favicon !== undefined) used.add(this.hashOf(fields.favicon.value))
    for (const map of [this.#byHash, this.#writtenAt]) for (const hash of map.keys()) if (!used.has(hash)) map.delete(hash)
  }
}
