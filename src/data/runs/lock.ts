import { type FileHandle, link, open, rename, rm, writeFile } from 'node:fs/promises'
import { DataDirError } from './folder.ts'
import { withGuard } from './guard.ts'
import { type Holder, heldLocks, inspectLock, type LockFile, type LockOptions, lockPath, readLock } from './lock-holder.ts'
import { machine, startTimeOf } from './process-identity.ts'

export interface RunLock {
  /** Never rejects. */
  release(): Promise<void>
}

/** Interval at which a holder updates the mtime of its lock file, milliseconds. */
const heartbeatMs = 10_000

/** Creates the lock file atomically; undefined if it exists. */
async function create(path: string, text: string): Promise<FileHandle | undefined> {
  const draft = `${path}.${process.pid}.new`
  await writeFile(draft, text)
  try {
    await link(draft, path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return undefined
    // A file system without hard links: the guard keeps other processes out.
    await writeFile(path, text, { flag: 'wx' })
  } finally {
    await rm(draft, { force: true })
  }
  return open(path, 'r+')
}

/** Removes the lock of a dead holder. @returns false if it has a new holder by now; it is then restored */
async function removeDead(path: string, { text }: LockFile): Promise<boolean> {
  const removed = `${path}.${process.pid}.dead`
  await rename(path, removed)
  try {
    const isSame = text === undefined || (await readLock(removed)) === text
    if (!isSame) await link(removed, path)
    return isSame
  } finally {
    await rm(removed, { force: true })
  }
}

/**
 * Takes the lock of a script against all processes that use the folder. The lock of an ended process of this machine is taken
 * over immediately; that of a process that cannot be checked, once this process has seen the file unchanged for a minute.
 * @returns undefined if another run holds it
 * @throws DataDirError if the lock of a dead holder cannot be removed or none can be created
 */
export async function takeLock({
  folder,
  name,
  clock,
  taken,
}: LockOptions & { readonly taken: string }): Promise<RunLock | undefined> {
  const path = lockPath(folder, name)
  const own: Holder = {
    machine,
    pid: process.pid,
    since: startTimeOf(process.pid),
    taken,
  }
  const text = JSON.stringify(own)
  let file: FileHandle | undefined
  try {
    file = await withGuard(folder, name, async () => {
      const found = await inspectLock(path, clock)
      // removeDead() checks again: a process that was suspended may wrongly believe that it still holds the guard.
      if (found !== undefined && (found.state !== 'dead' || !(await removeDead(path, found)))) return undefined
      return create(path, text)
    })
  } catch (error) {
    throw new DataDirError(folder, `has a lock file (.${name}.lock) that cannot be written`, error)
  }
  if (file === undefined) return undefined
  heldLocks.add(path)
  const lockFile = file
  const heartbeat = setInterval(() => {
    const now = new Date()
    // By file handle: after a manual removal, the path may be the lock of another process.
    lockFile.utimes(now, now).catch(() => undefined)
  }, heartbeatMs)
  heartbeat.unref()

  const isOwn = async () => (await readLock(path)) === text
  const remove = async () => {
    if (await isOwn()) await rm(path, { force: true })
  }
  return {
    async release() {
      clearInterval(heartbeat)
      // First, so that a file that cannot be removed is treated as left behind.
      heldLocks.delete(path)
      await lockFile.close().catch(() => undefined)
      // If the folder was removed, do not wait ten seconds for the guard.
      if (await isOwn()) await withGuard(folder, name, remove).catch(() => remove().catch(() => undefined))
    },
  }
}
