import { type FSWatcher, watch } from 'node:fs'
import { readFile, readlink, realpath } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

/**
 * The text of a file, or undefined if it does not exist.
 * @throws Error of the system if it cannot be read for another reason
 */
export const readFileIfExists = (path: string): Promise<string | undefined> =>
  readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })

/**
 * The file that a path means: where its symbolic links lead, also if nothing exists there yet.
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
 * Watches a folder, not a file: a file that is replaced by a rename is another one afterwards.
 * @param changed called with the name that the system reports, if it reports one
 * @returns undefined where there is no such folder, or the system has no watches left: poll as well
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
