import { constants } from 'node:fs'
import { access, type FileHandle, open, readdir, realpath, stat } from 'node:fs/promises'
import { basename, join, sep } from 'node:path'
import { SourceError } from '../../errors.ts'

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '')
const isMissing = (error: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes(codeOf(error))

/** What a folder is called in messages and replies, which do not tell where on the machine it lies. */
export const folderName = (folder: string): string => basename(folder) || folder

/** Why the folder, or the path in it, cannot be read. */
export function toFolderError(error: unknown, folder: string, path?: string): SourceError {
  if (error instanceof SourceError) return error
  const what = `${folderName(folder)}: ${path ?? 'the folder'}`
  const code = codeOf(error)
  if (isMissing(error)) return new SourceError('unreachable', `${what} is not there; is it mounted?`, { cause: error })
  if (code === 'EACCES' || code === 'EPERM')
    return new SourceError('refused', `${what} may not be read by the user that runs this service`, { cause: error })
  return new SourceError(code === '' ? 'internal' : 'unreachable', `${what} cannot be read (${code || String(error)})`, {
    cause: error,
  })
}

/** @throws SourceError where there is no such folder, or it may not be entered */
export async function checkFolder(folder: string): Promise<void> {
  try {
    // With the dot a file is no folder.
    await access(`${folder}${sep}.`, constants.X_OK)
  } catch (error) {
    throw toFolderError(error, folder)
  }
}

/** The path with every symbolic link followed; undefined where nothing is there. @throws SourceError where it leads out of the folder */
async function resolveInside(folder: string, path: string): Promise<string | undefined> {
  const root = await realpath(folder)
  const real = await realpath(join(root, path)).catch((error: unknown) => {
    if (isMissing(error)) return undefined
    throw error
  })
  if (real !== undefined && real !== root && !real.startsWith(root.endsWith(sep) ? root : root + sep))
    throw new SourceError('unsupported', `${folderName(folder)}: ${path} leads out of the folder; it is not read`)
  return real
}

/**
 * A regular file in the folder, open for reading; undefined where there is none. The caller closes it.
 * @throws SourceError for a file outside of it, also by symbolic links, and for anything but a regular file
 */
export async function openInside(folder: string, path: string): Promise<FileHandle | undefined> {
  const real = await resolveInside(folder, path)
  if (real === undefined) return undefined
  // No link is followed any more, and a pipe put there cannot hold us up.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
  const handle = await open(real, flags).catch((error: unknown) => {
    if (isMissing(error)) return undefined
    throw error
  })
  if (handle === undefined) return undefined
  try {
    const opened = await handle.stat()
    if (!opened.isFile()) throw new SourceError('unsupported', `${folderName(folder)}: ${path} is no regular file`)
    // A folder on the way may have been replaced by a link since: the same file must still be found inside.
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

/** Whether the open file is still the one at the path. */
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

/** What is at a path of the folder, without its content. */
export interface FileVersion {
  /** The same as before only if it has not been written, replaced or given other permissions since. */
  readonly id: string
  /** Unix milliseconds of the last change. */
  readonly changedAt: number
}

/**
 * The version of the file or folder at a path; undefined where nothing is there. One system call: that a path does not lead out of the
 * folder is checked where its content is read.
 */
export async function versionAt(folder: string, path: string): Promise<FileVersion | undefined> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs, mtimeMs, ctimeMs } = await stat(join(folder, path), { bigint: true })
    return { id: [dev, ino, size, mtimeNs, ctimeNs].join(), changedAt: Math.max(Number(mtimeMs), Number(ctimeMs)) }
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/** A whole small file of the folder; undefined where there is none. @throws SourceError `too_large` beyond `maxBytes` */
export async function readInside(folder: string, path: string, maxBytes: number): Promise<Buffer | undefined> {
  const handle = await openInside(folder, path)
  if (handle === undefined) return undefined
  try {
    const { size } = await handle.stat()
    const buffer = Buffer.alloc(size > maxBytes ? 0 : size + 1)
    let length = size > maxBytes ? size : 0
    for (let read = 1; read > 0 && length < buffer.length; length += read)
      read = (await handle.read(buffer, length, buffer.length - length, length)).bytesRead
    if (length > maxBytes) throw new SourceError('too_large', `${folderName(folder)}: ${path} has more than ${maxBytes} bytes`)
    return buffer.subarray(0, length)
  } finally {
    await handle.close()
  }
}

/** Names in a folder inside; none where there is no such folder. */
export async function listInside(folder: string, path: string): Promise<readonly string[]> {
  const real = await resolveInside(folder, path)
  if (real === undefined) return []
  return readdir(real).catch((error: unknown) => {
    if (isMissing(error)) return []
    throw error
  })
}
