import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '../util/clock.ts'
import type { StateConnection } from './connection.ts'

/** An entry of the stream. */
export interface StreamEntry {
  readonly position: number
  readonly epoch: number
  readonly member: string
  readonly kind: string
  readonly data: string
  readonly text: string
  /** Monotonic milliseconds at which it was sent to Redis, estimated. */
  readonly postedAt: number
}

export interface StreamReaderOptions {
  readonly connection: StateConnection
  readonly clock: Clock
  /** Maximum time to wait for entries, milliseconds: heartbeats arrive more often. */
  readonly blockMs: number
  /** Reads what entries with these texts need, before they are passed on; default: nothing. If it fails, they are passed on without. */
  readonly prepare?: (texts: readonly string[]) => Promise<void>
  readonly onEntry: (entry: StreamEntry) => void
  /** Called at the start, and when entries have been missed: everything is to be loaded. New entries are read meanwhile. */
  readonly onGap: () => void
}

/** The integer in a text of Redis, which may be of another program: undefined if it is none, or larger than those of the scripts. */
export const toInteger = (text: string | null | undefined): number | undefined =>
  text != null && /^\d{1,15}$/.test(text) ? Number(text) : undefined

type Reply = readonly (readonly [key: string, entries: readonly (readonly [id: string, fields: readonly string[]])[]])[] | null

/** Maximum number of entries in one reply. */
const maxEntries = 50
/**
 * Milliseconds for which snapshots are collected before they are written, and entries before they are read: a command costs as much as
 * several snapshots (`npm run bench -- replica`).
 */
export const collectMs = 25
/** Milliseconds for which Redis accepts an entry, at most. */
const maxTransitMs = 5_000
const retryMs = 100

/** Reads the stream from its end on, in order, until it is closed. */
export class StreamReader {
  readonly #options: StreamReaderOptions
  readonly #closing = new AbortController()
  #position = 0
  /** Id of the last entry that was read, also of another program. */
  #cursor = ''
  #isComplete = false
  /** Whether there were as many entries as fit into a reply, so that more are waiting. */
  #isBehind = false
  /** Monotonic milliseconds of the last request that returned all entries: others were posted later. */
  #requestedAt = 0

  constructor(options: StreamReaderOptions) {
    this.#options = options
  }

  start(): void {
    void this.#run()
  }

  /** Position of the last entry that was read; 0 before the start. */
  get position(): number {
    return this.#position
  }

  close(): void {
    this.#closing.abort()
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing
    while (!signal.aborted) {
      try {
        await (this.#isComplete ? this.#read() : this.#load())
        if (!this.#isBehind) await delay(collectMs, undefined, { signal })
      } catch {
        // Reported by the connection, or no replica has written a position yet.
        await delay(retryMs, undefined, { signal }).catch(() => {})
      }
    }
  }

  async #load(): Promise<void> {
    const { connection, clock, onGap } = this.#options
    this.#requestedAt = clock.now()
    const position = toInteger(await connection.run('messages', (redis) => redis.hget(connection.keys.state, 'position')))
    if (position === undefined) throw new RangeError('no position')
    this.#position = position
    this.#cursor = `${this.#position}-0`
    this.#isComplete = true
    onGap()
  }

  async #read(): Promise<void> {
    const { connection, clock, blockMs, prepare, onEntry } = this.#options
    const requestedAt = clock.now()
    const reply: Reply = await connection.run('messages', (redis) =>
      redis.xread('COUNT', maxEntries, 'BLOCK', blockMs, 'STREAMS', connection.keys.stream, this.#cursor),
    )
    const readAt = clock.now()
    const entries = (reply?.[0]?.[1] ?? []).map(([id, fields]) => ({ id, values: readFields(fields) }))
    // Heartbeats are missing: the server may have lost the stream, and its positions with it.
    if (entries.length === 0) this.#isComplete = false
    const earliest = this.#requestedAt - maxTransitMs
    this.#isBehind = entries.length >= maxEntries
    if (!this.#isBehind) this.#requestedAt = requestedAt
    await prepare?.(entries.map(({ values }) => values.get('text') ?? '')).catch(() => {})
    for (const { id, values } of entries) {
      const value = (name: string) => values.get(name) ?? ''
      const [position, epoch, at] = [id.split('-')[0], value('epoch'), value('at')].map(toInteger)
      this.#cursor = id
      // Of another program.
      if (!values.has('after') || position === undefined || epoch === undefined || at === undefined) continue
      if (toInteger(value('after')) !== this.#position) {
        this.#isComplete = false
        return
      }
      this.#position = position
      onEntry({
        position,
        epoch,
        member: value('member'),
        kind: value('kind'),
        data: value('data'),
        text: value('text'),
        // The clock of the server may have been set.
        postedAt: Math.max(earliest, Math.min(connection.serverTime.toLocal(at), readAt)),
      })
    }
  }
}

function readFields(fields: readonly string[]): ReadonlyMap<string, string> {
  const values = new Map<string, string>()
  for (let index = 0; index < fields.length; index += 2) values.set(fields[index] ?? '', fields[index + 1] ?? '')
  return values
}
