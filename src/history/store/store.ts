import { statSync } from 'node:fs'
import { basename } from 'node:path'
import type { IncidentRecord } from '../incidents.ts'
import type { SessionChange } from '../recording/sessions.ts'
import type { StateEvent } from '../recording/state-tracker.ts'
import { dayMs } from '../values/levels.ts'
import { Overview } from '../values/overview.ts'
import { concatSlices, layout, sliceSize, startsOf } from '../values/slices.ts'
import { Buckets } from './buckets.ts'
import { Connection } from './connection.ts'
import { cacheBytes, type DatabaseOptions, openDatabase } from './database.ts'
import { IncidentTable } from './incident-table.ts'
import { readOldFile } from './old-files.ts'
import { SessionTable } from './session-table.ts'

/** Changes of state and incidents that are kept of a server. */
const maxChanges = 10_000

/** What was recorded since the last write: slices of one server after the other, the changes in their order. */
export interface Batch {
  readonly slices: Float64Array
  readonly sessions: readonly (SessionChange & { readonly server: number })[]
  readonly events: readonly (StateEvent & { readonly server: number })[]
  /** Each replaces what was written of it before. */
  readonly incidents: readonly (IncidentRecord & { readonly server: number })[]
}

/** What is recorded of a server when it is first watched. */
export interface StoredServer {
  readonly id: number
  /** Names of the players that were online when they were last listed, and when that was, Unix milliseconds. */
  readonly online: readonly string[]
  readonly onlineAt: number
  /** Null before the first event. */
  readonly state: 'up' | 'down' | 'hung' | null
  readonly version: string | null
  /** The incident that had not ended. */
  readonly incident: IncidentRecord | undefined
}

/**
 * The recorded history in an SQLite database. Its methods are synchronous: with many servers it runs in a thread of its own.
 * @throws Error if the file cannot be used, for `reasonOf`; it is then unchanged
 */
export class HistoryStore {
  readonly #connection: Connection
  readonly #options: DatabaseOptions
  readonly #inode: number | undefined
  /** Unix milliseconds of the newest values before the first file was taken over; 0 if there were none. */
  #newestAt: number | undefined
  readonly buckets: Buckets
  readonly sessions: SessionTable
  readonly incidents: IncidentTable
  readonly overview: Overview

