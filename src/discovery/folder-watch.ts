import type { FSWatcher } from 'node:fs'
import { stat } from 'node:fs/promises'
import { watchFolder } from '../util/files.ts'

/** Watches folders, also if they are created later or replaced. */
export interface FolderWatch {
  /** Watches the folders that are at their paths now. To be called from time to time, and after each event. Never rejects. */
  refresh(): Promise<void>
  close(): void
}

/** A watch belongs to a folder, not to its path: if the folder is replaced, the new one is not watched. */
async function identityOf(folder: string): Promise<string | undefined> {
  try {
    const { dev, ino, birthtimeNs } = await stat(folder, { bigint: true })
    return [dev, ino, birthtimeNs].join()
  } catch {
    return undefined
  }
}

/** @param changed called with each event of a folder */
export function createFolderWatch(folders: Iterable<string>, changed: () => void): FolderWatch {
  const watchers = new Map<string, { readonly identity: string | undefined; readonly watcher: FSWatcher | undefined }>()
  const paths = new Set(folders)
  let isClosed = false
  return {
    async refresh() {
      for (const path of paths) {
        const identity = await identityOf(path)
        const before = watchers.get(path)
        if (isClosed || before?.identity === identity) continue
        before?.watcher?.close()
        watchers.set(path, { identity, watcher: identity === undefined ? undefined : watchFolder(path, changed) })
      }
    },
    close() {
      isClosed = true
      for (const { watcher } of watchers.values()) watcher?.close()
    },
  }
}
