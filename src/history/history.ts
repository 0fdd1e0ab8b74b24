import type { Fleet } from '../game/fleet.ts'
import type { ServerSnapshot } from '../game/snapshot.ts'
import type { Watcher } from '../game/watcher/index.ts'
import type { Clock } from '../util/clock.ts'
import { createLimiter } from '../util/limiter.ts'
import type { Log } from '../util/log.ts'
import { createPauses } from '../util/pauses.ts'
import { createHistoryFile } from './file.ts'
import { levels } from './levels.ts'
import { type PlayerTime, readPlayers } from './players.ts'
import { type RangeQuery, type RangeValues, readRange } from './range.ts'
import { createRecordedServer, type RecordedServer } from './recorded-server.ts'
import type { Session } from './sessions.ts'
import { type RecentUptime, readRecentUptime, readUptime, type Uptime } from './uptime.ts'

/** The history of the watched servers. For any other server it is empty. */
export interface History {
  range(server: string, query: RangeQuery): RangeValues
  /** @param days 1 to 400, today included */
  uptime(server: string, days: number): Uptime
  /** The last 24 hours in quarters of an hour. */
  recentUptime(server: string): RecentUptime
  /** The last 200 sessions, newest first. */
  sessions(server: string): readonly Session[]
  /** @param range milliseconds up to now */
  players(server: string, range: number): readonly PlayerTime[]
  /**
   * Whether any server has a session of the player.
   * @param uuid with dashes
   */
  hasPlayer(uuid: string): boolean
  /** Memory used, in bytes, when the histories were last saved: at most 10 s ago, or longer while that takes longer. */
  bytes(): number
  /** Writes everything that is not on disk yet. */
  close(): Promise<void>
}

export interface HistoryOptions {
  readonly fleet: Fleet
  readonly clock: Clock
  /** Absent: in memory only. */
  readonly folder?: string
  readonly log: Log
  /** False: player sessions are neither recorded nor restored. */
  readonly recordsPlayers?: boolean
  /** Whether a server is in maintenance, of which nothing is recorded: it counts neither as up nor as down. Default: none is. */
  readonly isMaintained?: (server: string) => boolean
}

const finest = levels[0].step

/** Histories that are loaded at once: each has its file in memory, some 200 KB. */
const maxLoading = 4

/**
 * Records the snapshots of the fleet. It resolves after the history written by an earlier process has been loaded. The history of
 * a server that is no longer watched is written and then released; it is loaded again if the server returns.
 */
