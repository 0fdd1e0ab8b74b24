import { constants } from 'node:fs'
import { access, type FileHandle, open, opendir, realpath, stat } from 'node:fs/promises'
import { basename, join, sep } from 'node:path'
import { FileSizeError, fileVersion, readUpTo } from '../../../util/files.ts'
import { codeOf, SourceError } from '../../errors.ts'

/** More than any subfolder of a server that is listed. */
const maxNames = 1_000

const isMissing = (error: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes(codeOf(error))

/** The name of a folder in messages and API replies, which must not contain its full path. */
export const folderName = (folder: string): string => basename(folder) || folder

/** Converts an error of reading the folder, or a path in it, to a SourceError. */
export function toFolderError(error: unknown, folder: string, path?: string): SourceError {
  if (error instanceof SourceError) return error
  const what = `${folderName(folder)}: ${path ?? 'the folder'}`
  const code = codeOf(error)
  if (isMissing(error)) return new SourceError('unreachable', `${what} does not exist; is it mounted?`, { cause: error })
  if (code === 'EACCES' || code === 'EPERM')
    return new SourceError('refused', `${what} is not readable by the user that runs this service`, { cause: error })
  return new SourceError(code === '' ? 'internal' : 'unreachable', `${what} cannot be read (${code || String(error)})`, {
    cause: error,
  })
}

/** @throws SourceError if the folder does not exist or is not accessible */
export async function checkFolder(folder: string): Promise<void> {
  try {
    // The dot makes it fail for a file.
    await access(`${folder}${sep}.`, constants.X_OK)
  } catch (error) {
    throw toFolderError(error, folder)
  }
}

/** Resolves symbolic links; undefined if the path does not exist. @throws SourceError if it is outside of the folder */
async function resolveInside(folder: string, path: string): Promise<string | undefined> {
  const root = await realpath(folder)
  const real = await realpath(join(root, path)).catch((error: unknown) => {
    if (isMissing(error)) return undefined
    throw error
  })
  if (real !== undefined && real !== root && !real.startsWith(root.endsWith(sep) ? root : root + sep))
    throw new SourceError('unsupported', `${folderName(folder)}: ${path} is outside of the folder and is not read`)
  return real
}

/**
 * Opens a regular file in the folder for reading; undefined if it does not exist. The caller closes it.
 * @throws SourceError if the file is outside of the folder, also through symbolic links, or not a regular file
 */
export async function openInside(folder: string, path: string): Promise<FileHandle | undefined> {
  const real = await resolveInside(folder, path)
  if (real === undefined) return undefined
  // Does not follow links, and does not block on a pipe.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
  const handle = await open(real, flags).catch((error: unknown) => {
    if (isMissing(error)) return undefined
    throw error
  })
  if (handle === undefined) return undefined
  try {
    const opened = await handle.stat()
    if (!opened.isFile()) throw new SourceError('unsupported', `${folderName(folder)}: ${path} is not a regular file`)
    // A parent folder may have been replaced by a link in the meantime, so the path must still lead to the same file.
    const again = await resolveInside(folder, path)
    const found = again === undefined ? undefined : await stat(again)
    if (found !== undefined && found.ino === opened.ino && found.dev === opened.dev) return handle
    await handle.close()
    return undefined
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** Returns whether the path still refers to the open file. */
export async function isStillAt(handle: FileHandle, folder: string, path: string): Promise<boolean> {
  const [opened, found] = await Promise.all([
    handle.stat(),
    stat(join(folder, path)).catch((error: unknown) => {
      if (isMissing(error)) return undefined
      throw error
    }),
  ])
  return found !== undefined && found.ino === opened.ino && found.dev === opened.dev
}

/** Identifies the version of a file or folder without its content. */
export interface FileVersion {
  /** Changes if the file is written or replaced, or its permissions change. */
  readonly id: string
  /** Unix milliseconds of the last change. */
  readonly changedAt: number
}

/**
 * Returns the version of the file or folder at a path; undefined if it does not exist. Makes a single system call; whether the path
 * is inside the folder is checked when its content is read.
 */
export async function versionAt(folder: string, path: string): Promise<FileVersion | undefined> {
  try {
    const stats = await stat(join(folder, path), { bigint: true })
    return { id: fileVersion(stats), changedAt: Math.max(Number(stats.mtimeMs), Number(stats.ctimeMs)) }
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/** Reads a small file in the folder; undefined if it does not exist. @throws SourceError `too_large` above `maxBytes` */
export async function readInside(folder: string, path: string, maxBytes: number): Promise<Buffer | undefined> {
  const handle = await openInside(folder, path)
  if (handle === undefined) return undefined
  try {
    return await readUpTo(handle, path, maxBytes)
  } catch (error) {
    if (!(error instanceof FileSizeError)) throw error
    throw new SourceError('too_large', `${folderName(folder)}: ${path}: ${error.reason}`, { cause: error })
  } finally {
    await handle.close()
  }
}

/** Lists the names in a subfolder; none if it does not exist. @throws SourceError `too_large` if there are more than `maxNames` */
export async function listInside(folder: string, path: string): Promise<readonly string[]> {
  const real = await resolveInside(folder, path)
  if (real === undefined) return []
  const names: string[] = []
  try {
    for await (const { name } of await opendir(real)) {
      if (names.length === maxNames)
        throw new SourceError('too_large', `${folderName(folder)}: ${path} has more than ${maxNames} entries`)
      names.push(name)
    }
  } catch (error) {
    if (!isMissing(error)) throw error
  }
  return names
}
