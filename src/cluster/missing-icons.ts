import type { ServerSnapshot } from '../game/snapshot.ts'
import type { Clock } from '../util/clock.ts'
import type { StateConnection } from './connection.ts'
import type { IconStore } from './icon-store.ts'
import type { StateKeys } from './keys.ts'
import { type DecodedSnapshot, withIcon } from './snapshot-codec.ts'

export interface MissingIconsOptions {
  readonly connection: StateConnection
  readonly keys: StateKeys
  readonly icons: IconStore
  readonly clock: Clock
  /** Called when an icon of the shared state is not valid. */
  readonly onInvalid: () => void
}

interface Waiting {
  readonly decoded: Required<DecodedSnapshot>
  readonly apply: (snapshot: ServerSnapshot) => void
}

/** Maximum number of icons that are read with one command. */
const maxBatch = 64
/** Milliseconds before an icon that is not in the shared state is requested again. */
const retryMs = 10_000

/** Reads the icons of snapshots of other replicas that are not in memory. */
export class MissingIcons {
  readonly #options: MissingIconsOptions
  /** The newest snapshots that were applied without their icon, by the key of the server. */
  readonly #waiting = new Map<string, Waiting>()
  /** Monotonic milliseconds at which icons were requested that are not in the shared state. */
  readonly #absent = new Map<string, number>()
  #isFetching = false

  constructor(options: MissingIconsOptions) {
    this.#options = options
  }

  /** Reads icons. @throws StateUnavailable */
  async fetch(hashes: Iterable<string>): Promise<void> {
    const { connection, keys, icons, clock, onInvalid } = this.#options
    const missing = [...new Set(hashes)].filter((hash) => icons.get(hash) === undefined && !this.#isAbsent(hash))
    for (let start = 0; start < missing.length; start += maxBatch) {
      const batch = missing.slice(start, start + maxBatch)
      const found = await connection.run('reads', (redis) => redis.mgetBuffer(batch.map(keys.icon)))
      for (const [index, hash] of batch.entries()) {
        const icon = found[index]
        // Not the buffer itself, which is a part of the whole reply.
        const isFound = icon != null && icons.hashOf(Buffer.from(icon)) === hash
        if (!isFound) this.#absent.set(hash, clock.now())
        if (icon != null && !isFound) onInvalid()
      }
    }
  }

  /** Returns the snapshot with its icon, if that is in memory. */
  complete({ snapshot, missingIcon }: DecodedSnapshot): ServerSnapshot {
    const icon = missingIcon && this.#options.icons.get(missingIcon.hash)
    return missingIcon === undefined || icon === undefined ? snapshot : withIcon(snapshot, missingIcon, icon)
  }

  /** Applies the newest snapshot of a server, and again with its icon once that has been read, unless a newer one follows. */
  apply(key: string, { snapshot, missingIcon }: DecodedSnapshot, apply: (snapshot: ServerSnapshot) => void): void {
    this.#waiting.delete(key)
    apply(snapshot)
    if (missingIcon === undefined || this.#isAbsent(missingIcon.hash)) return
    this.#waiting.set(key, { decoded: { snapshot, missingIcon }, apply })
    void this.#fetchAll()
  }

  /** Drops what is not needed any more; to be called from time to time. */
  prune(isWatched: (key: string) => boolean): void {
    for (const key of this.#waiting.keys()) if (!isWatched(key)) this.#waiting.delete(key)
    for (const hash of this.#absent.keys()) if (!this.#isAbsent(hash)) this.#absent.delete(hash)
  }

  #isAbsent(hash: string): boolean {
    return this.#options.clock.now() - (this.#absent.get(hash) ?? -retryMs) < retryMs
  }

  async #fetchAll(): Promise<void> {
    if (this.#isFetching) return
    this.#isFetching = true
    try {
      while (this.#waiting.size > 0) {
        const batch = [...this.#waiting].slice(0, maxBatch)
        await this.fetch(batch.map(([, { decoded }]) => decoded.missingIcon.hash))
        for (const [key, waiting] of batch) {
          // A newer snapshot may have arrived.
          if (this.#waiting.get(key) !== waiting) continue
          this.#waiting.delete(key)
          const { decoded, apply } = waiting
          if (this.#options.icons.get(decoded.missingIcon.hash) !== undefined) apply(this.complete(decoded))
        }
      }
    } catch {
      // Not kept: they would be used as new ones later. The next snapshot of each server lacks the icon too.
      this.#waiting.clear()
    } finally {
      this.#isFetching = false
    }
  }
}
