import { statSync } from 'node:fs'
import Database from 'libsql'
import { applicationId, indexesOfSessions, migrations, schema, schemaVersion } from './schema.ts'

export interface DatabaseOptions {
  /** Absent: in memory. */
  readonly path?: string
  /** True: the file is read and not written. */
  readonly isReadOnly?: boolean
  /** True: the file is lost if the process is killed. */
  readonly isTemporary?: boolean
  /** Milliseconds for which opening it and each call wait while another program has locked the file; default 1,000. */
  readonly busyMs?: number
}

/** Memory for pages of the file. */
export const cacheBytes = 4 * 1024 * 1024
/** Pages of 4 KB up to which the whole file is checked when it is opened. */
const maxChecked = 10_000

/**
 * Opens the database, which gets its tables if it is new.
 * @throws Error if the file cannot be used, for `reasonOf`; it is then unchanged
 */
export function openDatabase({
  path,
  isReadOnly = false,
  isTemporary = false,
  busyMs = 1_000,
}: DatabaseOptions): Database.Database {
  if (path === undefined) {
    const db = new Database(':memory:')
    db.exec(schema)
    return db
  }
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw new Error('it is a folder')
  const db = isReadOnly ? openReadOnly(path) : new Database(path)
  try {
    db.exec(`PRAGMA busy_timeout = ${busyMs}; PRAGMA cache_size = -${cacheBytes / 1024}`)
    const isNew = checkContent(db)
    if (isReadOnly) return db
    if (isTemporary) db.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF')
    else {
      // A journal lets other programs read while this one writes. It cannot be turned on while one of them reads: then it is at the next start.
      unless(['SQLITE_BUSY'], () => db.exec('PRAGMA journal_mode = WAL'))
      // The journal is flushed to disk only when it is copied into the file: after a loss of power the last minutes may be missing.
      db.exec('PRAGMA synchronous = NORMAL')
    }
    if (isNew) db.exec(`BEGIN; ${schema} COMMIT`)
    else migrate(db)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** Does what can be done at the next start too, if it fails with one of these codes. */
function unless(codes: readonly string[], action: () => void): void {
  try {
    action()
  } catch (error) {
    if (!codes.includes((error as { readonly code?: string }).code ?? '')) throw error
  }
}

/** Makes a database of an earlier version one of this version. */
function migrate(db: Database.Database): void {
  const version = Number(Object.values(db.prepare('PRAGMA user_version').get() as object)[0])
  for (const sql of migrations.slice(version - 1)) db.exec(`BEGIN IMMEDIATE; ${sql} COMMIT`)
  // Without them it is only slower. On a full disk the file is still read.
  unless(['SQLITE_BUSY', 'SQLITE_FULL'], () => db.exec(indexesOfSessions))
}

function openReadOnly(path: string): Database.Database {
  const uri = `file:${encodeURI(path).replaceAll('?', '%3f').replaceAll('#', '%23')}`
  const db = new Database(`${uri}?mode=ro`)
  try {
    db.prepare('SELECT count(*) FROM sqlite_schema').get()
    return db
  } catch {
    // Without files beside it, which cannot be created in a folder that is read-only.
    db.close()
    return new Database(`${uri}?immutable=1`)
  }
}

/**
 * @returns whether the file is empty
 * @throws Error if it is of no use
 */
function checkContent(db: Database.Database): boolean {
  const value = (sql: string) => Object.values(db.prepare(sql).get() as object)[0] as unknown
  const [id, version] = [value('PRAGMA application_id'), Number(value('PRAGMA user_version'))]
  if (id === 0 && value('SELECT count(*) FROM sqlite_schema') === 0) return true
  if (id !== applicationId) throw new Error('it is the database of another program')
  if (version > schemaVersion) throw new Error('it was written by a newer version of Tickwarden')
  // A large file would take seconds; its damage shows when it is written.
  const isChecked = Number(value('PRAGMA page_count')) <= maxChecked
  if (isChecked && value('PRAGMA quick_check(1)') !== 'ok') throw new Error('it is damaged')
  return false
}
