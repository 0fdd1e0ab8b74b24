import { join } from 'node:path'
import { type Clock, repeat } from '../util/clock.ts'
import { createFolder } from '../util/create-folder.ts'
import type { Log } from '../util/log.ts'
import { oneAtATime } from '../util/one-at-a-time.ts'
import type { MaintenanceState, SharedValues } from '../util/part-metrics.ts'
import { serverPatterns } from '../util/wildcard.ts'
import {
  addRecords,
  type End,
  fileName,
  isEndOf,
  isKept,
  type MaintenanceRecord,
  readRecords,
  recordFromText,
  type Start,
} from './records.ts'
import { createOccurrences, type MaintenanceWindow, type Occurrence } from './window.ts'

export interface MaintenanceOptions {
  readonly windows: readonly MaintenanceWindow[]
  readonly groupOf: (server: string) => string | undefined
  readonly clock: Clock
  readonly log: Log
  /** Where records are kept; absent: in memory, and in `shared`. */
  readonly folder?: string | undefined
  readonly shared?: SharedValues | undefined
}

const dayMs = 86_400_000
/** How often records of commands and of other replicas are read, milliseconds. */
const syncMs = 2_000
/** How long the list of open windows is used at most, milliseconds: the clock may be set. */
const maxValidMs = 60_000

type Matched<T> = T & { readonly matches: ReturnType<typeof serverPatterns> }

/** Which servers are in maintenance: by the configuration, and by commands at run time. */
export class Maintenance {
  readonly #options: MaintenanceOptions
  readonly #windows: readonly ReturnType<typeof createOccurrences>[]
  readonly #records = new Map<string, MaintenanceRecord>()
  #starts: readonly Matched<Start>[] = []
  #ends: readonly Matched<End>[] = []
  #open: readonly Matched<Start>[] = []
  /** Unix milliseconds between which `#open` is valid. */
  #validFrom = 0
  #validUntil = 0
  #isFailing = false
  #isClosed = false
  #stop = () => {}

  private constructor(options: MaintenanceOptions) {
    this.#options = options
    this.#windows = options.windows.map(createOccurrences)
  }

  static async open(options: MaintenanceOptions): Promise<Maintenance> {
    const maintenance = new Maintenance(options)
    const { folder } = options
    // Commands do not create it. If that fails, it is reported when something is to be stored.
    if (folder !== undefined) await createFolder(folder).catch(() => {})
    await maintenance.sync()
    maintenance.#follow()
    return maintenance
  }

