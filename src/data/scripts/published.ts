import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Log } from '../../log.ts'
import { type LoadedSnapshot, loadSnapshot, SnapshotError, type SnapshotFormat } from '../load.ts'

/** Snapshots before the one in place that are kept, as `.1` and so on, the newest first. */
export const keptSnapshots = 3

/** @returns undefined where there is no such file */
export const readIfThere = (path: string): Promise<string | undefined> =>
  readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })

/** The snapshot that the text is, as the service reads it; undefined where it is none. */
export async function parseSnapshot<Entry>(
  text: string,
  format: SnapshotFormat<Entry>,
): Promise<LoadedSnapshot<Entry> | undefined> {
  return loadSnapshot(text, format).catch((error: unknown) => {
    if (error instanceof SnapshotError) return undefined
    throw error
  })
}

/**
 * What was published last: the file in place, or where it is no snapshot, the newest of the kept ones that is. Undefined
 * where there is no file in place: who has removed it wants to begin anew.
 * @param log is told of a broken file in place
 */
export async function readPublished<Entry>(
  path: string,
  format: SnapshotFormat<Entry>,
  log?: Log,
): Promise<LoadedSnapshot<Entry> | undefined> {
  const broken = (what: string) => log?.warn(`${format.database}: ${basename(path)} is no snapshot; ${what}`)
  for (let number = 0; number <= keptSnapshots; number++) {
    const file = number === 0 ? path : `${path}.${number}`
    const text = await readIfThere(file)
    if (text === undefined && number === 0) return undefined
    const snapshot = text === undefined ? undefined : await parseSnapshot(text, format)
    if (snapshot === undefined) continue
    if (number > 0) broken(`${basename(file)} is taken for what was there`)
    return snapshot
  }
  broken('nor is one of those kept beside it, so the run begins anew')
  return undefined
}