export async function openHistory({
  fleet,
  clock,
  folder,
  log,
  recordsPlayers = true,
  isMaintained,
}: HistoryOptions): Promise<History> {
  const servers = new Map<string, RecordedServer>()
  /** Histories that are being loaded: nothing is recorded in them until that is done. */
  const loading = new Map<RecordedServer, Promise<void>>()
  /** Histories of servers that are no longer watched, by name, until they are written. */
  const leaving = new Map<string, Promise<void>>()
  const limit = createLimiter(() => maxLoading)
  const unknown = createRecordedServer({ clock, log })
  const of = (server: string): RecordedServer => servers.get(server) ?? unknown

  function observe(snapshot: ServerSnapshot): void {
    const recorded = servers.get(snapshot.server)
    if (recorded === undefined || loading.has(recorded)) return
    if (isMaintained?.(snapshot.server)) recorded.markUnknown()
    else recorded.observe(snapshot)
  }

  function add({ server }: Watcher): void {
    const file = folder === undefined ? undefined : createHistoryFile(folder, server)
    const recorded = createRecordedServer({
      ...{ clock, log, recordsPlayers },
      ...(file && { file }),
    })
    servers.set(server, recorded)
    const load = async () => {
      await leaving.get(server)
      await limit(() => recorded.load())
      loading.delete(recorded)
      const newest = servers.get(server) === recorded ? fleet.get(server)?.snapshot() : undefined
      if (newest !== undefined) recorded.observe(newest)
    }
    loading.set(recorded, load())
  }

  /** Never rejects. */
  async function remove(server: string): Promise<void> {
    const recorded = servers.get(server)
    if (recorded === undefined) return
    servers.delete(server)
    // Before it is written, some time may pass.
    recorded.markUnknown()
    const write = async () => {
      await loading.get(recorded)
      // It may be the history that is being written. A later round does not contain it.
      await round
      await recorded.save()
      await recorded.tidy()
    }
    const written = write()
    leaving.set(server, written)
    await written
    if (leaving.get(server) === written) leaving.delete(server)
  }

  /** Undefined before the first save. */
  let bytesAtSave: number | undefined

  /** One after the other: thousands of servers must not use all file descriptors or block the event loop. */
  async function save(): Promise<void> {
    const pauses = createPauses()
    let bytes = 0
    for (const recorded of servers.values()) {
      const saved = loading.has(recorded) ? undefined : recorded.save()
      if (saved !== undefined) await saved
      bytes += recorded.bytes()
      if (pauses.isDue()) await pauses.take()
    }
    bytesAtSave = bytes
  }

  /** A rewritten file is flushed to disk, which takes a while: the other files must not wait for that. */
  async function tidySome(): Promise<void> {
    const begun = clock.now()
    const pauses = createPauses()
    for (const recorded of servers.values()) {
      if (clock.now() - begun > finest / 2) return
      if (pauses.isDue()) await pauses.take()
      // The file of a history that is not loaded yet would be replaced by an empty one.
      const tidied = loading.has(recorded) ? undefined : recorded.tidy()
      if (tidied !== undefined) await tidied
    }
  }

  /** Must not wait for what is loading: that may wait for a removed history, which waits for the round. */
  let round: Promise<void> | undefined
  let saving: Promise<void> | undefined
  let isDue = false
  let cancel = () => {}

  async function saveWhileDue(): Promise<void> {
    while (isDue) {
      isDue = false
      round = save().then(tidySome)
      await round
    }
    saving = undefined
  }

  /** At the end of each bucket of the finest level, so that at most one is lost if the process is killed. */
  function schedule(): void {
    const now = clock.wall()
    cancel = clock.after((Math.floor(now / finest) + 1) * finest - now, () => {
      schedule()
      isDue = true
      saving ??= saveWhileDue()
    })
  }

  for (const watcher of fleet.watchers) add(watcher)
  const unsubscribe = fleet.subscribe(observe)
  const unfollow = fleet.onChange(({ added, changed, replaced = [], removed }) => {
    for (const server of removed) void remove(server)
    // Until the first poll with the new settings.
    for (const server of changed) servers.get(server)?.markUnknown()
    for (const server of replaced) servers.get(server)?.sessions.end()
    for (const watcher of added.map(fleet.get)) if (watcher !== undefined) add(watcher)
  })
  await Promise.all(loading.values())
  schedule()

  return {
    range: (server, query) => readRange(of(server).current(), query, clock.wall()),
    uptime: (server, days) => readUptime(of(server).current(), days, clock.wall()),
    recentUptime: (server) => readRecentUptime(of(server).current(), clock.wall()),
    sessions: (server) => of(server).sessions.list(),
    players: (server, range) => readPlayers(of(server).sessions.list(), range, Math.round(clock.wall())),
    hasPlayer(uuid) {
      const id = Buffer.from(uuid.replaceAll('-', ''), 'hex')
      return [...servers.values()].some(({ sessions }) => sessions.has(id))
    },
    // To add them up now would block the event loop for 10 ms if there are thousands of servers.
    bytes: () => bytesAtSave ?? [...servers.values()].reduce((sum, recorded) => sum + recorded.bytes(), 0),
    async close() {
      unsubscribe()
      unfollow()
      cancel()
      await Promise.all(loading.values())
      await saving
      await Promise.all(leaving.values())
      for (const recorded of servers.values()) {
        await recorded.save()
        await recorded.tidy()
      }
    },
  }
}