  constructor(options: DatabaseOptions) {
    this.#options = options
    this.#connection = new Connection(openDatabase(options))
    this.#inode = inodeOf(options)
    this.buckets = new Buckets(this.#connection)
    this.sessions = new SessionTable(this.#connection)
    this.incidents = new IncidentTable(this.#connection)
    this.overview = new Overview(this.#connection, this.buckets)
  }

  /** Adds the servers that are new. */
  servers(names: readonly string[]): readonly StoredServer[] {
    const { isReadOnly } = this.#options
    const read = () =>
      names.map((name) => {
        if (!isReadOnly) this.#connection.run('INSERT INTO servers (name) VALUES (?) ON CONFLICT DO NOTHING', name)
        const id = Number(this.#connection.first('SELECT id FROM servers WHERE name = ?', name)?.[0] ?? -1)
        const last = (kinds: string, column: string) =>
          this.#connection.first(
            `SELECT ${column} FROM events WHERE server = ? AND kind IN (${kinds}) ORDER BY time DESC LIMIT 1`,
            id,
          )?.[0] ?? null
        return {
          id,
          ...this.sessions.online(id),
          state: last(`'up', 'down', 'hung'`, 'kind') as StoredServer['state'],
          version: last(`'version'`, 'detail') as string | null,
          incident: isReadOnly ? undefined : this.incidents.open(id),
        }
      })
    return isReadOnly ? read() : this.#connection.transaction(read)
  }

  /** Does nothing if the file is read-only. @throws Error of the database; nothing is written then */
  write({ slices, sessions, events, incidents }: Batch): void {
    if (this.#options.isReadOnly) return
    this.#connection.transaction(() => {
      this.buckets.write(slices)
      for (const change of sessions) this.sessions.write(change)
      for (const { time, server, kind, detail } of events)
        this.#connection.run(
          'INSERT OR REPLACE INTO events (time, server, kind, detail) VALUES (?, ?, ?, ?)',
          ...[time, server, kind, detail],
        )
      this.incidents.write(incidents)
    })
  }

  /**
   * Deletes what is older than it is kept: at most so much at once that other calls need not wait long.
   * @param days for which days, sessions, events and incidents are kept
   */
  prune(now: number, days: number): void {
    if (this.#options.isReadOnly) return
    const keptMs = days * dayMs
    this.#connection.transaction(() => {
      this.buckets.prune(now, keptMs)
      this.#connection.deleteOldest('events', now - keptMs, dayMs)
      this.incidents.prune(now - keptMs)
      this.sessions.prune(now - keptMs)
      this.#pruneFlapping('events', 'time')
      this.#pruneFlapping('incidents', 'from_at')
    })
  }

  /** Deletes all but the newest of each server, which may change its state at every poll. */
  #pruneFlapping(table: 'events' | 'incidents', time: string): void {
    const oldest = `(SELECT ${time} FROM ${table} WHERE server = id ORDER BY ${time} DESC LIMIT 1 OFFSET ${maxChanges})`
    for (const found of this.#connection.all(`SELECT * FROM (SELECT id, ${oldest} AS at FROM servers) WHERE at IS NOT NULL`))
      this.#connection.run(`DELETE FROM ${table} WHERE server = ? AND ${time} <= ?`, ...found)
  }

  /**
   * Takes over the file of a server by an earlier version. A file of that name may have been taken over before: then the process was killed
   * before it was moved, or the earlier version was started again, with the file or without it, and only what is newer is added.
   * @returns false if it cannot be read
   * @throws Error of the system or the database; nothing is written then
   */
  importFile(path: string): boolean {
    const file = basename(path)
    const old = readOldFile(path)
    if (old === undefined) return false
    this.#newestAt ??= Number(this.#connection.first('SELECT max(time) FROM ten_seconds')?.[0])
    const isAgain = this.#connection.first('SELECT 1 FROM imported WHERE file = ?', file) !== undefined
    // Those of other servers may be newer, if the process was killed before it had taken over all files. Not asked for the first time: for
    // each server that is not there, the whole table would be searched.
    const newest = isAgain ? Number(this.#connection.first(newestOfServer, old.server)?.[0] ?? this.#newestAt) : undefined
    const after = newest !== undefined && (old.since ?? 0) <= newest ? newest : Number.NEGATIVE_INFINITY
    // Of a bucket that has both, such as the day, only the slices are added: they are not in it yet.
    const levels = old.levels.map(([level, slices]) => [level, slicesAfter(slices, after)] as const)
    const slices = slicesAfter(old.slices, after)
    const starts = [...levels.map(([, slices]) => slices), slices].flatMap((slices) => [...startsOf(slices)])
    if (isAgain && starts.length === 0) return true
    this.#connection.transaction(() => {
      this.#connection.run('INSERT OR IGNORE INTO imported (file) VALUES (?)', file)
      const id = this.servers([old.server])[0]?.id ?? -1
      const own = (slices: Float64Array) => slices.map((value, index) => (index % sliceSize === layout.server ? id : value))
      for (const [level, slices] of levels) this.buckets.writeLevel(level, own(slices))
      this.buckets.extendServers([id, old.since ?? null, old.record?.players ?? null, old.record?.at ?? null])
      this.buckets.write(own(slices))
      // Those who were online are known to have been up to the newest values.
      const lastAt = starts.reduce((last, start) => Math.max(last, start), 0)
      this.sessions.endUnknown(id)
      for (const session of old.sessions)
        if ((session.from ?? session.to ?? lastAt) > after)
          this.sessions.add(id, session, session.isOnline ? lastAt : (session.to ?? session.from ?? lastAt))
    })
    return true
  }

  /** Whether the file was deleted or replaced since it was opened: what is written is then lost. */
  isLost(): boolean {
    return inodeOf(this.#options) !== this.#inode
  }

  /** Memory used for a database in memory, or for pages of the file, in bytes. */
  bytes(): number {
    const bytes =
      Number(this.#connection.first('PRAGMA page_count')?.[0]) * Number(this.#connection.first('PRAGMA page_size')?.[0])
    return this.#options.path === undefined ? bytes : Math.min(bytes, cacheBytes)
  }

  close(): void {
    const { path, isReadOnly, isTemporary } = this.#options
    if (path !== undefined && !isReadOnly && !isTemporary) {
      try {
        // Removes the journal, so that the file alone is the history.
        this.#connection.all('PRAGMA busy_timeout = 0')
        this.#connection.all('PRAGMA wal_checkpoint(TRUNCATE)')
        this.#connection.all('PRAGMA journal_mode = DELETE')
      } catch {
        // Another program has the file open: the last one to close it removes the journal.
      }
    }
    this.#connection.close()
  }
}

const newestOfServer =
  'SELECT time FROM ten_seconds WHERE server = (SELECT id FROM servers WHERE name = ?) ORDER BY time DESC LIMIT 1'

/** Those that start after a time, Unix milliseconds. */
const slicesAfter = (slices: Float64Array, time: number): Float64Array =>
  concatSlices(
    [...startsOf(slices)].flatMap((start, index) =>
      start > time ? [slices.subarray(index * sliceSize, (index + 1) * sliceSize)] : [],
    ),
  )

/** Identifies the file at the path of the database; undefined if it is kept nowhere. */
const inodeOf = ({ path, isTemporary, isReadOnly }: DatabaseOptions): number | undefined =>
  path === undefined || isTemporary || isReadOnly ? undefined : statSync(path, { throwIfNoEntry: false })?.ino
