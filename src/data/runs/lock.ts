import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { acquireLock } from '../../util/file-lock.ts'
import { DataDirError } from './folder.ts'

interface RunLock {
  /** Aborted if the lock is lost: it was removed, or this process was suspended until another one took it. */
  readonly lost: AbortSignal
  /** Never rejects. */
  release(): Promise<void>
}

/** Milliseconds after which a lock that its holder has not updated is free: the process was killed or is suspended. */
export const staleMs = 60_000
const updateMs = 10_000

export const lockPath = (folder: string, name: string): string => join(folder, `.${name}.lock`)

/**
 * Takes the lock of a script against all processes that use the folder.
 * @returns undefined if another run holds it
 * @throws DataDirError if it cannot be created
 */
export async function takeLock(folder: string, name: string): Promise<RunLock | undefined> {
  const path = lockPath(folder, name)
  const lost = new AbortController()
  try {
    const release = await acquireLock(path, { stale: staleMs, update: updateMs, onCompromised: (error) => lost.abort(error) })
    return { lost: lost.signal, release: () => release().catch(() => undefined) }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ELOCKED') return undefined
    if (code === 'ENOTDIR') {
      // A file: the lock of an earlier version.
      await rm(path, { force: true })
      return takeLock(folder, name)
    }
    throw new DataDirError(folder, `has a lock (.${name}.lock) that cannot be taken`, error)
  }
}

/** Whether a run of any process that uses the folder holds the lock of a script. One far in the future is of a clock that was set back. */
export const isLocked = (folder: string, name: string): Promise<boolean> =>
  stat(lockPath(folder, name)).then(
    ({ mtimeMs }) => Math.abs(Date.now() - mtimeMs) <= staleMs,
    () => false,
  )
