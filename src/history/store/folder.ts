import { access, constants, realpath } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { checkWritable, createFolder } from '../../util/create-folder.ts'
import { holdLock } from '../../util/file-lock.ts'
import type { Log } from '../../util/log.ts'
import { type FolderSettings, stateFolderOf } from '../settings.ts'
import { fileName } from './open-store.ts'

export interface HistoryFolder {
  readonly folder: string
  /** Where an earlier version kept its files. */
  readonly oldFolder: string
  /** True: there is a database that can be read and not written. */
  readonly isReadOnly: boolean
  /** To be called after the database has been closed: another process may write to it then. */
  release(): Promise<void>
}

/**
 * Creates and locks the folder of the database.
 * @param onLost called, after it is logged, if another process has taken the lock: this one was suspended
 * @returns undefined if there is no folder that can be used, which is logged
 */
export async function claimFolder(settings: FolderSettings, log: Log, onLost: () => void): Promise<HistoryFolder | undefined> {
  const inMemory = 'the history is kept in memory only and lost when the service stops'
  const given = stateFolderOf(settings)
  if (given === undefined) {
    log.info(`No data folder is set, so ${inMemory}; set HISTORY_DIR to keep it.`)
    return undefined
  }
  const folder = resolve(given)
  const oldFolder = settings.historyDir === undefined ? join(folder, 'history') : folder
  const file = join(folder, fileName)
  try {
    await createFolder(folder)
    await checkWritable(folder)
    await access(file, constants.W_OK).catch(ignoreMissing)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const reason = code === 'EEXIST' ? 'it is a file' : (code ?? message)
    const cannot = `${folder} cannot be written to (${reason}), so`
    const advice = 'set HISTORY_DIR to a folder that this user may write to'
    const isReadable = await access(file, constants.R_OK).then(
      () => true,
      () => false,
    )
    if (isReadable) log.warn({ folder, reason }, `${cannot} its history is shown and nothing is added to it; ${advice}`)
    else log.warn({ folder, reason }, `${cannot} ${inMemory}; ${advice}`)
    return isReadable ? { folder, oldFolder, isReadOnly: true, release: async () => {} } : undefined
  }
  const release = await lockFolder(folder, log, onLost)
  return release && { folder, oldFolder, isReadOnly: false, release }
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}

/**
 * Locks the database, which only one process may write: two would add up what each has recorded. Waits until the lock of a process that
 * was killed is stale.
 * @returns undefined if another process holds it, which is logged
 */
async function lockFolder(folder: string, log: Log, onLost: () => void): Promise<(() => Promise<void>) | undefined> {
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
