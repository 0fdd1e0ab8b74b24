import { stat, utimes } from 'node:fs/promises'
import type { LockOptions } from 'proper-lockfile'
import { load } from './load.ts'

/** A lock of a running process that has not been renewed for this long belongs to one that was killed. Milliseconds. */
const staleMs = 3_000
/** Milliseconds between two attempts. */
const retryMs = 250

/** Milliseconds by which a busy process may renew its lock late. */
const lateMs = 2_000
/** How far in the future the library sets the time of a lock that it takes, milliseconds. */
const leadMs = 1_005

let taken = 0

/**
 * Makes a lock stale whose time is in the future and which its holder does not renew: it was killed before the clock was set back. The
 * library would wait for that time.
 */
async function expireFutureLock(path: string, updateMs: number): Promise<void> {
  const readTime = () =>
    stat(path).then(
      ({ mtimeMs }) => mtimeMs,
      () => 0,
    )
  const time = await readTime()
  if (time <= Date.now() + leadMs) return
  for (let waited = 0; waited < updateMs + lateMs; waited += retryMs) {
    await new Promise((resolve) => setTimeout(resolve, retryMs))
    if ((await readTime()) !== time) return
  }
  await utimes(path, 0, 0).catch(() => {})
}

/**
 * Takes a lock: a folder whose time the library updates.
 * @param path of that folder
 * @returns a function that releases it
 */
export async function acquireLock(
  path: string,
  { retries = 0, stale, update = stale / 2, ...options }: LockOptions & { readonly stale: number },
): Promise<() => Promise<void>> {
  await expireFutureLock(path, update)
  const { lock } = load<typeof import('proper-lockfile')>('proper-lockfile')
  // The library identifies a lock by its first argument. If that were the same for two locks, one of them at a time or both, its timer
  // would throw after the other one has been released, or removed by hand.
  const name = `${path}.${++taken}`
  const all = { ...options, stale, update, lockfilePath: path, realpath: false }
  try {
    return await lock(name, all)
  } catch (error) {
    // The library would try again after any error, such as that of a read-only disk.
    if (retries === 0 || (error as NodeJS.ErrnoException).code !== 'ELOCKED') throw error
    return lock(name, { ...all, retries })
  }
}

/**
 * Takes a lock for as long as this process runs. Waits until the lock of a process that was killed is stale.
 * @param onLost called with the reason if another process may have taken it
 * @returns a function that releases it and never rejects
 * @throws Error of the system, with the code ELOCKED if another process holds it
 */
export async function holdLock(path: string, onLost: (reason: string) => void): Promise<() => Promise<void>> {
  const release = await acquireLock(path, {
    stale: staleMs,
    update: staleMs / 3,
    retries: { retries: Math.ceil(staleMs / retryMs) + 4, factor: 1, minTimeout: retryMs, maxTimeout: retryMs },
    onCompromised: ({ message }) => onLost(message),
  })
  // It fails if the folder was removed.
  return () => release().catch(() => {})
}

/**
 * Runs a short action while no other process runs it, and waits for those that do. A process that was killed during it delays the others
 * by five seconds.
 * @param path of the lock
 * @throws Error of the system, with the code ELOCKED if the lock is not free within about ten seconds
 */
export async function withLock<T>(path: string, action: () => Promise<T>): Promise<T> {
  const release = await acquireLock(path, {
    stale: 5_000,
    // After a suspension, or if the lock was removed: release() rejects too.
    onCompromised: () => undefined,
    retries: { retries: 60, factor: 1.2, minTimeout: 10, maxTimeout: 250, randomize: true },
  })
  try {
    return await action()
  } finally {
    await release().catch(() => undefined)
  }
}
