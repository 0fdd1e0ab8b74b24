import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { holdLock } from '../../util/file-lock.ts'
import type { Log } from '../../util/log.ts'
import { fileName } from './open-store.ts'

/**
 * Locks the database of the history, which only one process may write: two would add up what each has recorded. Waits until the lock
 * of a process that was killed is stale.
 * @param onLost called, after it is logged, if another process has taken the lock: this one was suspended
 * @returns a function that releases it; undefined if another process holds it, which is logged
 */
export async function lockFolder(folder: string, log: Log, onLost: () => void): Promise<(() => Promise<void>) | undefined> {
  try {
    // That of the file itself, which may be a link.
    const file = await realpath(join(folder, fileName)).catch(async () => join(await realpath(folder), fileName))
    return await holdLock(`${file}.lock`, (reason) => {
      log.error(
        { folder, reason },
        `${folder}: another process may write the history, so this one writes no more; restart it to record again`,
      )
      onLost()
    })
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
