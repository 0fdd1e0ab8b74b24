import type { Clock } from '../util/clock.ts'
import type { Log } from '../util/log.ts'
import { nameOfKey } from './server-fingerprint.ts'

export interface NameConflictsOptions {
  readonly clock: Clock
  readonly log: Log
  readonly hasKey: (key: string) => boolean
  readonly hasName: (name: string) => boolean
}

/** Milliseconds after which an equal name is logged: when an address changes, replicas read their lists one after the other. */
const afterMs = 5_000
const recentMs = 2 * afterMs

/** Logs names that other replicas use for servers at other addresses. */
export class NameConflicts {
  readonly #options: NameConflictsOptions
  /** Names that are logged, or will be unless the lists agree until then. */
  readonly #names = new Set<string>()
  /** When servers were removed here, whose addresses may just have changed in the list. */
  readonly #removedAt = new Map<string, number>()
  #isClosed = false

  constructor(options: NameConflictsOptions) {
    this.#options = options
  }

  /** Another replica has a server with this key, which this one has not. */
  check(key: string): void {
    const { clock, log, hasKey, hasName } = this.#options
    const name = nameOfKey(key)
    const isRecent = clock.now() - (this.#removedAt.get(key) ?? Number.NEGATIVE_INFINITY) < recentMs
    if (!hasName(name) || this.#names.has(name) || isRecent) return
    this.#names.add(name)
    clock.after(afterMs, () => {
      const isOver = this.#isClosed || hasKey(key) || !hasName(name)
      if (isOver) this.#names.delete(name)
      else
        log.warn(
          { server: name },
          `${name}: another replica has a server with this name and another address. Each replica polls its own: give them different names, or set another STATE_PREFIX.`,
        )
    })
  }

  removed(key: string): void {
    this.#removedAt.set(key, this.#options.clock.now())
  }

  /** To be called from time to time. */
  prune(): void {
    const now = this.#options.clock.now()
    for (const [key, at] of this.#removedAt) if (now - at >= recentMs) this.#removedAt.delete(key)
  }

  close(): void {
    this.#isClosed = true
  }
}
