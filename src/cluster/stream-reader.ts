import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '../util/clock.ts'
import type { StateConnection } from './connection.ts'
import type { StateKeys } from './keys.ts'

/** An entry of the stream. */
export interface StreamEntry {
  readonly position: number
  readonly epoch: number
  readonly member: string
  readonly kind: string
  readonly data: string
  readonly text: string
  /** Milliseconds between its creation and its arrival here, estimated. */
  readonly transitMs: number
}

export interface StreamReaderOptions {
  readonly connection: StateConnection
  readonly keys: StateKeys
  readonly clock: Clock
  /** Maximum time to wait for entries, milliseconds: heartbeats arrive more often. */
  readonly blockMs: number
  readonly onEntry: (entry: StreamEntry) => void
  /** Called at the start, and when entries have been missed: everything is to be loaded. New entries are read meanwhile. */
  readonly onGap: () => void
}

type Reply = readonly (readonly [key: string, entries: readonly (readonly [id: string, fields: readonly string[]])[]])[] | null

/** Maximum number of entries in one reply. */
const maxEntries = 50
const retryMs = 100

/** Reads the stream from its end on, in order, until it is closed. */
export class StreamReader {
  readonly #options: StreamReaderOptions
  readonly #closing = new AbortController()
  #position = 0
  /** Id of the last entry that was read, also of another program. */
  #cursor = ''
  #isComplete = false
  /** Monotonic milliseconds of the last reply with all entries: others are not older. */
  #readAt: number

  constructor(options: StreamReaderOptions) {
    this.#options = options
    this.#readAt = options.clock.now()
    void this.#run()
  }

  /** Position of the last entry that was read. */
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
      } catch {
        // Reported by the connection.
        await delay(retryMs, undefined, { signal }).catch(() => {})
      }
    }
  }

  async #load(): Promise<void> {
    const { connection, keys, clock, onGap } = this.#options
    this.#position = Number(await connection.read((redis) => redis.hget(keys.state, 'position'))) || 0
    this.#cursor = `${this.#position}-0`
    this.#isComplete = true
    onGap()
    this.#readAt = clock.now()
  }

  async #read(): Promise<void> {
    const { connection, keys, clock, blockMs, onEntry } = this.#options
    const results = await connection.read(async (redis) => {
      const reading = redis.xread('COUNT', maxEntries, 'BLOCK', blockMs, 'STREAMS', keys.stream, this.#cursor)
      const [reply, time] = await Promise.all([reading, redis.time()])
      return { reply: reply as Reply, time }
    })
    const entries = results.reply?.[0]?.[1] ?? []
    // Heartbeats are missing: the server may have lost the stream, and its positions with it.
    if (entries.length === 0) this.#isComplete = false
    const now = Number(results.time[0]) * 1_000 + Number(results.time[1]) / 1_000
    const elapsedMs = clock.now() - this.#readAt
    if (entries.length < maxEntries) this.#readAt = clock.now()
    for (const [streamId, fields] of entries) {
      const values = new Map<string, string>()
      for (let index = 0; index < fields.length; index += 2) values.set(fields[index] ?? '', fields[index + 1] ?? '')
      const value = (name: string) => values.get(name) ?? ''
      this.#cursor = streamId
      if (!values.has('after')) continue
      if (Number(value('after')) !== this.#position) {
        this.#isComplete = false
        return
      }
      this.#position = Number.parseInt(streamId, 10)
      // The clock of the server may be set in the meantime.
      const waitedMs = Math.max(0, Math.min(now - Number(value('at')), elapsedMs))
      onEntry({
        position: this.#position,
        epoch: Number(value('epoch')),
        member: value('member'),
        kind: value('kind'),
        data: value('data'),
        text: value('text'),
        transitMs: waitedMs + connection.roundTripMs / 2,
      })
    }
  }
}
