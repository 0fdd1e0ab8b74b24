import type { Fleet } from '../../game/fleet.ts'
import { currentFields, type ServerSnapshot } from '../../game/snapshot.ts'
import type { Clock } from '../../util/clock.ts'
import type { Log } from '../../util/log.ts'
import type { StoreClient } from '../store/store-client.ts'
import { BatchWriter } from './batch-writer.ts'
import { RecordedServer } from './recorded-server.ts'

export interface RecordingOptions {
  readonly fleet: Fleet
  readonly clock: Clock
  readonly log: Log
  /** Days for which days, sessions, events and incidents are kept; default 400. */
  readonly days?: number
  /** False: player sessions are not recorded. */
  readonly recordsPlayers?: boolean
  /**
   * When the maintenance of a server began, Unix milliseconds; undefined if it is in none. Nothing is recorded of it: it counts neither as
   * up nor as down. Default: none is.
   */
  readonly maintainedSince?: (server: string) => number | undefined
}

const minute = 60_000
/** Servers that are read or written at once: some milliseconds of work. */
const serversAtOnce = 200
/** Milliseconds after which it is tried again to read what is stored of servers. */
const loadPauseMs = 5_000
/** Milliseconds after which incidents that have begun or ended are written: those of all servers together. */
export const incidentSaveMs = 1_000

/** Records the snapshots of all servers, and writes them once a minute. */
export class FleetRecorder {
  readonly #options: RecordingOptions
  readonly #store: StoreClient
  readonly #writer: BatchWriter
  readonly #servers = new Map<string, RecordedServer>()
  /** Names of those that are watched, but not recorded before it is known what is stored of them. */
  readonly #added = new Set<string>()
  /** Position of the next servers to be written. */
  #next = 0
  #bytes = 0
  #isLost = false
  /** Resolves when it is known what is stored of the servers. */
  #loading: Promise<void> = Promise.resolve()
  #tidying: Promise<void> = Promise.resolve()
  #stop: (() => void)[] = []
  #cancel = () => {}
  #cancelLoad = () => {}
  #cancelIncidentSave: (() => void) | undefined

  constructor(options: RecordingOptions, store: StoreClient) {
    this.#options = options
    this.#store = store
    this.#writer = new BatchWriter(store, options)
  }

  /** Those that are recorded, by name. */
  get servers(): ReadonlyMap<string, RecordedServer> {
    return this.#servers
  }

  /** Memory used by the database, in bytes, a minute ago at most. */
  get bytes(): number {
    return this.#bytes
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
        for (const server of replaced) this.#servers.get(server)?.sessions.end(this.#now())
        if (added.length > 0) void this.#add(added)
      }),
    ]
    await this.#add(fleet.watchers.map(({ server }) => server))
    this.#tidying = this.#tidy()
    await this.#tidying
    this.#schedule()
  }

  /** The number of a server in the database, when that is known; -1 if there is none. */
  async idOf(server: string): Promise<number> {
    await this.#loading
    return this.#servers.get(server)?.id ?? -1
  }

  /** Writes what is recorded of a server so far. @returns its number in the database; -1 if there is none */
  async saved(server: string): Promise<number> {
    await this.#loading
    const recorded = this.#servers.get(server)
    if (recorded === undefined) return -1
    await this.#save([recorded])
    return recorded.id
  }

  /** Writes what is recorded of some servers so far. */
  async save(isSaved: (server: RecordedServer) => boolean): Promise<void> {
    // Without any, what could not be written before is tried again.
    const [first = [], ...others] = chunks([...this.#servers.values()].filter(isSaved))
    for (const servers of [first, ...others]) await this.#save(servers)
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
    this.#cancelIncidentSave?.()
    for (const servers of chunks([...this.#servers.values()])) await this.#writer.write(servers, this.#now(), true)
    // What it asks of a closed database would be reported as a failure.
    await this.#tidying
    await this.#store.close().catch((error) => this.#writer.report(error))
  }

  #now(): number {
    return Math.round(this.#options.clock.wall())
  }

  #observe(snapshot: ServerSnapshot): void {
    // Most servers have no source of the players.
    const hasPlayers = this.#options.recordsPlayers !== false && snapshot.fields.players !== undefined
    const list = hasPlayers ? currentFields(snapshot).players?.value : undefined
    const recorded = this.#servers.get(snapshot.server)
    if (this.#options.maintainedSince?.(snapshot.server) !== undefined) recorded?.markUnknown(this.#now())
    else recorded?.observe(snapshot, list?.complete ? list.players : undefined, this.#now())
    if (recorded?.incidents.hasNews) this.#saveIncidentsSoon()
  }

  /** The command that adds notes reads what is written. */
  #saveIncidentsSoon(): void {
    this.#cancelIncidentSave ??= this.#options.clock.after(incidentSaveMs, () => {
      this.#cancelIncidentSave = undefined
      void this.save(({ incidents }) => incidents.hasNews)
    })
  }

  #add(names: readonly string[]): Promise<void> {
    for (const name of names) this.#added.add(name)
    // Without the results, each of which would keep the one before it for as long as servers are added.
    this.#loading = Promise.all([this.#loading, this.#load(names)]).then(() => {})
    return this.#loading
  }

  /** Reads what is stored of servers, and records them from then on: later if the database cannot be used now. */
  async #load(names: readonly string[]): Promise<void> {
    const { clock, fleet, maintainedSince } = this.#options
    try {
      for (const some of chunks(names)) {
        const found = await this.#store.servers(some)
        for (const [index, name] of some.entries()) {
          const stored = found[index]
          // It may have been removed meanwhile.
          if (stored === undefined || !this.#added.delete(name)) continue
          this.#servers.set(name, new RecordedServer(stored, clock, () => maintainedSince?.(name)))
          const newest = fleet.get(name)?.snapshot()
          if (newest !== undefined) this.#observe(newest)
        }
      }
    } catch (error) {
      this.#writer.report(error)
      this.#cancelLoad()
      this.#cancelLoad = clock.after(loadPauseMs, () => void this.#load([...this.#added]))
    }
  }

  #remove(server: string): void {
    this.#added.delete(server)
    const recorded = this.#servers.get(server)
    if (recorded === undefined) return
    this.#servers.delete(server)
    // Before it is written, some time may pass.
    recorded.markUnknown(this.#now())
    void this.#save([recorded])
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
      if (last) this.#tidying = this.#tidy()
      this.#schedule()
    })
  }

  async #tidy(): Promise<void> {
    try {
      if (!this.#isLost && (await this.#store.isLost())) {
        this.#isLost = true
        this.#options.log.error(
          'history.db was deleted or replaced while Tickwarden was using it: what it records from now on is lost when it stops; restart it',
        )
      }
      await this.#store.prune(this.#now(), this.#options.days ?? 400)
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
