import { cachedPerKey } from '../util/cached.ts'
import { mapInSlices } from '../util/pauses.ts'
import type { Incident, IncidentQuery } from './incidents.ts'
import { FleetRecorder, incidentSaveMs, type RecordingOptions } from './recording/fleet-recorder.ts'
import type { Session } from './recording/sessions.ts'
import { isPassing, reasonOf } from './store/file-error.ts'
import { type OpenStoreOptions, openFile, openStore } from './store/open-store.ts'
import type { PlayerTime, Regular } from './store/session-table.ts'
import type { StoreClient } from './store/store-client.ts'
import type { PlayerCounts, ServerOverview } from './values/overview.ts'
import type { RangeQuery, RangeValues } from './values/range.ts'
import type { Uptime } from './values/uptime.ts'

export type HistoryOptions = RecordingOptions & OpenStoreOptions

const minute = 60_000
/** With more servers a write or query may take over 10 ms (`npm run bench -- history`). */
const maxLocalServers = 100
/** Maximum number of servers whose overview is kept: about 10 KB each. */
const maxOverviews = 1_000

/**
 * Opens the history of the watched servers and records their snapshots. What is recorded is written once a minute; each query
 * first writes what it would miss.
 */
export async function openHistory(options: HistoryOptions): Promise<History> {
  const all = { inThread: options.fleet.watchers.length > maxLocalServers, ...options }
  const { store, isWaiting } = await openStore(all)
  const history = new History(options, store)
  await history.start()
  if (isWaiting) history.waitFor(() => openFile(all))
  return history
}

/** The history of the watched servers. For any other server it is empty. */
export class History {
  readonly #options: HistoryOptions
  #store: StoreClient
  #recorder: FleetRecorder
  #overviewAt = Number.NEGATIVE_INFINITY
  /** Reads the overview of a server, once for all who ask. */
  #overviewOf = (server: string) => this.#readOverview(server)
  /** Resolves when what was recorded of few servers is written, so that the overview includes it. */
  #overviewSaved: Promise<void> = Promise.resolve()
  #incidentsWrittenAt = Number.NEGATIVE_INFINITY
  #stopWaiting = () => {}
  #opening: Promise<void> | undefined
  #isStopped = false

  constructor(options: HistoryOptions, store: StoreClient) {
    this.#options = options
    this.#store = store
    this.#recorder = new FleetRecorder(options, store)
  }

  /** Resolves when all servers are recorded. */
  start(): Promise<void> {
    return this.#recorder.start()
  }

