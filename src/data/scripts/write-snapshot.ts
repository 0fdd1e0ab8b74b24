import { copyFile, link, open, readFile, rename, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import type { SettingValues } from '../../config/settings.ts'
import type { Log } from '../../log.ts'
import { comebackFormat } from '../comeback.ts'
import type { DatabaseName, SnapshotFormat } from '../load.ts'
import { projectFormat } from '../project.ts'
import { keptSnapshots, parseSnapshot, readIfThere, readPublished } from './published.ts'

export interface SnapshotWrite {
  readonly database: DatabaseName
  /** The file in place; see {@link snapshotPath}. */
  readonly path: string
  readonly entries: readonly object[]
  /** Unix milliseconds: the `last_update` of the snapshot, up to which its entries are known to be right. */
  readonly wall: number
  /** Put it in place even if it looks broken. */
  readonly force: boolean
  /** Only see whether it would be put in place. */
  readonly dryRun: boolean
  readonly log: Log
}

export type SnapshotWritten = { readonly written: true } | { readonly written: false; readonly reason: string }

/** Of the entries before, the part that a new snapshot must at least have. */
const leastShare = 0.8

/** The file that a script writes: the one that the service reads, or where it reads a URL, the one in the data folder. */
export function snapshotPath(database: DatabaseName, values: SettingValues, dataDir: string): string {
  const given = database === 'projects' ? values.projectsSnapshot : values.kcomebacksSnapshot
  return given === undefined || /^https?:/i.test(given) ? join(dataDir, `${database}.json`) : resolve(given)
}

/** `YYYY-MM-DD HH:MM:SS UTC` */
const lastUpdate = (wall: number): string => `${new Date(wall).toISOString().slice(0, 19).replace('T', ' ')} UTC`

/** The file's text: a JSON array with one element a line, so that two snapshots can be compared by line. */
export const snapshotText = (entries: readonly object[], wall: number): string =>
  `[\n${[{ last_update: lastUpdate(wall) }, ...entries].map((entry) => JSON.stringify(entry)).join(',\n')}\n]\n`

async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path, 'w', 0o644)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** The text without its date. */
const withoutDate = (text: string): string => text.slice(text.indexOf('\n', 2))

/** The file in place becomes `.1`, that `.2`, that `.3`; the file in place stays there all the while. */
async function keepPrevious(path: string): Promise<void> {
  for (let number = keptSnapshots; number > 1; number--) {
    await rename(`${path}.${number - 1}`, `${path}.${number}`).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
    })
  }
  await rm(`${path}.1`, { force: true })
  await link(path, `${path}.1`).catch(() => copyFile(path, `${path}.1`))
}

/** What speaks against putting it in place. */
function objection(entries: number, before: number): string | undefined {
  if (entries === 0) return 'it has no entries'
  if (entries < leastShare * before) return `it has ${entries} entries where there were ${before}`
  return undefined
}

/**
 * Puts a new snapshot in place of the old one, so that at every moment there is a whole one: written beside it, flushed
 * to the disk, read back by the loader of the service, renamed. One that looks broken is kept as `.rejected` instead,
 * unless forced. Call it under the script's lock.
 * @returns of a dry run, whether it would have been put in place
 * @throws Error where the disk does not take it
 */
export async function writeSnapshot(write: SnapshotWrite): Promise<SnapshotWritten> {
  const { database, path, entries, wall, force, dryRun, log } = write
  const [fresh, made] = [`${path}.new`, snapshotText(entries, wall)]
  if (!dryRun) await writeDurably(fresh, made)
  const text = dryRun ? made : await readFile(fresh, 'utf8')
  const previous = await readIfThere(path)
  // The service's own loader counts. A broken file in place must not let a broken one follow it.
  const format: SnapshotFormat<object> = database === 'projects' ? projectFormat : comebackFormat
  const count = (await parseSnapshot(text, format))?.entries.length ?? 0
  const before = (await readPublished(path, format))?.entries.length ?? 0

  const objected = objection(count, before)
  if (objected !== undefined && !force) {
    const reason = `the new snapshot is refused: ${objected}`
    const kept = dryRun ? '' : `it is kept as ${basename(path)}.rejected, and `
    if (!dryRun) await rename(fresh, `${path}.rejected`)
    log.error({ database, entries: count, before }, `${database}: ${reason}; ${kept}--force publishes one like it`)
    return { written: false, reason }
  }
  if (dryRun) return { written: true }
  // A run without news renews the date only: it must not push the last real change out of the kept ones.
  if (previous !== undefined && withoutDate(previous) !== withoutDate(text)) await keepPrevious(path)
  await rename(fresh, path)
  await syncFolder(dirname(path))
  return { written: true }
}
