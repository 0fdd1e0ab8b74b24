import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { FileSizeError, fileVersion, readFileUpTo } from '../../util/files.ts'
import type { Origin } from './origin.ts'
import { maxSnapshotBytes, SnapshotError } from './read-snapshot.ts'

/** Milliseconds between two looks at the file: network file systems report no changes. */
const intervalMs = 2_000

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'the file does not exist',
  ENOTDIR: 'a part of its path is a file, not a folder',
}

/** A file that may be replaced or rewritten at any time. */
export const fileOrigin = (path: string, kind: 'file' | 'sample' = 'file'): Origin => ({
  kind,
  name: basename(path),
  place: path,
  interval: intervalMs,
  async read(known) {
    try {
      // Before reading, so that a change in the meantime is noticed at the next poll.
      const stats = await stat(path, { bigint: true })
      // To open a pipe would wait for its other end, possibly for ever.
      if (!stats.isFile()) throw new SnapshotError('it is not a regular file')
      const version = fileVersion(stats)
      return version === known ? undefined : { version, text: String(await readFileUpTo(path, maxSnapshotBytes)) }
    } catch (error) {
      if (error instanceof SnapshotError) throw error
      if (error instanceof FileSizeError) throw new SnapshotError(error.reason, { cause: error })
      const { code = 'unknown error' } = error as NodeJS.ErrnoException
      throw new SnapshotError(reasons[code] ?? `it cannot be read (${code})`, { cause: error })
    }
  },
})
