import type { Clock } from '../util/clock.ts'
import type { StateConnection } from './connection.ts'

export interface LocksOptions {
  readonly connection: StateConnection
  readonly clock: Clock
  /** Milliseconds after which the lock of a dead holder expires; default 30,000. */
  readonly expiryMs?: number
}

/** Locks for external side effects, so that only one replica causes them. */
export class Locks {
  readonly #options: Required<LocksOptions>

  constructor(options: LocksOptions) {
    this.#options = { expiryMs: 30_000, ...options }
  }

  /**
   * Takes the lock, unless it is held.
   * @throws StateUnavailable
   */
  async take(name: string): Promise<FencedLock | undefined> {
    const { connection, expiryMs } = this.#options
    const { keys } = connection
    const args = [keys.lock(name), keys.lockCounter(name), expiryMs] as const
    const token = await connection.run('locks', (redis) => redis.stateLock(...args))
    return token === 0 ? undefined : new FencedLock(name, token, this.#options)
  }

  /**
   * Returns the value stored with the lock.
   * @throws StateUnavailable
   */
  async value(name: string): Promise<string | undefined> {
    const { connection } = this.#options
    return (await connection.run('locks', (redis) => redis.get(connection.keys.lockValue(name)))) ?? undefined
  }
}

/** A lock that expires if its holder dies. */
export class FencedLock {
  /** Higher than those of all previous holders. */
  readonly token: number
  readonly #name: string
  readonly #options: Required<LocksOptions>
  readonly #lost = new AbortController()
  #renewedAt: number
  #isReleased = false
  #cancel = () => {}

  constructor(name: string, token: number, options: Required<LocksOptions>) {
    this.#name = name
    this.token = token
    this.#options = options
    this.#renewedAt = options.clock.now()
    this.#scheduleRenewal()
  }

  /** Aborted when another holder has, or may have, taken the lock. */
  get lost(): AbortSignal {
    return this.#lost.signal
  }

  /**
   * Checks with the server whether the lock is still held, and renews it. To be called before each side effect.
   * @throws StateUnavailable
   */
  async isHeld(): Promise<boolean> {
    const { connection, clock, expiryMs } = this.#options
    const sentAt = clock.now()
    const isHeld = await this.#set(connection.keys.lock(this.#name), this.token, expiryMs)
    if (isHeld) this.#renewedAt = sentAt
    else this.#lost.abort(new Error(`another replica has taken the lock "${this.#name}"`))
    return isHeld
  }

  /**
   * Stores a value, unless a later holder has taken the lock.
   * @returns false if it was not stored
   * @throws StateUnavailable
   */
  set(value: string): Promise<boolean> {
    return this.#set(this.#options.connection.keys.lockValue(this.#name), value, 0)
  }

  /** Never rejects. */
  async release(): Promise<void> {
    this.#isReleased = true
    this.#cancel()
    // If that fails, it expires.
    await this.#set(this.#options.connection.keys.lock(this.#name), this.token, -1).catch(() => {})
  }

  /** Sets a key, unless a later holder has taken the lock. */
  async #set(key: string, value: string | number, expiryMs: number): Promise<boolean> {
    const { connection } = this.#options
    const args = [connection.keys.lockCounter(this.#name), key, this.token, value, expiryMs] as const
    return (await connection.run('locks', (redis) => redis.stateFencedSet(...args))) === 1
  }

  #scheduleRenewal(): void {
    const { clock, expiryMs } = this.#options
    this.#cancel = clock.after(expiryMs / 3, async () => {
      try {
        await this.isHeld()
      } catch {
        if (clock.now() - this.#renewedAt >= expiryMs)
          this.#lost.abort(new Error(`the lock "${this.#name}" could not be renewed`))
      }
      if (!this.#isReleased && !this.#lost.signal.aborted) this.#scheduleRenewal()
    })
  }
}
