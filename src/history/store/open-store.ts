import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exists } from '../../util/create-folder.ts'
import type { Log } from '../../util/log.ts'
import type { DatabaseOptions } from './database.ts'
import { isPassing, reasonOf } from './file-error.ts'
import { openLocalStore, openStoreThread, type StoreClient } from './store-client.ts'

export interface OpenStoreOptions {
  /** Absent: in memory only. */
  readonly folder?: string
  /** True: the database in the folder is read and not written. */
  readonly isReadOnly?: boolean
  /** Where an earlier version kept its files; default: the folder. */
  readonly oldFolder?: string
  /** Whether the database is used in a thread of its own; default: on this one. */
  readonly inThread?: boolean
  readonly log: Log
}

export interface OpenStore {
  readonly store: StoreClient
  /** True: in memory, because the file cannot be used at the moment. */
  readonly isWaiting: boolean
}

/** Name of the database. */
export const fileName = 'history.db'
/** Milliseconds between two log lines while files are taken over. */
const progressMs = 5_000

/** Opens the database in the folder. A file that cannot be used stays as it is; the history is then kept in memory. */
export async function openStore(options: OpenStoreOptions): Promise<OpenStore> {
  if (options.folder === undefined) return { store: await openTemporary(options), isWaiting: false }
  try {
    return { store: await openFile(options), isWaiting: false }
  } catch (error) {
    const [path, reason, isWaiting] = [join(options.folder, fileName), reasonOf(error), isPassing(error)]
    const advice = isWaiting
      ? 'It is tried again once a minute'
      : 'Fix this and restart, move the file away, or set HISTORY_DIR to another folder'
    options.log.warn(
      { file: path, reason },
      `cannot use ${path}: ${reason}; it stays as it is, and the history is kept in memory only. ${advice}`,
    )
    return { store: await openTemporary(options), isWaiting }
  }
}

/** Opens the database in the folder. @throws Error if it cannot be used, for `reasonOf` */
export async function openFile(options: OpenStoreOptions): Promise<StoreClient> {
  const { folder = '', isReadOnly = false, oldFolder = folder } = options
  const store = await open({ path: join(folder, fileName), isReadOnly }, options)
  try {
    if (!isReadOnly) await importOldFiles(store, oldFolder, options)
    return store
  } catch (error) {
    await store.close()
    throw error
  }
}

const open = (file: DatabaseOptions, { inThread }: OpenStoreOptions) => (inThread ? openStoreThread : openLocalStore)(file)

/** In memory; the history of many servers, which would grow to 250 KB each, in a file that is deleted as soon as it is open. */
async function openTemporary(options: OpenStoreOptions): Promise<StoreClient> {
  const folder = options.inThread ? await mkdtemp(join(tmpdir(), 'tickwarden-')).catch(() => undefined) : undefined
  if (folder === undefined) return open({}, options)
  try {
    return await open({ path: join(folder, fileName), isTemporary: true }, options)
  } finally {
    // Windows does not delete a file that is open.
    await rm(folder, { recursive: true }).catch(() => {})
  }
}

/**
 * Takes over the files of an earlier version, of which each was the history of one server, and moves them to a folder beside them.
 * @throws Error if the database cannot be written for now: what is recorded before a file is taken over may seem to be newer than it
 */
async function importOldFiles(store: StoreClient, folder: string, { log }: OpenStoreOptions): Promise<void> {
  const files = await readdir(folder).catch(() => [])
  const names = files.filter((name) => name.endsWith('.history'))
  if (names.length === 0) return
  const kept = join(folder, 'imported')
  log.info({ folder }, `taking over histories of an earlier version from ${folder}: ${names.length}`)
  let [imported, told] = [0, Date.now()]
  for (const [index, name] of names.entries()) {
    const path = join(folder, name)
    try {
      if (await store.importFile(path)) {
        await mkdir(kept, { recursive: true })
        // An earlier version that was started again has written files of the same names.
        const isKept = await exists(join(kept, name))
        await rename(path, join(kept, isKept ? `${name}.${Date.now()}` : name))
        imported++
      } else log.warn({ file: path }, `cannot take over ${path}: it is damaged or no history file; it stays as it is`)
    } catch (error) {
      if (isPassing(error)) throw error
      log.warn({ file: path, reason: reasonOf(error) }, `cannot take over ${path}: ${reasonOf(error)}; it stays as it is`)
    }
    if (Date.now() - told > progressMs) {
      told = Date.now()
      log.info(`took over ${index + 1} of ${names.length} histories`)
    }
  }
  log.info({ folder: kept }, `took over histories: ${imported}; their files are now in ${kept}`)
}
