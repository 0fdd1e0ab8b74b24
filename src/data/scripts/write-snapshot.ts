import { chown, copyFile, link, rename, rm, stat } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { maskValue } from '../../secrets/mask-value.ts'
import { readTextIfExists, resolveLinks, writeAtomic } from '../../util/files.ts'
import type { Log } from '../../util/log.ts'
import { type DatabaseDefinition, placeOf } from '../databases/definition.ts'
import { formatLastUpdate } from '../store/dates.ts'
import type { SnapshotFormat } from '../store/fields.ts'
import { loadSnapshot, maxSnapshotBytes, SnapshotError } from '../store/read-snapshot.ts'
import { maskOfSettings } from './mask-upstream.ts'
import type { RunContext, ScriptSettings } from './script.ts'

interface SnapshotWrite extends Pick<RunContext, 'values' | 'dryRun' | 'log' | 'confirm'> {
  readonly database: Pick<DatabaseDefinition, 'name' | 'format'>
  /** The current file; see {@link snapshotPath}. */
  readonly path: string
  readonly entries: readonly object[]
  /** `last_update` of the snapshot, Unix milliseconds: the time up to which its entries are known to be current. */
  readonly wall: number
  readonly force: boolean
}

type SnapshotWritten = { readonly written: true } | { readonly written: false; readonly reason: string }

/** Minimum number of new entries, as a fraction of the previous number. */
export const minShare = 0.8

/** Number of previous snapshots that are kept, as `.1` (the newest), `.2` and so on. */
const keptSnapshots = 3

/** The file that a script writes: the one that the service reads, or if that is a URL, the one in the data folder. */
export function snapshotPath(
  definition: Pick<DatabaseDefinition, 'name' | 'place' | 'setting'>,
  settings: ScriptSettings,
  dataDir: string,
): string {
  const given = placeOf(definition, settings)
  return given === undefined || given.includes('://') ? join(dataDir, `${definition.name}.json`) : resolve(given)
}

/** Parses a snapshot as the service does; undefined if it is not valid. */
const parseSnapshot = <Entry>(text: string, format: SnapshotFormat<Entry>) =>
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

/** The text of the file: a JSON array with one element per line, so that snapshots can be compared with line-based tools. */
function snapshotText(entries: readonly object[], wall: number): string {
  const elements = [{ last_update: formatLastUpdate(Math.floor(wall / 1000)) }, ...entries]
  return `[\n${elements.map((element) => JSON.stringify(element)).join(',\n')}\n]\n`
}

/** The text without its first element, which has the date. */
const withoutDate = (text: string): string => text.slice(text.indexOf('\n', 2))

/** Rotates the previous files: `.2` becomes `.3`, `.1` becomes `.2`, and `.1` a copy of the current file, which stays in place. */
async function keepPrevious(path: string): Promise<void> {
  for (let number = keptSnapshots; number > 1; number--) {
    await rename(`${path}.${number - 1}`, `${path}.${number}`).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
    })
  }
  await rm(`${path}.1`, { force: true })
  await link(path, `${path}.1`).catch(() => copyFile(path, `${path}.1`))
}

/**
 * Replaces the snapshot atomically, after parsing the new one with the loader of the service and without the secrets of the script; a
 * symbolic link, the mode and the owner of the file are kept. A new snapshot that looks broken is kept as `.rejected` instead, unless
 * forced. The caller must hold the lock of the script.
 * @returns whether it was published; in a dry run, whether it would have been
 * @throws Error if it is too large or cannot be written
 */
export async function writeSnapshot(write: SnapshotWrite): Promise<SnapshotWritten> {
  const { database, values, wall, force, dryRun, log } = write
  const path = await resolveLinks(write.path)
  const text = snapshotText(maskValue(write.entries, maskOfSettings(values)) as readonly object[], wall)
  const size = Buffer.byteLength(text)
  // Even by force: neither the service nor the next run could read it.
  if (size > maxSnapshotBytes) throw new Error(`the new snapshot has ${size} bytes; the maximum is ${maxSnapshotBytes}`)
  const previous = await readTextIfExists(path, maxSnapshotBytes)
  // Entries are counted as the service does. If the current file is broken, compare with the newest valid one.
  const count = (await parseSnapshot(text, database.format))?.entries.length ?? 0
  const before = (await readPublished(path, database))?.entries.length ?? 0
  if ((count === 0 || count < minShare * before) && !force) {
    const objection = count === 0 ? 'it has no entries' : `it has ${count} entries, the current one has ${before}`
    const reason = `the new snapshot is rejected: ${objection}`
    const kept = dryRun ? '' : `it is kept as ${basename(path)}.rejected; `
    if (!dryRun) await writeAtomic(`${path}.rejected`, text)
    const { name } = database
    log.error({ database: name, entries: count, before }, `${name}: ${reason}; ${kept}--force publishes it`)
    return { written: false, reason }
  }
  if (dryRun) return { written: true }
  await write.confirm?.()
  const fresh = `${path}.new`
  try {
    // Before the previous files are rotated, because it may fail. With the mode and, if this user may set it, the owner of the file.
    const inPlace = await stat(path).catch(() => undefined)
    await writeAtomic(fresh, text, inPlace && { mode: inPlace.mode })
    if (inPlace !== undefined) await chown(fresh, inPlace.uid, inPlace.gid).catch(() => undefined)
    // A run without changes only renews the date: it must not rotate out the last real change.
    if (previous !== undefined && withoutDate(previous) !== withoutDate(text)) await keepPrevious(path)
    await rename(fresh, path)
    return { written: true }
  } catch (error) {
    await rm(fresh, { force: true }).catch(() => undefined)
    throw error
  }
}
