import { type BigIntStats, type FSWatcher, watch } from 'node:fs'
import { readFile, readlink, realpath } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

/**
 * Reads a text file; undefined if it does not exist.
 * @throws Error of the system if it cannot be read for another reason
 */
export const readFileIfExists = (path: string): Promise<string | undefined> =>
  readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })

/** Identifies the version of a file without its content: changes if it is written or replaced, or its permissions change. */
export const fileVersion = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  [dev, ino, size, mtimeNs, ctimeNs].join()

/**
 * Resolves the symbolic links of a path, even if their target does not exist yet.
 * @throws Error of the system, for example of links that form a loop
 */
export async function resolveLinks(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  const target = await readlink(path).catch(() => undefined)
  return target === undefined ? path : resolveLinks(resolve(dirname(path), target))
}

/**
 * Watches a folder. Not a file, because a watch on a file ends when the file is replaced by a rename.
 * @param changed called with the file name, or null if the system does not report it
 * @returns undefined if the folder does not exist or the limit of watches is reached; callers must also poll
 */
export function watchFolder(folder: string, changed: (name: string | null) => void): FSWatcher | undefined {
  try {
    const watcher = watch(folder, { persistent: false }, (_event, name) => changed(name))
    watcher.on('error', () => watcher.close())
    return watcher
  } catch {
    return undefined
  }
}
