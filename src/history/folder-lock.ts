import { join } from 'node:path'
import { lock } from 'proper-lockfile'
import type { Log } from '../util/log.ts'
import { fileName } from './open-store.ts'

/** A lock that has not been renewed for this long belongs to a process that was killed. Milliseconds. */
const staleMs = 3_000
/** Milliseconds between two attempts. */
const retryMs = 250

/**
 * Locks the database of the history, which only one process may write: two would add up what each has recorded. Waits until the lock
 * of a process that was killed is stale.
 * @returns a function that releases it; undefined if another process holds it, which is logged
 */
export async function lockFolder(folder: string, log: Log): Promise<(() => Promise<void>) | undefined> {
  try {
    const release = await lock(folder, {
      lockfilePath: join(folder, `${fileName}.lock`),
      stale: staleMs,
      update: staleMs / 3,
      retries: { retries: Math.ceil(staleMs / retryMs) + 4, factor: 1, minTimeout: retryMs, maxTimeout: retryMs },
      onCompromised: ({ message }) => log.error({ folder, reason: message }, `${folder}: another process may write the history`),
    })
    // It fails if the folder was removed.
    return () => release().catch(() => {})
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const cause = code === 'ELOCKED' ? 'is used by another process' : `cannot be locked (${code ?? message})`
    log.warn(
      { folder, reason: code ?? message },
      `${folder} ${cause}, so this one keeps the history in memory only; set HISTORY_DIR to another folder`,
    )
    return undefined
  }
}
