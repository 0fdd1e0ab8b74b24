import { basename } from 'node:path'
import { readTextIfExists, resolveLinks } from '../../util/files.ts'
import type { Log } from '../../util/log.ts'
import type { DatabaseDefinition } from '../databases/definition.ts'
import type { SnapshotFormat } from '../store/fields.ts'
import { loadSnapshot, maxSnapshotBytes, SnapshotError } from '../store/read-snapshot.ts'

/** Number of previous snapshots that are kept, as `.1` (the newest), `.2` and so on. */
export const keptSnapshots = 3

/** Parses a snapshot as the service does; undefined if it is not valid. */
export const parseSnapshot = <Entry>(text: string, format: SnapshotFormat<Entry>) =>
  loadSnapshot(text, format).catch((error: unknown) => {
    if (error instanceof SnapshotError) return undefined
    throw error
  })

/**
 * The snapshot published last: the current file, or if that is broken, the newest valid one of the previous files. Undefined if
 * the current file does not exist: a user who removes it wants to start from nothing.
 * @param log receives a warning about a broken file
 * @throws FileSizeError, so that a file that was not read is not replaced either
 */
export async function readPublished<Entry extends object>(
  path: string,
  { name, format }: Pick<DatabaseDefinition<Entry>, 'name' | 'format'>,
  log?: Log,
) {
  // The previous files are next to the file itself, not next to a symbolic link to it.
  const target = await resolveLinks(path)
  const broken = (what: string) => log?.warn(`${name}: ${basename(path)} is not a valid snapshot; ${what}`)
  for (let number = 0; number <= keptSnapshots; number++) {
    const file = number === 0 ? target : `${target}.${number}`
    const text = await readTextIfExists(file, maxSnapshotBytes)
    if (text === undefined && number === 0) return undefined
    const snapshot = text === undefined ? undefined : await parseSnapshot(text, format)
    if (snapshot === undefined) continue
    if (number > 0) broken(`${basename(file)} is used instead`)
    return snapshot
  }
  broken('none of the previous ones is valid either, so the run starts from nothing')
  return undefined
}
