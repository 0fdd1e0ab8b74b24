import type { SharedLock as Lock } from '../../util/part-metrics.ts'

/** Locks shared by replicas on several machines. */
export interface SharedLocks {
  /** Takes a lock; undefined if another replica holds it. Rejects if that is unknown. */
  take(name: string): Promise<SharedLock | undefined>
  value(name: string): Promise<string | undefined>
}

interface SharedLock extends Lock {
  /** Stores a value with the lock. @returns false if another replica has taken the lock since */
  set(value: string): Promise<boolean>
}

/** The shared state is unavailable, so it is unknown whether another replica runs the script. */
export class SharedLockError extends Error {
  override readonly name = 'SharedLockError'
}

const unavailable = (error: unknown): never => {
  throw new SharedLockError(`the shared state (STATE_URL) is unavailable: ${(error as Error).message}`, { cause: error })
}

/** A time that is further in the future is of a replica whose clock was wrong; clocks of replicas may differ by less. Milliseconds. */
const maxSkewMs = 3_600_000

/**
 * Takes the right to run a script, against all replicas.
 * @param due scheduled time, Unix milliseconds, the same on all replicas; undefined if the run was requested
 * @param now Unix milliseconds
 * @returns the lock, or why the script must not run: another replica runs it, or has already done the scheduled run
 * @throws SharedLockError
 */
export async function takeTurn(locks: SharedLocks, script: string, due: number | undefined, now: number) {
  const name = `run:${script}`
  const lock = await locks.take(name).catch(unavailable)
  if (lock === undefined) return 'already running'
  try {
    const last = Number((await locks.value(name)) ?? Number.NEGATIVE_INFINITY)
    // Stored before the run, so that an interrupted run is not repeated.
    const isDue = due === undefined || last < due || last > now + maxSkewMs
    if (isDue && (await lock.set(String(due ?? now)))) {
      return {
        lost: lock.lost,
        release: () => lock.release(),
        /** To be called before each side effect. @throws SharedLockError if another replica may have taken over the run */
        async confirm(): Promise<void> {
          if (!(await lock.isHeld().catch(unavailable))) throw new SharedLockError('another replica has taken over the run')
        },
      }
    }
    await lock.release()
    return 'already done'
  } catch (error) {
    await lock.release()
    return unavailable(error)
  }
}