  /** Tries once a minute to open the file. From then on the history is kept in it. */
  waitFor(open: () => Promise<StoreClient>): void {
    this.#stopWaiting = this.#options.clock.after(minute, () => {
      this.#opening = this.#openAgain(open)
    })
  }

  async #openAgain(open: () => Promise<StoreClient>): Promise<void> {
    const { log } = this.#options
    try {
      const store = await open()
      if (this.#isStopped) return await store.close()
      const before = this.#recorder
      this.#recorder = new FleetRecorder(this.#options, store)
      this.#store = store
      this.#overviewAt = Number.NEGATIVE_INFINITY
      await Promise.all([this.start(), before.close()])
      log.info('the file of the history can be used again; the history is kept in it from now on')
    } catch (error) {
      if (this.#isStopped) return
      if (isPassing(error)) this.waitFor(open)
      else log.warn({ reason: reasonOf(error) }, `cannot use the file of the history: ${reasonOf(error)}; it is not tried again`)
    }
  }

  async range(server: string, query: RangeQuery): Promise<RangeValues> {
    return this.#store.buckets.range(await this.#recorder.saved(server), query, this.#now())
  }

  /** @param days 1 to 400, today included */
  async uptime(server: string, days: number): Promise<Uptime> {
    return this.#store.buckets.uptime(await this.#recorder.saved(server), days, this.#now())
  }

  /** The last 200 sessions, newest first. */
  async sessions(server: string): Promise<readonly Session[]> {
    if (!this.recordsPlayers) return []
    const sessions = await this.#store.sessions.last(await this.#recorder.saved(server))
    return this.#knowsPlayers(server) ? sessions : sessions.map((one) => (one.isOnline ? { ...one, isOnline: null } : one))
  }

  /** Longest time first. @param range milliseconds up to now */
  async players(server: string, range: number): Promise<readonly PlayerTime[]> {
    if (!this.recordsPlayers) return []
    const id = await this.#recorder.saved(server)
    return this.#store.sessions.players(id, range, this.#now(), this.#knowsPlayers(server))
  }

  /** The first of them, with when they were first seen. */
  async regulars(server: string, range: number, limit: number): Promise<readonly Regular[]> {
    if (!this.recordsPlayers) return []
    const id = await this.#recorder.saved(server)
    return this.#store.sessions.regulars(id, range, this.#now(), this.#knowsPlayers(server), limit)
  }

  /** The incidents, newest first. */
  async incidents(query: IncidentQuery): Promise<readonly Incident[]> {
    const now = this.#options.clock.now()
    // Up to when those that go on are known is written at most once a second, however many clients ask.
    const isDue = now - this.#incidentsWrittenAt >= incidentSaveMs
    if (isDue) this.#incidentsWrittenAt = now
    await this.#recorder.save(({ incidents }) => (isDue ? incidents.hasChanges : incidents.hasNews))
    return this.#store.incidents.list(query)
  }

  /** The last 24 hours and 90 days of servers, read once for all who ask; at most a minute old if many are watched. */
  async overview(servers: readonly string[]): Promise<ReadonlyMap<string, ServerOverview>> {
    const now = this.#options.clock.now()
    if (now - this.#overviewAt >= (this.#isLarge ? minute : minute / 12)) {
      this.#overviewAt = now
      this.#overviewOf = cachedPerKey((server) => this.#readOverview(server), maxOverviews)
      this.#overviewSaved = this.#saveFew()
    }
    const overviewOf = this.#overviewOf
    await this.#overviewSaved
    const read = await mapInSlices(servers, (server) => [server, overviewOf(server)] as const)
    const overviews = new Map<string, ServerOverview>()
    for (const [server, overview] of read) overviews.set(server, await overview)
    return overviews
  }

  /** The players of the last 24 hours, of all servers together and of those with the most. */
  async playerCounts(maxServers: number): Promise<PlayerCounts> {
    await this.#saveFew()
    const ids = Array.from(this.#recorder.servers.values(), ({ id }) => id).filter((id) => id >= 0)
    return this.#store.overview.playerCounts(ids, maxServers, this.#now())
  }

  /** The maximum number of players on all servers between two times, Unix milliseconds, by minutes; null if unknown. */
  peak(from: number, to: number): Promise<{ readonly players: number; readonly at: number } | null> {
    return this.#store.buckets.peak(from, to)
  }

  /** Memory used, in bytes, a minute ago at most. */
  bytes(): number {
    return this.#recorder.bytes
  }

  /** Nothing is written from now on: another process may write to the same file. */
  stopWriting(): void {
    this.#stop()
    this.#recorder.stopWriting()
  }

  /** Writes everything that is not in the database yet. */
  async close(): Promise<void> {
    this.#stop()
    await this.#opening
    return this.#recorder.close()
  }

  #readOverview(server: string): Promise<ServerOverview> {
    const overview = this.#recorder.idOf(server).then((id) => this.#store.overview.of(id, this.#now()))
    overview.catch(() => {
      this.#overviewAt = Number.NEGATIVE_INFINITY
    })
    return overview
  }

  get #isLarge(): boolean {
    return this.#recorder.servers.size > maxLocalServers
  }

  /** Of many servers, what was recorded in the last minute is missing in what is read of all. */
  async #saveFew(): Promise<void> {
    if (!this.#isLarge) await this.#recorder.save(() => true)
  }

  #stop(): void {
    this.#isStopped = true
    this.#stopWaiting()
  }

  /** Whether sessions of players are recorded, and those recorded earlier are read. */
  get recordsPlayers(): boolean {
    return this.#options.recordsPlayers !== false
  }

  #knowsPlayers(server: string): boolean {
    return this.#recorder.servers.get(server)?.sessions.isKnown ?? false
  }

  #now(): number {
    return Math.round(this.#options.clock.wall())
  }
}
