import { basename } from 'node:path'
import type Database from 'libsql'
import { cacheBytes, type DatabaseOptions, openDatabase } from './database.ts'
import { type Incident, type IncidentNote, type IncidentQuery, type IncidentRecord, incidentId, maxNotes } from './incidents.ts'
import { dayMs, type Level, levels } from './levels.ts'
import { readOldFile } from './old-files.ts'
import { Overview, type OverviewValues, type PlayerCounts } from './overview.ts'
import { type PlayerHistory, type PlayerTime, readPlayers } from './players.ts'
import { type RangeQuery, type RangeValues, readRange } from './range.ts'
import { bucketColumns, upsertBuckets } from './schema.ts'
import { seriesNames } from './series.ts'
import { type Session, type SessionChange, toSession } from './sessions.ts'
import { joinSlices, layout, ofSeries, sliceSize } from './slices.ts'
import { readUptime, type Uptime } from './uptime.ts'

/** A change of the state of a server. */
export interface StateEvent {
  /** Unix milliseconds. */
  readonly time: number
  readonly kind: 'up' | 'down' | 'hung' | 'version'
  readonly detail: string | null
}

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
  /** Names of the players that are online. */
  readonly online: readonly string[]
  /** Unix milliseconds up to which it was recorded in the last ten minutes; null otherwise. */
  readonly lastAt: number | null
  /** Null before the first event. */
  readonly state: 'up' | 'down' | 'hung' | null
  readonly version: string | null
  /** The incident that had not ended. */
  readonly incident: IncidentRecord | undefined
}

export interface StoreOptions extends DatabaseOptions {
  /** Days for which days, sessions and events are kept. */
  readonly days: number
}

const minute = 60_000
const rowsAtOnce = 64

type Row = readonly (number | string | null)[]

/**
 * The recorded history in an SQLite database. Its methods are synchronous: with many servers it runs in a thread of its own.
 * @throws HistoryFileError if the file cannot be used; it is then unchanged
 */
