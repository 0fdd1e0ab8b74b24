import { checkWritable, createFolder, exists } from '../../util/create-folder.ts'
import { data } from '../settings.ts'

/** DATA_DIR cannot be used. The message contains the path: it is for the log and the terminal. */
export class DataDirError extends Error {
  override readonly name = 'DataDirError'
  /** The message without the path, for HTTP replies. */
  readonly publicMessage: string

  constructor(dataDir: string, problem: string, cause: unknown) {
    const { code, message } = cause as NodeJS.ErrnoException
    const { env } = data.dataDir
    const isFull = code === 'ENOSPC' || code === 'EDQUOT'
    const advice = isFull ? 'the disk is full, free some space on it' : 'set it to a folder that this user may write to'
    const rest = `${problem} (${code ?? message}); ${advice}`
    super(`${env} is "${dataDir}", which ${rest}`, { cause })
    this.publicMessage = `${env} ${rest}`
  }
}

/**
 * Creates the data folder, except in a dry run.
 * @returns whether it is writable; false only in a dry run
 * @throws DataDirError if it cannot be created or written to
 */
export async function openFolder(dataDir: string, dryRun: boolean): Promise<boolean> {
  if (dryRun && !(await exists(dataDir))) return false
  try {
    await createFolder(dataDir)
  } catch (error) {
    throw new DataDirError(dataDir, 'cannot be created', error)
  }
  try {
    await checkWritable(dataDir)
  } catch (error) {
    if (dryRun) return false
    throw new DataDirError(dataDir, 'cannot be written to', error)
  }
  return true
}
