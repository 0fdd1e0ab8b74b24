import type { Clock } from '../util/clock.ts'
import type { Log } from '../util/log.ts'
import { nameOfKey } from './server-fingerprint.ts'

export interface NameConflictsOptions {
  readonly clock: Clock
  readonly log: Log
  readonly hasKey: (key: string) => boolean
  readonly hasName: (name: string) => boolean
  /** Aborted when the replica leaves. */
  readonly signal: AbortSignal
}

/** Milliseconds after which an equal name is logged: when an address changes, replicas read their lists one after the other. */
const afterMs = 5_000

/** Logs names that other replicas use for servers at other addresses. */
export class NameConflicts {
  readonly #options: NameConflictsOptions
  /** Names that are logged, will be unless the lists agree until then, or whose addresses here have just changed. */
  readonly #names = new Set<string>()

  constructor(options: NameConflictsOptions) {
    this.#options = options
  }

  /** Another replica has a server with this key, which this one has not. */
  check(key: string): void {
    const { clock, log, hasKey, hasName, signal } = this.#options
    const name = nameOfKey(key)
    if (!hasName(name) || this.#names.has(name)) return
    this.#names.add(name)
    clock.after(afterMs, () => {
      const isOver = signal.aborted || hasKey(key) || !hasName(name)
      if (isOver) this.#names.delete(name)
      else
        log.warn(
          { server: name },
          `${name}: another replica has a server with this name and another address. Each replica polls its own: give them different names, or set another STATE_PREFIX.`,
        )
    })
  }

  /** The address of a server has changed here, or it was removed: other replicas may still have the previous one for a while. */
  changed(name: string): void {
    const { clock, signal } = this.#options
    if (signal.aborted) return
    this.#names.add(name)
    clock.after(2 * afterMs, () => this.#names.delete(name))
  }
}
