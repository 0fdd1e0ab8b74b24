import { currentFields } from '../game/current-fields.ts'
import type { Fleet } from '../game/fleet.ts'
import type { ServerSnapshot } from '../game/snapshot.ts'
import type { Clock } from '../util/clock.ts'
import type { Log } from '../util/log.ts'
import type { Incident, IncidentQuery } from './incidents.ts'
import { BatchWriter } from './recording/batch-writer.ts'
import { RecordedServer } from './recording/recorded-server.ts'
import type { Session } from './recording/sessions.ts'
import { openStore } from './store/open-store.ts'
import type { StoreClient } from './store/store-client.ts'
import { type OverviewValues, overviewOf, type PlayerCounts, type ServerOverview } from './values/overview.ts'
import type { PlayerHistory, PlayerTime } from './values/players.ts'
import type { RangeQuery, RangeValues } from './values/range.ts'
import type { Uptime } from './values/uptime.ts'

export interface HistoryOptions {
  readonly fleet: Fleet
  readonly clock: Clock
  /** Absent: in memory only. */
  readonly folder?: string
  /** True: the database in the folder is read and not written. */
  readonly isReadOnly?: boolean
  /** Where an earlier version kept its files; default: the folder. */
  readonly oldFolder?: string
  readonly log: Log
  /** False: player sessions are neither recorded nor read. */
  readonly recordsPlayers?: boolean
  /** Days for which days, sessions and events are kept; default 400. */
  readonly days?: number
  /** Whether the database is used in a thread of its own; default: with more servers than one thread can serve. */
  readonly inThread?: boolean
  /** Whether a server is in maintenance, of which nothing is recorded: it counts neither as up nor as down. Default: none is. */
  readonly isMaintained?: (server: string) => boolean
}

const minute = 60_000
/** Servers that are read or written at once: some milliseconds of work. */
const serversAtOnce = 200
/** With more servers a write or query may take over 10 ms (`npm run bench -- history`). */
const maxLocalServers = 100
/** Milliseconds after which it is tried again to read what is stored of servers. */
const loadPauseMs = 5_000
/** Milliseconds after which incidents that have begun or ended are written: those of all servers together. */
const incidentSaveMs = 1_000

/**
 * Opens the history of the watched servers and records their snapshots. What is recorded is written once a minute; each query
 * first writes what it would miss.
 */
export async function openHistory(options: HistoryOptions): Promise<History> {
  const { fleet, clock, inThread = fleet.watchers.length > maxLocalServers } = options
  const { store, isWritable } = await openStore({ days: 400, ...options, inThread, now: Math.round(clock.wall()) })
  const history = new History(options, store, isWritable)
  await history.start()
  return history
}

/** The history of the watched servers. For any other server it is empty. */
export class History {
  readonly #options: HistoryOptions
  readonly #store: StoreClient
  readonly #writer: BatchWriter
  readonly #servers = new Map<string, RecordedServer>()
  /** Position of the next servers to be written. */
  #next = 0
  #bytes = 0
  #overview: { readonly at: number; readonly values: Promise<OverviewValues> } | undefined
  #stop: (() => void)[] = []
  #cancel = () => {}
  #cancelLoad = () => {}
  #isIncidentSaveDue = false
  #incidentsWrittenAt = Number.NEGATIVE_INFINITY
  #cancelIncidentSave = () => {}

  constructor(options: HistoryOptions, store: StoreClient, isWritable: boolean) {
    this.#options = options
    this.#store = store
    this.#writer = new BatchWriter(store, isWritable, options)
  }

  /** Resolves when all servers are recorded. */
  async start(): Promise<void> {
    const { fleet } = this.#options
    this.#stop = [
      fleet.subscribe((snapshot) => this.#observe(snapshot)),
      fleet.onChange(({ added, changed, replaced = [], removed }) => {
        for (const server of removed) this.#remove(server)
        // Until the first poll with the new settings.
        for (const server of changed) this.#servers.get(server)?.markUnknown(this.#now())
        for (const server of replaced) this.#servers.get(server)?.endSessions(this.#now())
        if (added.length > 0) void this.#add(added)
      }),
    ]
    await this.#add(fleet.watchers.map(({ server }) => server))
    await this.#tidy()
    this.#schedule()
  }

  async range(server: string, query: RangeQuery): Promise<RangeValues> {
    return this.#store.range(await this.#saved(server), query, this.#now())
  }

