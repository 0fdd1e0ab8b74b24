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
    const { server, kind, name, at, changedAt } = change
    if (kind === 'join')
      this.#connection.run(
        'INSERT INTO sessions (server, player, uuid, joined_at, online, changed_at) VALUES (?, ?, ?, ?, 1, ?)',
        ...[server, name, change.id, at, changedAt],
      )
    else
      this.#connection.run(
        'UPDATE sessions SET left_at = ?, online = 0, changed_at = ? WHERE server = ? AND player = ? AND online = 1',
        ...[at, changedAt, server, name],
      )
  }

  /** Adds one that has a start and an end already. */
  add(server: number, { name, id, from, to, isOnline }: Session, now: number): void {
    this.#connection.run(
      'INSERT INTO sessions (server, player, uuid, joined_at, left_at, online, changed_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
      ...[server, name, id ?? null, from ?? null, to ?? null, isOnline ? 1 : 0, to ?? from ?? now],
    )
  }

  /** Names of the players that are online. */
  online(server: number): readonly string[] {
    return this.#connection
      .all('SELECT player FROM sessions WHERE server = ? AND online = 1', server)
      .map(([player]) => String(player))
  }

  /** The last sessions, newest first. */
  last(server: number): readonly Session[] {
    return this.#select('server = ? ORDER BY id DESC LIMIT 200', server)
  }

  /** @param range milliseconds up to now */
  players(server: number, range: number, now: number): readonly PlayerTime[] {
    const found = this.#select('server = ? AND (changed_at >= ? OR online = 1) ORDER BY id DESC', server, now - range)
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

  /** Deletes a thousand that nothing has changed since a time. Older ones have smaller numbers. */
  prune(before: number): void {
    this.#connection.run(
      'DELETE FROM sessions WHERE id IN (SELECT id FROM sessions ORDER BY id LIMIT 1000) AND changed_at < ? AND online = 0',
      before,
    )
  }

  #select(condition: string, ...values: readonly (number | string)[]): readonly Session[] {
    return this.#connection
      .all(`SELECT player, uuid, joined_at, left_at, online FROM sessions WHERE ${condition}`, ...values)
      .map(toSession)
  }
}
