/** Locks that replicas on several machines have in common. */
export interface SharedLocks {
  /** Takes a lock; undefined where it is held. Rejects where it is unknown whether it is. */
  take(name: string): Promise<SharedLock | undefined>
  /** What was stored under the lock. */
  value(name: string): Promise<string | undefined>
}

export interface SharedLock {
  /** Aborted when another replica has, or may have, taken the lock. */
  readonly lost: AbortSignal
  /** Whether no other replica has taken it since. */
  isHeld(): Promise<boolean>
  /** @returns false where another replica has taken the lock since */
  set(value: string): Promise<boolean>
  /** Never rejects. */
  release(): Promise<void>
}

/** The replicas have no state in common at the moment: whether one of them runs the script is unknown. */
export class SharedLockError extends Error {
  override readonly name = 'SharedLockError'
}

export interface SharedTurn {
  readonly lock: SharedLock
  /** Before each effect. @throws SharedLockError where another replica may have one too */
  confirm(): Promise<void>
}

/**
 * Takes the turn to run a script, against all replicas.
 * @param due Unix milliseconds for which the run is scheduled, by which all replicas would run it; undefined: whenever it is asked for
 * @param now Unix milliseconds
 * @returns where it may not run: whether another replica runs it, or has run it at that time or later
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
    // Before the run: one that is cut off must not have its effects twice.
    if ((due === undefined || last < due) && (await lock.set(String(due ?? now)))) return { lock, confirm: createConfirm(lock) }
    await lock.release()
    return 'already done'
  } catch (error) {
    await lock?.release()
    throw unavailable(error)
  }
}

const unavailable = (error: unknown): SharedLockError =>
  new SharedLockError(`the shared state (STATE_URL) cannot be used: ${(error as Error).message}`, { cause: error })

const createConfirm = (lock: SharedLock) => async (): Promise<void> => {
  const isHeld = await lock.isHeld().catch((error: unknown) => {
    throw unavailable(error)
  })
  if (!isHeld) throw new SharedLockError('another replica has taken the run over')
}
