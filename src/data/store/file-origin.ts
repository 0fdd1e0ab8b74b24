import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { FileSizeError, fileVersion, readFileUpTo } from '../../util/files.ts'
import { formatDay } from './dates.ts'
import type { Origin } from './origin.ts'
import { maxSnapshotBytes, SnapshotError } from './read-snapshot.ts'

/** Milliseconds between two looks at the file: network file systems report no changes. */
const intervalMs = 2_000

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'the file does not exist',
  ENOTDIR: 'a part of its path is a file, not a folder',
}

/**
 * A file that may be replaced or rewritten at any time.
 * @param today of the packaged sample, which has dates of the form `today+N`, so that it always has upcoming entries
 */
export const fileOrigin = (path: string, today?: () => number): Origin => ({
  kind: today === undefined ? 'file' : 'sample',
  name: basename(path),
  place: path,
  interval: intervalMs,
  async read(known) {
    try {
      // Before reading, so that a change in the meantime is noticed at the next poll.
      const stats = await stat(path, { bigint: true })
      // To open a pipe would wait for its other end, possibly for ever.
      if (!stats.isFile()) throw new SnapshotError('it is not a regular file')
      const day = today?.()
      const version = [fileVersion(stats), day].join(' ')
      if (version === known) return undefined
      const text = String(await readFileUpTo(path, maxSnapshotBytes))
      return {
        version,
        text: day === undefined ? text : text.replaceAll(/today\+(\d+)/g, (_, ahead) => formatDay(day + Number(ahead))),
      }
    } catch (error) {
      if (error instanceof SnapshotError) throw error
      if (error instanceof FileSizeError) throw new SnapshotError(error.reason, { cause: error })
      const { code = 'unknown error' } = error as NodeJS.ErrnoException
      throw new SnapshotError(reasons[code] ?? `it cannot be read (${code})`, { cause: error })
    }
  },
})
