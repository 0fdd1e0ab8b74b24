import type { Clock } from '../util/clock.ts'

/** Detects files that are being written, so that they are not read half-written. */
export interface FileStability {
  /**
   * `stable` if the file has had this version for {@link stableMs}; `overdue` if it has been changing for {@link maxChangingMs} and should be
   * read anyway. The file counts as unchanged from then on.
   */
  check(path: string, version: string): 'changing' | 'stable' | 'overdue'
  /** The file has the version that was read last. */
  forget(path: string): void
  /** Forgets all other files: they no longer exist. One that returns later has just begun to change. */
  keepOnly(paths: ReadonlySet<string>): void
}

/** Milliseconds without a change after which a file is read: editors truncate files before they write them, or replace them in steps. */
export const stableMs = 300
/** Milliseconds after which a file that never stops changing is read nevertheless. */
const maxChangingMs = 700

interface Change {
  readonly version: string
  /** Monotonic milliseconds at which this version was first seen. */
  readonly seenAt: number
  /** Monotonic milliseconds at which the first change was seen. */
  readonly startedAt: number
}

export function createFileStability(clock: Clock): FileStability {
  const changes = new Map<string, Change>()
  return {
    check(path, version) {
      const now = clock.now()
      const before = changes.get(path)
      const change = before?.version === version ? before : { version, seenAt: now, startedAt: before?.startedAt ?? now }
      const isStable = now - change.seenAt >= stableMs
      const isOverdue = now - change.startedAt >= maxChangingMs
      if (isStable || isOverdue) changes.delete(path)
      else changes.set(path, change)
      return isStable ? 'stable' : isOverdue ? 'overdue' : 'changing'
    },
    forget: (path) => void changes.delete(path),
    keepOnly(paths) {
      for (const path of changes.keys()) if (!paths.has(path)) changes.delete(path)
    },
  }
}
