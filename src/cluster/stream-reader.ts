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

export interface StreamReader {
  /** Position of the last entry that was read. */
  readonly position: number
  close(): void
}

type Reply = readonly (readonly [key: string, entries: readonly (readonly [id: string, fields: readonly string[]])[]])[] | null

/** Maximum number of entries in one reply. */
const maxEntries = 50
const retryMs = 100

/** Reads the stream from its end on, in order. Never rejects. */
export function readStream({ connection, keys, clock, blockMs, onEntry, onGap }: StreamReaderOptions): StreamReader {
  let position = 0
  /** Id of the last entry that was read, also of another program. */
  let cursor = ''
  let isComplete = false
  let isClosed = false
  /** Monotonic milliseconds of the last reply with all entries: others are not older. */
  let readAt = clock.now()
  let cancel = () => {}

  async function load(): Promise<void> {
    position = Number(await connection.read((redis) => redis.hget(keys.state, 'position'))) || 0
    cursor = `${position}-0`
    isComplete = true
    onGap()
    readAt = clock.now()
  }

  async function read(): Promise<void> {
    const results = await connection.read(async (redis) => {
      const reading = redis.xread('COUNT', maxEntries, 'BLOCK', blockMs, 'STREAMS', keys.stream, cursor)
      const [reply, time] = await Promise.all([reading, redis.time()])
      return { reply: reply as Reply, time }
    })
    const entries = results.reply?.[0]?.[1] ?? []
    // Heartbeats are missing: the server may have lost the stream, and its positions with it.
    if (entries.length === 0) isComplete = false
    const now = Number(results.time[0]) * 1_000 + Number(results.time[1]) / 1_000
    const elapsedMs = clock.now() - readAt
    if (entries.length < maxEntries) readAt = clock.now()
    for (const [streamId, fields] of entries) {
      const values = new Map<string, string>()
      for (let index = 0; index < fields.length; index += 2) values.set(fields[index] ?? '', fields[index + 1] ?? '')
      const value = (name: string) => values.get(name) ?? ''
      cursor = streamId
      if (!values.has('after')) continue
      if (Number(value('after')) !== position) {
        isComplete = false
        return
      }
      position = Number.parseInt(streamId, 10)
      // The clock of the server may be set in the meantime.
      const waitedMs = Math.max(0, Math.min(now - Number(value('at')), elapsedMs))
      onEntry({
        position,
        epoch: Number(value('epoch')),
        member: value('member'),
        kind: value('kind'),
        data: value('data'),
        text: value('text'),
        transitMs: waitedMs + connection.roundTripMs / 2,
      })
    }
  }

  async function run(): Promise<void> {
    while (!isClosed) {
      try {
        if (isComplete) await read()
        else await load()
      } catch {
        // Reported by the connection.
        await new Promise<void>((resolve) => {
          cancel = clock.after(retryMs, resolve)
        })
      }
    }
  }
  void run()

  return {
    get position() {
      return position
    },
    close() {
      isClosed = true
      cancel()
    },
  }
}
