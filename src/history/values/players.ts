import { type Player, toPlayer } from '../../http/players.ts'
import type { Static } from '../../util/schema.ts'
import type { Session } from '../recording/sessions.ts'

/** What one player played in a range of time. */
export interface PlayerTime {
  readonly player: Static<typeof Player>
  /** Of the sessions of which start and end are known. */
  readonly seconds: number
  readonly sessions: number
  /** Unix milliseconds. */
  readonly lastSeen: number
  /** Null if that is not known now. */
  readonly online: boolean | null
}

/** A player of the range, as the page shows it. */
export interface PlayerHistory extends PlayerTime {
  /** Unix milliseconds; null if the player joined for the first time before the server was watched. */
  readonly firstSeen: number | null
}

/**
 * The players of the sessions that reach into the range, longest time first. A session is left out if neither its start nor its
 * end is known.
 * @param sessions newest first
 * @param range milliseconds up to `now`
 * @param isKnown whether it is known now who is online; otherwise sessions are counted up to when that was known
 */
export function readPlayers(sessions: readonly Session[], range: number, now: number, isKnown: boolean): readonly PlayerTime[] {
  const start = now - range
  const found = new Map<string, PlayerTime>()
  for (const { name, id, from, to, isOnline, changedAt } of sessions) {
    const end = isOnline ? (isKnown ? now : changedAt) : to
    const seen = end ?? from
    if (seen === undefined || seen < start) continue
    const key = id ?? name
    const before = found.get(key)
    const playedMs = from === undefined || end === undefined ? 0 : Math.max(0, end - Math.max(from, start))
    found.set(key, {
      player: before?.player ?? toPlayer({ name, ...(id !== undefined && { id }) }),
      seconds: (before?.seconds ?? 0) + playedMs / 1000,
      sessions: (before?.sessions ?? 0) + 1,
      lastSeen: Math.max(before?.lastSeen ?? 0, seen),
      online: isOnline ? isKnown || null : before === undefined ? false : before.online,
    })
  }
  return [...found.values()]
    .map((entry) => ({ ...entry, seconds: Math.round(entry.seconds) }))
    .sort((a, b) => b.seconds - a.seconds || b.lastSeen - a.lastSeen || (a.player.NAME < b.player.NAME ? -1 : 1))
}