  /** The maintenance of a server now; null if there is none. */
  of(server: string): MaintenanceState | null {
    let found: MaintenanceState | null = null
    for (const { reason, to } of this.#openOf(server)) if (to > (found?.until ?? 0)) found = { reason, until: to }
    return found
  }

  /** When the maintenance of a server began that it is in now, Unix milliseconds; undefined if it is in none. */
  since(server: string): number | undefined {
    const open = this.#openOf(server)
    return open.length === 0 ? undefined : Math.min(...open.map(({ from }) => from))
  }

  /** The next maintenance of the server that is planned in the configuration. */
  next(server: string): Occurrence | undefined {
    const now = this.#options.clock.wall()
    const group = this.#options.groupOf(server)
    const all = this.#windows.flatMap(({ matches, after }) => (matches(server, group) ? (after(now) ?? []) : []))
    return all.reduce<Occurrence | undefined>(
      (first, one) => (first === undefined || one.from < first.from ? one : first),
      undefined,
    )
  }

  /** The part of a day in which the server was in maintenance up to now, 0 to 1. @param date UTC, `2026-11-21` */
  partOfDay(server: string, date: string): number {
    if (this.#starts.length === 0 && this.#windows.length === 0) return 0
    const start = Date.parse(date)
    return Number((this.#duration(server, start, start + dayMs) / dayMs).toFixed(6))
  }

  /** Milliseconds of a period, up to now, in which the server was in maintenance. */
  #duration(server: string, start: number, end: number): number {
    const group = this.#options.groupOf(server)
    const now = this.#options.clock.wall()
    this.#refresh(now)
    const parts = this.#starts
      .filter(({ matches, from, to }) => from < end && to > start && matches(server, group))
      .map((one) => {
        const endedAt = this.#endOf(one, server, group)?.at ?? one.to
        return { from: Math.max(one.from, start), to: Math.min(endedAt, end, now) }
      })
      .sort((a, b) => a.from - b.from)
    let [total, reached] = [0, start]
    for (const { from, to } of parts) {
      total += Math.max(0, to - Math.max(from, reached))
      reached = Math.max(reached, to)
    }
    return total
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#stop()
    await this.sync()
  }

  /** Reads what commands and other replicas have added, and passes it on. Never rejects. */
  readonly sync = oneAtATime(async () => {
    const { log } = this.#options
    if (this.#isClosed) return
    try {
      await this.#syncOnce()
      if (this.#isFailing) log.info('The maintenance that was started by commands can be read and stored again.')
      this.#isFailing = false
    } catch (error) {
      const reason = (error as NodeJS.ErrnoException).code ?? (error as Error).message
      if (!this.#isFailing)
        log.warn({ reason }, `The maintenance that was started by commands cannot be read or stored (${reason}).`)
      this.#isFailing = true
    }
  })

  #follow(): void {
    const { folder, shared, clock } = this.#options
    if (folder === undefined && shared === undefined) return
    this.#stop = repeat(clock, syncMs, () => void this.sync())
  }

  async #syncOnce(): Promise<void> {
    const { folder, shared, clock } = this.#options
    const now = clock.wall()
    const inFile = folder === undefined ? [] : await readRecords(folder).catch(nameFile(folder))
    this.#add(inFile)
    if (shared !== undefined) {
      const values = await shared.all()
      this.#add(Object.values(values).flatMap((text) => recordFromText(text) ?? []))
      for (const record of this.#records.values())
        if (values[record.id] === undefined) await shared.put(record.id, JSON.stringify(record))
    }
    for (const [id, record] of this.#records) if (!isKept(record, now)) this.#records.delete(id)
    const known = new Set(inFile.map(({ id }) => id))
    const missing = [...this.#records.values()].filter(({ id }) => !known.has(id))
    if (folder !== undefined && missing.length > 0) await addRecords(folder, missing, now).catch(nameFile(folder))
  }

  #add(records: readonly MaintenanceRecord[]): void {
    const size = this.#records.size
    for (const record of records) if (!this.#records.has(record.id)) this.#records.set(record.id, record)
    if (this.#records.size === size) return
    const all = [...this.#records.values()].map((record) => ({ ...record, matches: serverPatterns(record.servers) }))
    this.#starts = all.filter((record) => record.kind !== 'end')
    this.#ends = all.filter((record) => record.kind === 'end')
    this.#validUntil = 0
  }

  #openOf(server: string): readonly Start[] {
    this.#refresh(this.#options.clock.wall())
    if (this.#open.length === 0) return this.#open
    const group = this.#options.groupOf(server)
    return this.#open.filter((one) => one.matches(server, group) && this.#endOf(one, server, group) === undefined)
  }

  /** The command that has ended it, if any. */
  #endOf(start: Start, server: string, group: string | undefined): End | undefined {
    return this.#ends.find((end) => isEndOf(end, start) && end.matches(server, group))
  }

  #refresh(now: number): void {
    if (now < this.#validFrom || now >= this.#validUntil) this.#findOpen(now)
  }

  #findOpen(now: number): void {
    const planned = this.#windows.flatMap(({ at }) => {
      const open = at(now)
      if (open === undefined) return []
      return [{ ...open, id: `planned ${open.from} ${open.to} ${open.servers.join()}`, kind: 'planned' as const }]
    })
    const isNew = planned.some(({ id }) => !this.#records.has(id))
    if (isNew) this.#add(planned)
    const byId = new Map(planned.map((record) => [record.id, record]))
    // A command starts it at once: if that is in the future, the clock was set back.
    this.#open = this.#starts.flatMap((one) => {
      const isOpen = one.kind === 'planned' ? byId.has(one.id) : now < one.to
      return isOpen ? [{ ...one, ...byId.get(one.id) }] : []
    })
    const changes = [...this.#open.map(({ to }) => to), ...this.#windows.flatMap(({ after }) => after(now)?.from ?? [])]
    this.#validFrom = now
    this.#validUntil = Math.min(now + maxValidMs, ...changes.filter((at) => at > now))
    if (isNew) void this.sync()
  }
}

/** Throws an error with the name of the file, which not every error of the system has. */
const nameFile =
  (folder: string) =>
  (error: NodeJS.ErrnoException): never => {
    throw new Error(`${join(folder, fileName)}: ${error.code ?? error.message}`, { cause: error })
  }
