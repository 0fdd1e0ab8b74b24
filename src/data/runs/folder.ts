import { access, constants, mkdir } from 'node:fs/promises'
import { settings } from '../../config/settings.ts'

/** DATA_DIR is no folder to work in; the message names it and says what is wrong. */
export class DataDirError extends Error {
  override readonly name = 'DataDirError'

  constructor(dataDir: string, what: string, cause: unknown) {
    const { code, message } = cause as NodeJS.ErrnoException
    const { env } = settings.dataDir
    super(`${env} is "${dataDir}", which ${what} (${code ?? message}); set it to a folder that this user may write to`)
  }
}

/** @returns whether the path is there */
const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
  )

/**
 * Makes the data folder, unless nothing may be changed.
 * @returns whether it is there: false only in a dry run
 * @throws DataDirError where it cannot be made or written to
 */
export async function openFolder(dataDir: string, dryRun: boolean): Promise<boolean> {
  if (dryRun && !(await exists(dataDir))) return false
  try {
    await mkdir(dataDir, { recursive: true })
  } catch (error) {
    throw new DataDirError(dataDir, 'cannot be made', error)
  }
  try {
    // Looked at first: taking the lock would be tried again and again.
    await access(dataDir, constants.W_OK)
  } catch (error) {
    throw new DataDirError(dataDir, 'cannot be written to', error)
  }
  return true
}
