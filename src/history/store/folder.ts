import { access, constants } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { checkWritable, createFolder } from '../../util/create-folder.ts'
import type { Log } from '../../util/log.ts'
import { fileName } from './open-store.ts'

export interface FolderSettings {
  readonly historyDir: string | undefined
  readonly dataDir: string | undefined
}

export interface HistoryFolder {
  readonly folder: string
  /** Where an earlier version kept its files. */
  readonly oldFolder: string
  /** True: there is a database that can be read and not written. */
  readonly isReadOnly: boolean
}

/**
 * Creates the folder of the database: HISTORY_DIR, else DATA_DIR. There is no other default: the packaged sample data belong to the
 * installation, and a temporary folder would only seem to be persistent.
 * @returns undefined if there is no folder that can be used, which is logged
 */
export async function openFolder({ historyDir, dataDir }: FolderSettings, log: Log): Promise<HistoryFolder | undefined> {
  const inMemory = 'the history is kept in memory only and lost when the service stops'
  const given = historyDir ?? dataDir
  if (given === undefined) {
    log.info(`No data folder is set, so ${inMemory}; set HISTORY_DIR to keep it.`)
    return undefined
  }
  const folder = resolve(given)
  const oldFolder = historyDir === undefined ? join(folder, 'history') : folder
  const file = join(folder, fileName)
  try {
    await createFolder(folder)
    await checkWritable(folder)
    await access(file, constants.W_OK).catch(ignoreMissing)
    return { folder, oldFolder, isReadOnly: false }
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? (error as Error).message
    const cannot = `${folder} cannot be written to (${reason}), so`
    const advice = 'set HISTORY_DIR to a folder that this user may write to'
    const isReadable = await access(file, constants.R_OK).then(
      () => true,
      () => false,
    )
    if (isReadable) log.warn({ folder, reason }, `${cannot} its history is shown and nothing is added to it; ${advice}`)
    else log.warn({ folder, reason }, `${cannot} ${inMemory}; ${advice}`)
    return isReadable ? { folder, oldFolder, isReadOnly: true } : undefined
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}
