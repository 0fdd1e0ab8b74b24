import { type Session, type SessionChange, toSession } from '../recording/sessions.ts'
import { type PlayerHistory, type PlayerTime, readPlayers } from '../values/players.ts'
import type { Connection } from './connection.ts'

/** The table of the sessions of players. */
export class SessionTable {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  write(change: SessionChange & { readonly server: number }): void {
    const { server, kind, changedAt } = change
    if (kind === 'stay')
      this.#connection.run('UPDATE sessions SET changed_at = ? WHERE server = ? AND online = 1', changedAt, server)
    else if (kind === 'join')
      this.#connection.run(
        'INSERT INTO sessions (server, player, uuid, joined_at, online, changed_at) VALUES (?, ?, ?, ?, 1, ?)',
        ...[server, change.name, change.id, change.at, changedAt],
      )
    else
      this.#connection.run(
        'UPDATE sessions SET left_at = ?, online = 0, changed_at = ? WHERE server = ? AND player = ? AND online = 1',
        ...[change.at, changedAt, server, change.name],
      )
  }

  /** Adds one that has a start and an end already. */
  add(server: number, { name, id, from, to, isOnline, changedAt }: Session): void {
    this.#connection.run(
      'INSERT INTO sessions (server, player, uuid, joined_at, left_at, online, changed_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
      ...[server, name, id ?? null, from ?? null, to ?? null, isOnline ? 1 : 0, changedAt],
    )
  }

  /** Names of the players that were online when they were last listed, and when that was, Unix milliseconds. */
  online(server: number): { readonly online: readonly string[]; readonly onlineAt: number } {
    const rows = this.#connection.all('SELECT player, changed_at FROM sessions WHERE server = ? AND online = 1', server)
    return {
      online: rows.map(([player]) => String(player)),
      onlineAt: rows.reduce((last, [, changedAt]) => Math.max(last, Number(changedAt)), Number.NEGATIVE_INFINITY),
    }
  }

  /** The last sessions, newest first. */
  last(server: number): readonly Session[] {
    return this.#select('server = ? ORDER BY id DESC LIMIT 200', server)
  }

  /** @param range milliseconds up to now; @param isKnown whether it is known now who is online */
  players(server: number, range: number, now: number, isKnown: boolean): readonly PlayerTime[] {
    return readPlayers(this.#select('server = ? AND changed_at >= ? ORDER BY id DESC', server, now - range), range, now, isKnown)
  }

  /** As `players`, the first `count`. */
  playerHistories(server: number, range: number, count: number, now: number, isKnown: boolean): readonly PlayerHistory[] {
    return this.players(server, range, now, isKnown)
      .slice(0, count)
      .map((played) => {
        const { ID, NAME } = played.player
        const column = ID === '' ? 'player' : 'uuid'
        const [joined = null, left = null] =
          this.#connection.first(
            `SELECT joined_at, left_at FROM sessions WHERE server = ? AND ${column} = ? ORDER BY id LIMIT 1`,
            ...[server, ID === '' ? NAME : ID],
          ) ?? []
        return { ...played, firstSeen: (joined ?? left) as number | null }
      })
  }

  /** Whether any server has a session of the player. @param uuid with dashes */
  hasPlayer(uuid: string): boolean {
    return this.#connection.first('SELECT 1 FROM sessions WHERE uuid = ?', uuid) !== undefined
  }

  /** Deletes up to a thousand that nothing has changed since a time. */
  prune(before: number): void {
    const old =
      'SELECT sessions.id FROM servers CROSS JOIN sessions ON sessions.server = servers.id AND changed_at < ? LIMIT 1000'
    this.#connection.run(`DELETE FROM sessions WHERE id IN (${old})`, before)
  }

  #select(condition: string, ...values: readonly (number | string)[]): readonly Session[] {
    return this.#connection
      .all(`SELECT player, uuid, joined_at, left_at, online, changed_at FROM sessions WHERE ${condition}`, ...values)
      .map(toSession)
  }
}
