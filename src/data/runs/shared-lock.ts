/** Locks shared by replicas on several machines. */
export interface SharedLocks {
  /** Takes a lock; undefined if another replica holds it. Rejects if that is unknown. */
  take(name: string): Promise<SharedLock | undefined>
  /** The value stored with the lock. */
  value(name: string): Promise<string | undefined>
}

export interface SharedLock {
  /** Aborted when another replica has, or may have, taken the lock. */
  readonly lost: AbortSignal
  /** Whether this replica still holds it. */
  isHeld(): Promise<boolean>
  /** Stores a value with the lock. @returns false if another replica has taken the lock since */
  set(value: string): Promise<boolean>
  /** Never rejects. */
  release(): Promise<void>
}

/** The shared state is unavailable, so it is unknown whether another replica runs the script. */
export class SharedLockError extends Error {
  override readonly name = 'SharedLockError'
}

export interface SharedTurn {
  readonly lock: SharedLock
  /** To be called before each side effect. @throws SharedLockError if another replica may have taken over the run */
  confirm(): Promise<void>
}

/**
 * Takes the right to run a script, against all replicas.
 * @param due scheduled time, Unix milliseconds, the same on all replicas; undefined if the run was requested
 * @param now Unix milliseconds
 * @returns the turn, or why the script must not run: another replica runs it, or has already done the scheduled run
 * @throws SharedLockError
 */
export async function takeTurn(
  locks: SharedLocks,
  script: string,
  due: number | undefined,
  now: number,
): Promise<SharedTurn | 'already running' | 'already done'> {
  const name = `run:${script}`
  let lock: SharedLock | undefined
  try {
    lock = await locks.take(name)
    if (lock === undefined) return 'already running'
    const last = Number((await locks.value(name)) ?? Number.NEGATIVE_INFINITY)
    // Stored before the run, so that an interrupted run is not repeated.
    if ((due === undefined || last < due) && (await lock.set(String(due ?? now)))) return { lock, confirm: createConfirm(lock) }
    await lock.release()
    return 'already done'
  } catch (error) {
    await lock?.release()
    throw unavailable(error)
  }
}

const unavailable = (error: unknown): SharedLockError =>
  new SharedLockError(`the shared state (STATE_URL) is unavailable: ${(error as Error).message}`, { cause: error })

const createConfirm = (lock: SharedLock) => async (): Promise<void> => {
  const isHeld = await lock.isHeld().catch((error: unknown) => {
    throw unavailable(error)
  })
  if (!isHeld) throw new SharedLockError('another replica has taken over the run')
}