  /** @param days 1 to 400, today included */
  async uptime(server: string, days: number): Promise<Uptime> {
    return this.#store.uptime(await this.#saved(server), days, this.#now())
  }

  /** The last 200 sessions, newest first. */
  async sessions(server: string): Promise<readonly Session[]> {
    if (!this.#recordsPlayers) return []
    const sessions = await this.#store.sessions(await this.#saved(server))
    return this.#knowsPlayers(server) ? sessions : sessions.map((one) => (one.isOnline ? { ...one, isOnline: null } : one))
  }

  /** Longest time first. @param range milliseconds up to now */
  async players(server: string, range: number): Promise<readonly PlayerTime[]> {
    return this.#recordsPlayers
      ? this.#store.players(await this.#saved(server), range, this.#now(), this.#knowsPlayers(server))
      : []
  }

  /** As `players`, the first `count`, with the time at which each was first seen. */
  async playerHistories(server: string, range: number, count: number): Promise<readonly PlayerHistory[]> {
    return this.#recordsPlayers
      ? this.#store.playerHistories(await this.#saved(server), range, count, this.#now(), this.#knowsPlayers(server))
      : []
  }

  /** The incidents, newest first. */
  async incidents(query: IncidentQuery): Promise<readonly Incident[]> {
    const now = this.#options.clock.now()
    // Up to when those that go on are known is written at most once a second, however many clients ask.
    const isDue = now - this.#incidentsWrittenAt >= incidentSaveMs
    if (isDue) this.#incidentsWrittenAt = now
    for (const servers of chunks(
      [...this.#servers.values()].filter(({ hasIncidents, hasIncidentNews }) => (isDue ? hasIncidents : hasIncidentNews)),
    ))
      void this.#save(servers)
    return this.#store.incidents(query)
  }

  /** Whether any server has a session of the player. @param uuid with dashes */
  async hasPlayer(uuid: string): Promise<boolean> {
    void this.#save([...this.#servers.values()].filter(({ hasSessionChanges }) => hasSessionChanges))
    return this.#recordsPlayers && this.#store.hasPlayer(uuid)
  }

  /** The last 24 hours and 90 days of a server, computed for all servers: at most once a minute if they are many. */
  async overview(): Promise<(server: string) => ServerOverview> {
    const now = this.#options.clock.now()
    const isLarge = this.#servers.size > maxLocalServers
    const maxAge = isLarge ? minute : minute / 12
    if (this.#overview === undefined || now - this.#overview.at >= maxAge) {
      // Of many servers, what was written within the last minute is enough.
      if (!isLarge) void this.#save([...this.#servers.values()])
      this.#overview = { at: now, values: this.#store.overview(this.#now()) }
    }
    const { values } = this.#overview
    values.catch(() => {
      if (this.#overview?.values === values) this.#overview = undefined
    })
    const read = await values
    return (server) => overviewOf(read, this.#servers.get(server)?.id ?? -1)
  }

  /** The players of the last 24 hours, of all servers together and of those with the most. */
  async playerCounts(maxServers: number): Promise<PlayerCounts> {
    const known = [...this.#servers].filter(([, { id }]) => id >= 0)
    if (known.length <= maxLocalServers) void this.#save(known.map(([, recorded]) => recorded))
    const names = new Map(known.map(([name, { id }]) => [id, name]))
    const { servers, ...rest } = await this.#store.playerCounts([...names.keys()], maxServers, this.#now())
    return { ...rest, servers: servers.map(({ server, players }) => ({ server: names.get(server) ?? '', players })) }
  }

  /** The maximum number of players on all servers between two times, Unix milliseconds, by minutes; null if unknown. */
  peak(from: number, to: number): Promise<{ readonly players: number; readonly at: number } | null> {
    return this.#store.peak(from, to)
  }

  /** Memory used, in bytes, a minute ago at most. */
  bytes(): number {
    return this.#bytes
  }

  /** Nothing is written from now on: another process may write to the same file. */
  stopWriting(): void {
    this.#writer.stop()
  }

  /** Writes everything that is not in the database yet. */
  async close(): Promise<void> {
    for (const stop of this.#stop) stop()
    this.#cancel()
    this.#cancelLoad()
    this.#cancelIncidentSave()
    for (const servers of chunks([...this.#servers.values()])) await this.#writer.write(servers, this.#now(), true)
    await this.#store.close().catch((error) => this.#writer.report(error))
  }

  get #recordsPlayers(): boolean {
    return this.#options.recordsPlayers !== false
  }

  #knowsPlayers(server: string): boolean {
    return this.#servers.get(server)?.knowsPlayers ?? false
  }

  #now(): number {
    return Math.round(this.#options.clock.wall())
  }

  #observe(snapshot: ServerSnapshot): void {
    // Most servers have no source of the players.
    const hasPlayers = this.#recordsPlayers && snapshot.fields.players !== undefined
    const list = hasPlayers ? currentFields(snapshot).players?.value : undefined
    const recorded = this.#servers.get(snapshot.server)
    if (this.#options.isMaintained?.(snapshot.server)) recorded?.markUnknown(this.#now())
    else recorded?.observe(snapshot, list?.complete ? list.players : undefined, this.#now())
    if (recorded?.hasIncidentNews) this.#saveIncidentsSoon()
  }

  /** The command that adds notes reads what is written. */
  #saveIncidentsSoon(): void {
    if (this.#isIncidentSaveDue) return
    this.#isIncidentSaveDue = true
    this.#cancelIncidentSave = this.#options.clock.after(incidentSaveMs, () => {
      this.#isIncidentSaveDue = false
      void this.#save([...this.#servers.values()].filter(({ hasIncidentNews }) => hasIncidentNews))
    })
  }

  /** Nothing is recorded of a server before it is known what is stored of it. */
  async #add(names: readonly string[]): Promise<void> {
    const { clock } = this.#options
    let markLoaded = () => {}
    const loaded = new Promise<void>((resolve) => {
      markLoaded = resolve
    })
    const added = names.map((name) => [name, new RecordedServer(clock, loaded)] as const)
    for (const [name, recorded] of added) this.#servers.set(name, recorded)
    await this.#load(added)
    markLoaded()
  }

  /** Reads what is stored of servers, and records them from then on: later if the database cannot be used now. */
  async #load(added: readonly (readonly [name: string, recorded: RecordedServer])[]): Promise<void> {
    const { clock, fleet } = this.#options
    try {
      for (const some of chunks(added)) {
        const stored = await this.#store.servers(some.map(([name]) => name))
        for (const [index, [name, recorded]] of some.entries()) {
          recorded.resume(stored[index])
          const newest = this.#servers.get(name) === recorded ? fleet.get(name)?.snapshot() : undefined
          if (newest !== undefined) this.#observe(newest)
        }
      }
    } catch (error) {
      this.#writer.report(error)
      this.#cancelLoad()
      this.#cancelLoad = clock.after(loadPauseMs, () => void this.#load([...this.#servers].filter(([, { id }]) => id < 0)))
    }
  }

  #remove(server: string): void {
    const recorded = this.#servers.get(server)
    if (recorded === undefined) return
    this.#servers.delete(server)
    // Before it is written, some time may pass.
    recorded.markUnknown(this.#now())
    recorded.endRecording()
    void this.#save([recorded])
  }

  /** Writes what is recorded of a server so far. @returns its number in the database; -1 if there is none */
  async #saved(server: string): Promise<number> {
    const recorded = this.#servers.get(server)
    if (recorded === undefined) return -1
    await recorded.loaded
    void this.#save([recorded])
    return recorded.id
  }

  /** Writes some servers, all within a minute: what is lost if the process is killed. */
  #schedule(): void {
    const count = Math.max(1, Math.ceil(this.#servers.size / serversAtOnce))
    this.#cancel = this.#options.clock.after(minute / count, () => {
      const all = [...chunks([...this.#servers.values()])]
      const last = this.#next >= all.length - 1
      const servers = all[this.#next]
      if (servers !== undefined) void this.#save(servers)
      this.#next = last ? 0 : this.#next + 1
      if (last) void this.#tidy()
      this.#schedule()
    })
  }

  async #tidy(): Promise<void> {
    try {
      await this.#store.prune(this.#now())
      this.#bytes = await this.#store.bytes()
    } catch (error) {
      this.#writer.report(error)
    }
  }

  /** Never rejects. */
  #save(servers: readonly RecordedServer[]): Promise<void> {
    return this.#writer.write(servers, this.#now())
  }
}

function* chunks<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let first = 0; first < items.length; first += serversAtOnce) yield items.slice(first, first + serversAtOnce)
}
