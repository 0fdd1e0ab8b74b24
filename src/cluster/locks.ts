import type { Clock } from '../util/clock.ts'
import type { StateConnection } from './connection.ts'
import type { StateKeys } from './keys.ts'

/** Locks for external side effects, so that only one replica causes them. */
export interface Locks {
  /**
   * Takes the lock, unless it is held.
   * @throws StateUnavailable
   */
  take(name: string): Promise<FencedLock | undefined>
  /**
   * Returns the value stored with the lock.
   * @throws StateUnavailable
   */
  value(name: string): Promise<string | undefined>
}

/** A lock that expires if its holder dies. Its token is higher than those of all previous holders. */
export interface FencedLock {
  readonly token: number
  /** Aborted when another holder has, or may have, taken the lock. */
  readonly lost: AbortSignal
  /**
   * Checks with the server whether the lock is still held. To be called before each side effect.
   * @throws StateUnavailable
   */
  isHeld(): Promise<boolean>
  /**
   * Stores a value, unless a later holder has taken the lock.
   * @returns false if it was not stored
   * @throws StateUnavailable
   */
  set(value: string): Promise<boolean>
  /** Never rejects. */
  release(): Promise<void>
}

export interface LocksOptions {
  readonly connection: StateConnection
  readonly keys: StateKeys
  readonly clock: Clock
  /** Milliseconds after which the lock of a dead holder expires. */
  readonly expiryMs?: number
}

export function createLocks({ connection, keys, clock, expiryMs = 30_000 }: LocksOptions): Locks {
  return {
    async take(name) {
      const [lock, counter] = [keys.lock(name), keys.lockCounter(name)]
      const token = await connection.run('locks', (redis) => redis.stateLock(lock, counter, expiryMs))
      return token === 0 ? undefined : holdLock(name, token)
    },
    value: async (name) => (await connection.run('locks', (redis) => redis.get(keys.lockValue(name)))) ?? undefined,
  }

  function holdLock(name: string, token: number): FencedLock {
    const [lock, counter] = [keys.lock(name), keys.lockCounter(name)]
    const lost = new AbortController()
    let renewedAt = clock.now()
    let isReleased = false
    let cancel = () => {}

    async function renew(): Promise<boolean> {
      const sentAt = clock.now()
      const isHeld = (await connection.run('locks', (redis) => redis.stateRenew(lock, counter, token, expiryMs))) === 1
      if (isHeld) renewedAt = sentAt
      else lost.abort(new Error(`another replica has taken the lock "${name}"`))
      return isHeld
    }

    function scheduleRenewal(): void {
      cancel = clock.after(expiryMs / 3, async () => {
        try {
          await renew()
        } catch {
          if (clock.now() - renewedAt >= expiryMs) lost.abort(new Error(`the lock "${name}" could not be renewed`))
        }
        if (!isReleased && !lost.signal.aborted) scheduleRenewal()
      })
    }

    scheduleRenewal()
    return {
      token,
      lost: lost.signal,
      isHeld: renew,
      set: async (value) =>
        (await connection.run('locks', (redis) => redis.stateFencedSet(counter, keys.lockValue(name), token, value))) === 1,
      async release() {
        isReleased = true
        cancel()
        try {
          await connection.run('locks', (redis) => redis.stateUnlock(lock, counter, token))
        } catch {
          // It expires.
        }
      },
    }
  }
}
