import { toPlayer } from '../../http/players.ts'
import type { Static } from '../../util/schema.ts'
import type { Session, SessionChange } from '../recording/sessions.ts'
import type { PlayersReply } from '../routes/schemas.ts'
import type { Connection } from './connection.ts'

/** What one player played in a range of time. */
export type PlayerTime = Readonly<Static<typeof PlayersReply>['players'][number]>

export interface Regular extends PlayerTime {
  /** Of all sessions, Unix milliseconds; null if the player joined for the first time before the server was watched. */
  readonly firstSeen: number | null
}

/** How many players are listed at most. */
const maxPlayers = 10_000
/** How many sessions of a server are kept: a server may list other players at every poll. */
const maxSessions = 1_000_000
/** After so many new ones it is checked how many a server has, which takes long. */
const maxUnchecked = 10_000

/** The table of the sessions of players. */
export class SessionTable {
  readonly #connection: Connection
  /** New sessions of each server since they were counted. */
  readonly #unchecked = new Map<number, number>()

  constructor(connection: Connection) {
    this.#connection = connection
  }

  write(change: SessionChange & { readonly server: number }): void {
    const { server, kind, changedAt } = change
    if (kind === 'stay')
      this.#connection.run('UPDATE sessions SET changed_at = ? WHERE server = ? AND online = 1', changedAt, server)
    else if (kind === 'join') {
      this.#unchecked.set(server, 1 + (this.#unchecked.get(server) ?? 0))
      this.#connection.run(
        'INSERT INTO sessions (server, player, uuid, joined_at, online, changed_at) VALUES (?, ?, ?, ?, 1, ?)',
        ...[server, change.name, change.id, change.at, changedAt],
      )
    } else
      this.#connection.run(
        'UPDATE sessions SET left_at = ?, online = 0, changed_at = ? WHERE server = ? AND player = ? AND online = 1',
        ...[change.at, changedAt, server, change.name],
      )
  }

  /** Adds one that has a start and an end already. @param changedAt when that was known; while the player is online, last */
  add(server: number, { name, id, from, to, isOnline }: Session, changedAt: number): void {
    this.#connection.run(
      'INSERT INTO sessions (server, player, uuid, joined_at, left_at, online, changed_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
      ...[server, name, id ?? null, from ?? null, to ?? null, isOnline ? 1 : 0, changedAt],
    )
  }

  /** Ends those of players that were online when they were last listed: another version has recorded since then. */
  endUnknown(server: number): void {
    this.#connection.run('UPDATE sessions SET online = 0 WHERE server = ? AND online = 1', server)
  }

  /** Names of the players that were online when they were last listed, and when that was, Unix milliseconds. */
  online(server: number): { readonly online: readonly string[]; readonly onlineAt: number } {
    // Otherwise SQLite reads all sessions of the server.
    const rows = this.#connection.all(
      'SELECT player, changed_at FROM sessions INDEXED BY sessions_online WHERE server = ? AND online = 1',
      server,
    )
    return {
      online: rows.map(([player]) => String(player)),
      onlineAt: rows.reduce((last, [, changedAt]) => Math.max(last, Number(changedAt)), Number.NEGATIVE_INFINITY),
    }
  }

  /** The last sessions, newest first. */
  last(server: number): readonly Session[] {
    const rows = this.#connection.all(
      'SELECT player, uuid, joined_at, left_at, online FROM sessions WHERE server = ? ORDER BY id DESC LIMIT 200',
      server,
    )
    return rows.map(([name, id, from, to, isOnline]) => ({
      name: String(name),
      ...(typeof id === 'string' && { id }),
      ...(typeof from === 'number' && { from }),
      // The clock may have been set back in between.
      ...(typeof to === 'number' && { to: Math.max(to, Number(from)) }),
      isOnline: isOnline === 1,
    }))
  }

  /**
   * The players of the sessions that reach into the range, longest time first. A session is left out if neither its start nor its end
   * is known.
   * @param range milliseconds up to `now`
   * @param isKnown whether it is known now who is online; otherwise sessions are counted up to when that was known
   * @param limit how many of them
   */
  players(server: number, range: number, now: number, isKnown: boolean, limit = maxPlayers): readonly PlayerTime[] {
    return this.#played(server, range, now, isKnown, limit).map(({ session, ...time }) => ({
      player: toPlayer(session),
      ...time,
    }))
  }

  /** The first of `players`, with what is read of each: of all players it would take as long again. */
  regulars(...given: Required<Parameters<SessionTable['players']>>): readonly Regular[] {
    const [server] = given
    return this.#played(...given).map(({ session, ...time }) => {
      const { id, name } = session
      // With a plus, SQLite does not look for the sessions of the server, which are far more than those of the player.
      const [which, value] = id === undefined ? ['server = ? AND player', name] : ['+server = ? AND uuid', id]
      const first = `SELECT ifnull(joined_at, left_at) FROM sessions WHERE ${which} = ? ORDER BY id LIMIT 1`
      const firstSeen = (this.#connection.first(first, server, value)?.[0] ?? null) as number | null
      return { player: toPlayer(session), ...time, firstSeen }
    })
  }

  /** @returns the players as they are stored */
  #played(server: number, range: number, now: number, isKnown: boolean, limit: number) {
    const rows = this.#connection.all(
      `SELECT (SELECT player FROM sessions WHERE id = newest) AS name, uuid, seconds, count, seen, online FROM (
          SELECT max(id) AS newest, uuid, count(*) AS count, max(ifnull(till, joined_at)) AS seen, max(online) AS online,
            CAST(round(sum(ifnull(max(till - max(joined_at, ?2), 0), 0)) / 1000.0) AS INTEGER) AS seconds
          FROM (
            SELECT *, iif(online, iif(?4, ?3, changed_at), max(left_at, ifnull(joined_at, left_at))) AS till
            FROM sessions WHERE server = ?1 AND changed_at >= ?2
          ) WHERE ifnull(till, joined_at) >= ?2 GROUP BY ifnull(uuid, player)
        ) ORDER BY seconds DESC, seen DESC, name LIMIT ?5`,
      ...[server, now - range, now, isKnown ? 1 : 0, limit],
    )
    return rows.map(([name, id, seconds, sessions, lastSeen, online]) => ({
      session: { name: String(name), ...(typeof id === 'string' && { id }) },
      ...{ seconds: Number(seconds), sessions: Number(sessions), lastSeen: Number(lastSeen) },
      online: online === 1 ? isKnown || null : false,
    }))
  }

  /** Deletes up to a thousand that nothing has changed since a time, and all but the newest of a server with very many. */
  prune(before: number): void {
    const old =
      'SELECT sessions.id FROM servers CROSS JOIN sessions ON sessions.server = servers.id AND changed_at < ? LIMIT 1000'
    this.#connection.run(`DELETE FROM sessions WHERE id IN (${old})`, before)
    for (const [server, count] of this.#unchecked) {
      if (count < maxUnchecked) continue
      this.#unchecked.delete(server)
      const last = `SELECT changed_at FROM sessions WHERE server = ?1 ORDER BY changed_at DESC LIMIT 1 OFFSET ${maxSessions}`
      this.#connection.run(`DELETE FROM sessions WHERE server = ?1 AND changed_at <= (${last})`, server)
    }
  }
}
