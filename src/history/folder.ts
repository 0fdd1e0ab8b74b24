import { join, resolve } from 'node:path'
import { checkWritable, createFolder } from '../util/create-folder.ts'
import type { Log } from '../util/log.ts'

export interface FolderSettings {
  readonly historyDir: string | undefined
  readonly dataDir: string | undefined
}

/**
 * Creates the folder of the history files: HISTORY_DIR, else `history` in DATA_DIR. There is no other default: the packaged
 * sample data belong to the installation, and a temporary folder would only seem to be persistent.
 * @returns undefined if there is no writable folder, which is logged
 */
export async function openFolder({ historyDir, dataDir }: FolderSettings, log: Log): Promise<string | undefined> {
  const inMemory = 'the history is kept in memory only and lost when the service stops'
  const given = historyDir ?? (dataDir === undefined ? undefined : join(dataDir, 'history'))
  if (given === undefined) {
    log.info(`No data folder is set, so ${inMemory}; set HISTORY_DIR to keep it.`)
    return undefined
  }
  const folder = resolve(given)
  try {
    await createFolder(folder)
    await checkWritable(folder)
    return folder
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    log.warn(
      { folder, reason: code ?? message },
      `${folder} cannot be written to (${code ?? message}), so ${inMemory}; set HISTORY_DIR to a folder that this user may write to`,
    )
    return undefined
  }
}
