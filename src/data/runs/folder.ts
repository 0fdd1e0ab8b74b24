import { access, constants, mkdir } from 'node:fs/promises'
import { settings } from '../../config/settings.ts'

/** DATA_DIR cannot be used. The message names the folder: it is for the log and the terminal. */
export class DataDirError extends Error {
  override readonly name = 'DataDirError'
  /** The message without the folder, for replies. */
  readonly publicMessage: string

  constructor(dataDir: string, problem: string, cause: unknown) {
    const { code, message } = cause as NodeJS.ErrnoException
    const { env } = settings.dataDir
    const rest = `${problem} (${code ?? message}); set it to a folder that this user may write to`
    super(`${env} is "${dataDir}", which ${rest}`, { cause })
    this.publicMessage = `${env} ${rest}`
  }
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
  )

/**
 * Creates the data folder, unless nothing may be changed.
 * @returns whether it exists: false only in a dry run
 * @throws DataDirError if it cannot be created or written to
 */
export async function openFolder(dataDir: string, dryRun: boolean): Promise<boolean> {
  if (dryRun && !(await exists(dataDir))) return false
  try {
    await mkdir(dataDir, { recursive: true })
  } catch (error) {
    throw new DataDirError(dataDir, 'cannot be created', error)
  }
  try {
    await access(dataDir, constants.W_OK)
  } catch (error) {
    throw new DataDirError(dataDir, 'cannot be written to', error)
  }
  return true
}
