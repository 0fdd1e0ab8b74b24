import type { Clock } from '../clock.ts'
import type { Fleet } from '../game/fleet.ts'
import type { Log } from '../log.ts'
import { createHistoryFile } from './file.ts'
import { levels } from './levels.ts'
import { type RangeQuery, type RangeValues, readRange } from './range.ts'
import { createRecordedServer, type RecordedServer } from './recorded-server.ts'
import type { Session } from './sessions.ts'
import { type RecentUptime, readRecentUptime, readUptime, type Uptime } from './uptime.ts'

/** The history of all servers. An unknown server is one of which nothing was ever known. */
export interface History {
  range(server: string, query: RangeQuery): RangeValues
  /** @param days 1 to 400, today included */
  uptime(server: string, days: number): Uptime
  /** The last 24 hours by quarters of an hour. */
  recentUptime(server: string): RecentUptime
  /** The last 200 sessions, newest first. */
  sessions(server: string): readonly Session[]
  /** Memory held, in bytes. */
  bytes(): number
  /** Writes what is not written yet. */
  close(): Promise<void>
}

export interface HistoryOptions {
  readonly fleet: Fleet
  readonly clock: Clock
  /** Absent: in memory only. */
  readonly folder?: string
  readonly log: Log
}

const finest = levels[0].step

/** Records what the snapshots of the fleet say; what an earlier process has written is loaded when it returns. */
export async function openHistory({ fleet, clock, folder, log }: HistoryOptions): Promise<History> {
  const servers = new Map<string, RecordedServer>()
  const loading: Promise<void>[] = []

  function of(server: string): RecordedServer {
    const before = servers.get(server)
    if (before !== undefined) return before
    const staleAfter = fleet.get(server)?.settings.staleAfter ?? Number.POSITIVE_INFINITY
    const file = folder === undefined ? undefined : createHistoryFile(folder, server)
    const recorded = createRecordedServer({ clock, staleAfter, log, ...(file && { file }) })
    servers.set(server, recorded)
    loading.push(recorded.load())
    return recorded
  }

  /** One after the other: thousands of servers must not take all file descriptors. */
  async function save(): Promise<void> {
    await Promise.all(loading.splice(0))
    for (const recorded of servers.values()) await recorded.save()
  }

  /** A file written anew is flushed to the disk, which takes a while: the others must not wait for that. */
  async function tidySome(): Promise<void> {
    const begun = clock.now()
    for (const recorded of servers.values()) {
      if (clock.now() - begun > finest / 2) return
      await recorded.tidy()
    }
  }

  let saving: Promise<void> | undefined
  let isDue = false
  let cancel = () => {}

  async function saveWhileDue(): Promise<void> {
    while (isDue) {
      isDue = false
      await save()
      await tidySome()
    }
    saving = undefined
  }

  /** At the end of each bucket of the finest step, so that no more than one is lost when the process is killed. */
  function schedule(): void {
    const now = clock.wall()
    cancel = clock.after((Math.floor(now / finest) + 1) * finest - now, () => {
      schedule()
      isDue = true
      saving ??= saveWhileDue()
    })
  }

  const unsubscribe = fleet.subscribe((snapshot) => of(snapshot.server).observe(snapshot))
  for (const { server } of fleet.watchers) of(server)
  await Promise.all(loading.splice(0))
  schedule()

  return {
    range: (server, query) => readRange(of(server).settled(), query, clock.wall()),
    uptime: (server, days) => readUptime(of(server).settled(), days, clock.wall()),
    recentUptime: (server) => readRecentUptime(of(server).settled(), clock.wall()),
    sessions: (server) => of(server).sessions.list(),
    bytes: () => [...servers.values()].reduce((sum, recorded) => sum + recorded.bytes(), 0),
    async close() {
      unsubscribe()
      cancel()
      await saving
      for (const recorded of servers.values()) {
        await recorded.save()
        await recorded.tidy()
      }
    },
  }
}
