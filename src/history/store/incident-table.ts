import {
  type Incident,
  type IncidentKey,
  type IncidentNote,
  type IncidentQuery,
  type IncidentRecord,
  incidentId,
  maxNotes,
} from '../incidents.ts'
import { dayMs } from '../values/levels.ts'
import type { Connection, Row } from './connection.ts'

const incidentColumns = 'from_at, kind, to_at, known_at, unknown_ms, detail'

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

  /** Newest first. */
  list({ servers, since, limit }: IncidentQuery): readonly Incident[] {
    // A read-only file of an earlier version has none.
    if (this.#connection.first("SELECT 1 FROM sqlite_schema WHERE name = 'incidents'") === undefined) return []
    const select = `SELECT server, name, ${incidentColumns} FROM incidents JOIN servers ON servers.id = server`
    const until = 'ifnull(to_at, known_at) >= ?'
    const rows =
      servers === undefined
        ? this.#connection.all(`${select} WHERE ${until} ORDER BY from_at DESC LIMIT ?`, since, limit)
        : servers.flatMap((name) =>
            this.#connection.all(`${select} WHERE name = ? AND ${until} ORDER BY from_at DESC LIMIT ?`, name, since, limit),
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
  addNote(of: IncidentKey | string, note: IncidentNote): Incident | undefined {
    const [name] =
      typeof of === 'string' ? [of] : (this.#connection.first('SELECT name FROM servers WHERE id = ?', of.server) ?? [undefined])
    const all = name == null ? [] : this.list({ servers: [String(name)], since: 0, limit: typeof of === 'string' ? 1 : 1e6 })
    const incident = typeof of === 'string' ? all[0] : all.find(({ from }) => from === of.from)
    if (incident === undefined) return undefined
    if (incident.notes.length >= maxNotes) throw new RangeError(`it has ${maxNotes} notes already`)
    const server = Number(this.#connection.first('SELECT id FROM servers WHERE name = ?', incident.server)?.[0])
    this.#connection.run(
      'INSERT INTO incident_notes (server, from_at, at, note) VALUES (?, ?, ?, ?)',
      ...[server, incident.from, note.at, note.text],
    )
    return { ...incident, notes: [...incident.notes, note] }
  }

  /** The one that has not ended. */
  open(server: number): IncidentRecord | undefined {
    const found = this.#connection.first(
      `SELECT ${incidentColumns} FROM incidents WHERE server = ? AND to_at IS NULL ORDER BY from_at DESC LIMIT 1`,
      server,
    )
    return found && toIncident(found)
  }

  #notes(server: number, from: number): readonly IncidentNote[] {
    return this.#connection
      .all('SELECT at, note FROM incident_notes WHERE server = ? AND from_at = ? ORDER BY at', server, from)
      .map(([at, text]) => ({ at: Number(at), text: String(text) }))
  }

  /** Deletes those of before a time, of about a day. */
  prune(before: number): void {
    this.#connection.run(
      'DELETE FROM incidents WHERE from_at < min(?, (SELECT min(from_at) FROM incidents) + ?)',
      ...[before, dayMs],
    )
    this.#connection.run('DELETE FROM incident_notes WHERE from_at < ?', before)
  }
}
