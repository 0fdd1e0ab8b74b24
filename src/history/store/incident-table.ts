import {
  type Incident,
  type IncidentKey,
  type IncidentNote,
  type IncidentQuery,
  type IncidentRecord,
  incidentId,
  maxNotes,
} from '../incidents.ts'
import type { Connection, Row } from './connection.ts'

const incidentColumns = 'from_at, kind, to_at, known_at, unknown_ms, detail'

/** Not a join, for which SQLite reads all incidents. */
const selectIncidents = `SELECT server, (SELECT name FROM servers WHERE id = server), ${incidentColumns} FROM incidents`
const ofServer = 'server = (SELECT id FROM servers WHERE name = ?)'

const toIncident = ([from, kind, to, knownAt, unknownMs, detail]: Row): IncidentRecord => ({
  kind: kind as IncidentRecord['kind'],
  from: Number(from),
  to: to as number | null,
  knownAt: Number(knownAt),
  unknownMs: Number(unknownMs),
  detail: detail as string | null,
})

/** The tables of incidents and their notes. */
export class IncidentTable {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Each replaces what was written of it before. */
  write(incidents: readonly (IncidentRecord & { readonly server: number })[]): void {
    for (const { server, from, kind, to, knownAt, unknownMs, detail } of incidents)
      this.#connection.run(
        'INSERT OR REPLACE INTO incidents (server, from_at, kind, to_at, known_at, unknown_ms, detail) VALUES (?, ?, ?, ?, ?, ?, ?)',
        ...[server, from, kind, to, knownAt, unknownMs, detail],
      )
  }

  /** Those of the names that no server has. */
  unknownServers(names: readonly string[]): readonly string[] {
    if (!this.#hasTable('servers')) return names
    return names.filter((name) => this.#connection.first('SELECT 1 FROM servers WHERE name = ?', name) === undefined)
  }

  /** Newest first. */
  list({ servers, since, limit }: IncidentQuery): readonly Incident[] {
    if (!this.#hasTable('incidents')) return []
    const rows = (condition: string, ...values: Row) =>
      this.#connection.all(`${selectIncidents} WHERE ${condition} ORDER BY from_at DESC LIMIT ?`, ...values, limit)
    // At most one incident of a server goes on at a time, so only the last one that began before can have ended after.
    const last = 'SELECT id, (SELECT max(from_at) FROM incidents WHERE server = id AND from_at < ?) FROM servers'
    const read = (among: string, ...name: Row) => [
      ...rows(`server IN (SELECT id FROM servers ${among}) AND from_at >= ?`, ...name, since),
      ...rows(`(server, from_at) IN (${last} ${among}) AND ifnull(to_at, known_at) >= ?`, since, ...name, since),
    ]
    const found = servers === undefined ? read('') : servers.flatMap((name) => read('WHERE name = ?', name))
    return found
      .toSorted((a, b) => Number(b[2]) - Number(a[2]))
      .slice(0, limit)
      .map((row) => this.#withNotes(row))
  }

  /**
   * Adds a note to an incident, by the number of the server and the start, or else to the newest one of a server.
   * @returns the incident; undefined if there is none
   * @throws RangeError if it has too many notes
   */
  addNote(of: IncidentKey | string, note: IncidentNote): Incident | undefined {
    return this.#connection.transaction(() => {
      const row =
        typeof of === 'string'
          ? this.#connection.first(`${selectIncidents} WHERE ${ofServer} ORDER BY from_at DESC LIMIT 1`, of)
          : this.#connection.first(`${selectIncidents} WHERE server = ? AND from_at = ?`, of.server, of.from)
      if (row === undefined) return undefined
      const incident = this.#withNotes(row)
      if (incident.notes.length >= maxNotes) throw new RangeError(`it has ${maxNotes} notes already`)
      this.#connection.run(
        'INSERT INTO incident_notes (server, from_at, at, note) VALUES (?, ?, ?, ?)',
        ...[Number(row[0]), incident.from, note.at, note.text],
      )
      return { ...incident, notes: [...incident.notes, note] }
    })
  }

  /** The one that has not ended. */
  open(server: number): IncidentRecord | undefined {
    const found = this.#connection.first(
      `SELECT ${incidentColumns} FROM incidents WHERE server = ? AND to_at IS NULL ORDER BY from_at DESC LIMIT 1`,
      server,
    )
    return found && toIncident(found)
  }

  /** A read-only file may lack it: it is that of an earlier version, or empty. */
  #hasTable(name: string): boolean {
    return this.#connection.first('SELECT 1 FROM sqlite_schema WHERE name = ?', name) !== undefined
  }

  #withNotes([server, name, ...row]: Row): Incident {
    const incident = toIncident(row)
    const notes = this.#connection
      .all('SELECT at, note FROM incident_notes WHERE server = ? AND from_at = ? ORDER BY at', Number(server), incident.from)
      .map(([at, text]) => ({ at: Number(at), text: String(text) }))
    return { ...incident, id: incidentId(Number(server), incident.from), server: String(name), notes }
  }

  /** Deletes up to a thousand that ended before a time. */
  prune(before: number): void {
    const old =
      'SELECT server, from_at FROM incidents WHERE from_at < ?1 AND ifnull(to_at, known_at) < ?1 ORDER BY from_at LIMIT 1000'
    this.#connection.run(`DELETE FROM incidents WHERE (server, from_at) IN (${old})`, before)
    this.#connection.run(
      `DELETE FROM incident_notes WHERE from_at < ?
        AND NOT EXISTS (SELECT 1 FROM incidents AS of WHERE of.server = incident_notes.server AND of.from_at = incident_notes.from_at)`,
      before,
    )
  }
}
