import { open, stat } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { FileSizeError, fileVersion, readUpTo, watchFolder } from '../../util/files.ts'
import type { Origin } from './origin.ts'
import { maxSnapshotBytes, SnapshotError } from './read-snapshot.ts'

/** Poll interval, for network file systems without change events. Milliseconds. */
const pollIntervalMs = 2000

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? 'unknown error'

/** A file that may be replaced or rewritten at any time. */
export function fileOrigin(path: string, kind: 'file' | 'sample' = 'file'): Origin {
  /** The version that was read last; undefined if that failed. */
  let lastRead: string | undefined

  async function read(again: boolean): Promise<string | undefined> {
    // Before reading, so that a change in the meantime is noticed at the next poll.
    const version = fileVersion(await stat(path, { bigint: true }))
    if (version === lastRead && !again) return undefined
    const file = await open(path)
    try {
      lastRead = version
      return String(await readUpTo(file, path, maxSnapshotBytes))
    } finally {
      await file.close()
    }
  }

  return {
    kind,
    name: basename(path),
    place: path,
    interval: pollIntervalMs,
    async read(again) {
      try {
        const text = await read(again)
        return text === undefined ? undefined : { text }
      } catch (error) {
        lastRead = undefined
        if (error instanceof FileSizeError) throw new SnapshotError(error.reason, { cause: error })
        const code = codeOf(error)
        throw new SnapshotError(code === 'ENOENT' ? 'the file does not exist' : `it cannot be read (${code})`, { cause: error })
      }
    },
    watch(changed) {
      const watcher = watchFolder(dirname(path), (name) => {
        if (name === null || name === basename(path)) changed()
      })
      return () => watcher?.close()
    },
    async close() {},
  }
}