export class HistoryStore {
  readonly #db: Database.Database
  readonly #options: StoreOptions
  readonly #statements = new Map<string, Database.Statement>()
  /** What the rows of `servers` have at least: nearly all values are neither the first ones nor records. */
  readonly #firstAt = new Map<number, number>()
  readonly #records = new Map<number, number>()
  readonly #overview = new Overview(
    ({ table }, time) =>
      this.#all(`SELECT server, known_ms, up_ms, players_mean FROM ${table} WHERE time = ?`, time) as readonly (
        | number
        | null
      )[][],
  )

  constructor(options: StoreOptions) {
    this.#options = options
    this.#db = openDatabase(options)
  }

  /** Adds the servers that are new. */
  servers(names: readonly string[], now: number): readonly StoredServer[] {
    return this.#inTransaction(() =>
      names.map((name) => {
        if (!this.#options.isReadOnly) this.#run('INSERT INTO servers (name) VALUES (?) ON CONFLICT DO NOTHING', name)
        const id = this.#first('SELECT id FROM servers WHERE name = ?', name)?.[0] ?? -1
        const last = (kinds: string, column: string) =>
          this.#first(
            `SELECT ${column} FROM events WHERE server = ? AND kind IN (${kinds}) ORDER BY time DESC LIMIT 1`,
            id,
          )?.[0] ?? null
        return {
          id: Number(id),
          online: this.#all('SELECT player FROM sessions WHERE server = ? AND online = 1', id).map(([player]) => String(player)),
          lastAt: this.#lastAt(Number(id), now),
          state: last(`'up', 'down', 'hung'`, 'kind') as StoredServer['state'],
          version: last(`'version'`, 'detail') as string | null,
          incident: this.#openIncident(Number(id)),
        }
      }),
    )
  }

  /** @throws Error of the database; nothing is written then */
  write({ slices, sessions, events, incidents }: Batch): void {
    this.#inTransaction(() => {
      this.#writeSlices([...divide(slices)])
      for (const change of sessions) this.#writeSession(change)
      for (const { time, server, kind, detail } of events)
        this.#run('INSERT OR REPLACE INTO events (time, server, kind, detail) VALUES (?, ?, ?, ?)', time, server, kind, detail)
      for (const { server, from, kind, to, knownAt, unknownMs, detail } of incidents)
        this.#run(
          'INSERT OR REPLACE INTO incidents (server, from_at, kind, to_at, known_at, unknown_ms, detail) VALUES (?, ?, ?, ?, ?, ?, ?)',
          ...[server, from, kind, to, knownAt, unknownMs, detail],
        )
    })
  }

  range(server: number, query: RangeQuery, now: number): RangeValues {
    return readRange((level, from, to) => this.#buckets(level, server, from, to), query, now)
  }

  /** @param days 1 to 400, today included */
  uptime(server: number, days: number, now: number): Uptime {
    const found = this.#first('SELECT first_at, record_players, record_at FROM servers WHERE id = ?', server)
    return readUptime(
      (from, to) => this.#buckets(levels[3], server, from, to),
      (found ?? []) as readonly (number | null)[],
      days,
      now,
    )
  }

  /** The last sessions, newest first. */
  sessions(server: number): readonly Session[] {
    return this.#sessions('server = ? ORDER BY id DESC LIMIT 200', server)
  }

  /** @param range milliseconds up to now */
  players(server: number, range: number, now: number): readonly PlayerTime[] {
    const found = this.#sessions('server = ? AND (changed_at >= ? OR online = 1) ORDER BY id DESC', server, now - range)
    return readPlayers(found, range, now)
  }

  /** As `players`, the first `count`. */
  playerHistories(server: number, range: number, count: number, now: number): readonly PlayerHistory[] {
    return this.players(server, range, now)
      .slice(0, count)
      .map((played) => {
        const { ID, NAME } = played.player
        const column = ID === '' ? 'player' : 'uuid'
        const [joined = null, left = null] =
          this.#first(
            `SELECT joined_at, left_at FROM sessions WHERE server = ? AND ${column} = ? ORDER BY id LIMIT 1`,
            ...[server, ID === '' ? NAME : ID],
          ) ?? []
        return { ...played, firstSeen: (joined ?? left) as number | null }
      })
  }

  /** Whether any server has a session of the player. @param uuid with dashes */
  hasPlayer(uuid: string): boolean {
    return this.#first('SELECT 1 FROM sessions WHERE uuid = ?', uuid) !== undefined
  }

  /** The last 24 hours and 90 days of all servers. */
  overview(now: number): OverviewValues {
    return this.#overview.values(this.#lastServer(), now)
  }

  /** The players of servers in the last 24 hours. See `Overview`. */
  playerCounts(servers: readonly number[], maxServers: number, now: number): PlayerCounts<number> {
    return this.#overview.playerCounts(this.#lastServer(), servers, maxServers, now)
  }

  /** The maximum number of players on all servers between two times, by minutes. */
  peak(from: number, to: number): { readonly players: number; readonly at: number } | null {
    const [players, at] =
      this.#first(
        `SELECT sum(players_mean) AS total, time FROM minutes WHERE time >= ? AND time < ? AND players_mean IS NOT NULL
        GROUP BY time ORDER BY total DESC, time LIMIT 1`,
        from,
        to,
      ) ?? []
    return typeof players === 'number' && typeof at === 'number' ? { players: Math.round(players), at } : null
  }

  /** Newest first. */
  incidents({ servers, since, limit }: IncidentQuery): readonly Incident[] {
    // A read-only file of an earlier version has none.
    if (this.#first("SELECT 1 FROM sqlite_schema WHERE name = 'incidents'") === undefined) return []
    const select = `SELECT server, name, ${incidentColumns} FROM incidents JOIN servers ON servers.id = server`
    const until = 'ifnull(to_at, known_at) >= ?'
    const rows =
      servers === undefined
        ? this.#all(`${select} WHERE ${until} ORDER BY from_at DESC LIMIT ?`, since, limit)
        : servers.flatMap((name) =>
            this.#all(`${select} WHERE name = ? AND ${until} ORDER BY from_at DESC LIMIT ?`, name, since, limit),
          )
    return rows
      .toSorted((a, b) => Number(b[2]) - Number(a[2]))
      .slice(0, limit)
      .map(([server, name, ...row]) => {
        const incident = toIncident(row)
        return {
          ...incident,
          id: incidentId(Number(server), incident.from),
          server: String(name),
          notes: this.#notes(Number(server), incident.from),
        }
      })
  }

  /**
   * Adds a note to an incident, by the number of the server and the start, or else to the newest one of a server.
   * @returns the incident; undefined if there is none
   * @throws RangeError if it has too many notes
   */
  addNote(of: { readonly server: number; readonly from: number } | string, note: IncidentNote): Incident | undefined {
    return this.#inTransaction(() => {
      const [name] =
        typeof of === 'string' ? [of] : (this.#first('SELECT name FROM servers WHERE id = ?', of.server) ?? [undefined])
      const all =
        name == null ? [] : this.incidents({ servers: [String(name)], since: 0, limit: typeof of === 'string' ? 1 : 1e6 })
      const incident = typeof of === 'string' ? all[0] : all.find(({ from }) => from === of.from)
      if (incident === undefined) return undefined
      if (incident.notes.length >= maxNotes) throw new RangeError(`it has ${maxNotes} notes already`)
      const server = Number(this.#first('SELECT id FROM servers WHERE name = ?', incident.server)?.[0])
      this.#run(
        'INSERT INTO incident_notes (server, from_at, at, note) VALUES (?, ?, ?, ?)',
        ...[server, incident.from, note.at, note.text],
      )
      return { ...incident, notes: [...incident.notes, note] }
    })
  }

  /** Deletes what is older than it is kept: at most so much at once that other calls need not wait long. */
  prune(now: number): void {
    if (this.#options.isReadOnly) return
    const keptMs = this.#options.days * dayMs
    this.#inTransaction(() => {
      for (const { table, step, span } of levels) {
        const before = now - step - (table === 'days' ? keptMs : Math.min(span, keptMs))
        this.#run(`DELETE FROM ${table} WHERE time < min(?, (SELECT min(time) FROM ${table}) + ${60 * step})`, before)
      }
      this.#run('DELETE FROM events WHERE time < min(?, (SELECT min(time) FROM events) + ?)', now - keptMs, dayMs)
      this.#run('DELETE FROM incidents WHERE from_at < min(?, (SELECT min(from_at) FROM incidents) + ?)', now - keptMs, dayMs)
      this.#run('DELETE FROM incident_notes WHERE from_at < ?', now - keptMs)
      // Older ones have smaller numbers.
      this.#run(
        'DELETE FROM sessions WHERE id IN (SELECT id FROM sessions ORDER BY id LIMIT 1000) AND changed_at < ? AND online = 0',
        now - keptMs,
      )
    })
  }

  /**
   * Takes over the file of a server by an earlier version.
   * @returns false if it cannot be read
   * @throws Error of the system or the database; nothing is written then
   */
  importFile(path: string, now: number): boolean {
    const file = basename(path)
    // The process may have been killed before the file was moved.
    if (this.#first('SELECT 1 FROM imported WHERE file = ?', file) !== undefined) return true
    const old = readOldFile(path)
    if (old === undefined) return false
    this.#inTransaction(() => {
      this.#run('INSERT INTO imported (file) VALUES (?)', file)
      const id = this.servers([old.server], now)[0]?.id ?? -1
      const own = (slices: Float64Array) => slices.map((value, index) => (index % sliceSize === layout.server ? id : value))
      for (const [level, slices] of old.levels) this.#writeLevel(level, [own(slices)])
      if (old.since !== undefined) this.#since(id, old.since)
      if (old.record !== undefined) this.#record(id, old.record.players, old.record.at)
      this.#writeSlices(old.slices.length > 0 ? [own(old.slices)] : [])
      for (const { name, id: uuid = null, from = null, to = null, isOnline } of old.sessions)
        this.#run(
          'INSERT INTO sessions (server, player, uuid, joined_at, left_at, online, changed_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
          ...[id, name, uuid, from, to, isOnline ? 1 : 0, to ?? from ?? now],
        )
    })
    return true
  }

  /** Memory used for a database in memory, or for pages of the file, in bytes. */
  bytes(): number {
    const bytes = Number(this.#first('PRAGMA page_count')?.[0]) * Number(this.#first('PRAGMA page_size')?.[0])
    return this.#options.path === undefined ? bytes : Math.min(bytes, cacheBytes)
  }

  close(): void {
    const { path, isReadOnly, isTemporary } = this.#options
    if (path !== undefined && !isReadOnly && !isTemporary) {
      try {
        // Removes the journal, so that the file alone is the history.
        this.#all('PRAGMA busy_timeout = 0')
        this.#all('PRAGMA wal_checkpoint(TRUNCATE)')
        this.#all('PRAGMA journal_mode = DELETE')
      } catch {
        // Another program has the file open: the last one to close it removes the journal.
      }
    }
    this.#statements.clear()
    this.#db.close()
  }

  /** @param servers slices of each server */
  #writeSlices(servers: readonly Float64Array[]): void {
    for (const level of levels) this.#writeLevel(level, servers)
    for (const slices of servers) {
      const id = slices[layout.server] ?? -1
      this.#since(id, slices[layout.start] ?? 0)
      for (const slice of joinSlices(slices, Number.MAX_SAFE_INTEGER)) {
        const players = slice[layout.series + ofSeries.max] ?? 0
        if (Number.isFinite(players)) this.#record(id, players, slice[layout.peakAt] ?? 0)
      }
    }
  }

  /** Adds slices to the buckets of one level. @param servers slices of each server */
  #writeLevel(level: Level, servers: readonly Float64Array[]): void {
    /** The rows by the series that they have, as bits: most servers have two of five. */
    const rows = new Map<number, number[][]>()
    for (const slices of servers) {
      for (const slice of joinSlices(slices, level.step)) {
        const row = [slice[layout.start] ?? 0, slice[layout.server] ?? 0, slice[layout.knownMs] ?? 0, slice[layout.upMs] ?? 0]
        let known = 0
        for (let series = 0; series < seriesNames.length; series++) {
          const first = layout.series + series * ofSeries.size
          const knownMs = slice[first] ?? 0
          if (knownMs === 0) continue
          row.push(
            knownMs,
            (slice[first + ofSeries.sum] ?? 0) / knownMs,
            slice[first + ofSeries.min] ?? 0,
            slice[first + ofSeries.max] ?? 0,
          )
          known |= 1 << series
        }
        if (level.table === 'days') row.push(slice[layout.peakAt] ?? 0)
        const same = rows.get(known) ?? []
        same.push(row)
        rows.set(known, same)
      }
    }
    for (const [known, same] of rows) {
      const names = seriesNames.filter((_, series) => (known & (1 << series)) !== 0)
      // A statement of many rows takes half as long as one of each (`npm run bench -- history`).
      for (let at = 0; at < same.length; ) {
        const count = same.length - at >= rowsAtOnce ? rowsAtOnce : 1
        const key = `${level.table} ${known} ${count}`
        const statement = this.#statements.get(key) ?? this.#db.prepare(upsertBuckets(level, names, count))
        this.#statements.set(key, statement)
        statement.run(same.slice(at, at + count).flat())
        at += count
      }
    }
  }

  #since(id: number, at: number): void {
    if ((this.#firstAt.get(id) ?? Number.POSITIVE_INFINITY) <= at) return
    this.#firstAt.set(id, at)
    this.#run('UPDATE servers SET first_at = ?1 WHERE id = ?2 AND (first_at IS NULL OR first_at > ?1)', at, id)
  }

  #record(id: number, players: number, at: number): void {
    if ((this.#records.get(id) ?? -1) >= players) return
    this.#records.set(id, players)
    this.#run(
      'UPDATE servers SET record_players = ?1, record_at = ?2 WHERE id = ?3 AND ifnull(record_players, -1) < ?1',
      ...[players, at, id],
    )
  }

  #writeSession(change: SessionChange & { readonly server: number }): void {
    const { server, kind, name, at, changedAt } = change
    if (kind === 'join')
      this.#run(
        'INSERT INTO sessions (server, player, uuid, joined_at, online, changed_at) VALUES (?, ?, ?, ?, 1, ?)',
        ...[server, name, change.id, at, changedAt],
      )
    else
      this.#run(
        'UPDATE sessions SET left_at = ?, online = 0, changed_at = ? WHERE server = ? AND player = ? AND online = 1',
        ...[at, changedAt, server, name],
      )
  }

  /** The buckets of one server. Each is looked up: between them are those of all others. */
  #buckets(level: Level, server: number, from: number, to: number): readonly Row[] {
    return this.#all(
      `WITH RECURSIVE starts (time) AS (SELECT ? UNION ALL SELECT time + ${level.step} FROM starts WHERE time + ${level.step} < ?)
        SELECT ${bucketColumns(level)
          .map((column) => `bucket.${column}`)
          .join(', ')}
        FROM starts CROSS JOIN ${level.table} AS bucket ON bucket.time = starts.time AND bucket.server = ?`,
      ...[from, to, server],
    )
  }

  #openIncident(server: number): IncidentRecord | undefined {
    if (this.#options.isReadOnly) return undefined
    const found = this.#first(
      `SELECT ${incidentColumns} FROM incidents WHERE server = ? AND to_at IS NULL ORDER BY from_at DESC LIMIT 1`,
      server,
    )
    return found && toIncident(found)
  }

  #notes(server: number, from: number): readonly IncidentNote[] {
    return this.#all('SELECT at, note FROM incident_notes WHERE server = ? AND from_at = ? ORDER BY at', server, from).map(
      ([at, text]) => ({ at: Number(at), text: String(text) }),
    )
  }

  /** The largest number of a server. */
  #lastServer(): number {
    return Number(this.#first('SELECT max(id) FROM servers')?.[0])
  }

  #lastAt(server: number, now: number): number | null {
    const { table, step } = levels[0]
    const to = Math.ceil(now / step) * step
    const found = this.#first(
      `WITH RECURSIVE starts (time) AS (SELECT ? UNION ALL SELECT time - ${step} FROM starts WHERE time > ?)
        SELECT bucket.time FROM starts CROSS JOIN ${table} AS bucket ON bucket.time = starts.time AND bucket.server = ? LIMIT 1`,
      ...[to, to - 10 * minute, server],
    )
    return found === undefined ? null : Math.min(now, Number(found[0]) + step)
  }

  #sessions(condition: string, ...values: readonly (number | string)[]): readonly Session[] {
    return this.#all(`SELECT player, uuid, joined_at, left_at, online FROM sessions WHERE ${condition}`, ...values).map(toSession)
  }

  #all(sql: string, ...values: Row): readonly Row[] {
    return this.#prepared(sql).raw().all(values) as Row[]
  }

  /** The first row. In libsql it takes less memory than all rows, which is only freed between two turns of the event loop. */
  #first(sql: string, ...values: Row): Row | undefined {
    return this.#prepared(sql).raw().get(values) as Row | undefined
  }

  #run(sql: string, ...values: Row): void {
    this.#prepared(sql).run(values)
  }

  #prepared(sql: string): Database.Statement {
    const found = this.#statements.get(sql) ?? this.#db.prepare(sql)
    this.#statements.set(sql, found)
    return found
  }

  #inTransaction<T>(action: () => T): T {
    if (this.#options.isReadOnly || this.#db.inTransaction) return action()
    this.#db.exec('BEGIN IMMEDIATE')
    try {
      const result = action()
      this.#db.exec('COMMIT')
      return result
    } catch (error) {
      if (this.#db.inTransaction) this.#db.exec('ROLLBACK')
      this.#firstAt.clear()
      this.#records.clear()
      throw error
    }
  }
}

const incidentColumns = 'from_at, kind, to_at, known_at, unknown_ms, detail'

const toIncident = ([from, kind, to, knownAt, unknownMs, detail]: Row): IncidentRecord => ({
  kind: kind as IncidentRecord['kind'],
  from: Number(from),
  to: to as number | null,
  knownAt: Number(knownAt),
  unknownMs: Number(unknownMs),
  detail: detail as string | null,
})

/** The slices of each server. */
function* divide(slices: Float64Array): Generator<Float64Array> {
  for (let at = 0; at < slices.length; ) {
    const begin = at
    while (at < slices.length && slices[at + layout.server] === slices[begin + layout.server]) at += sliceSize
    yield slices.subarray(begin, at)
  }
}
