import { beganAt, type ServerSnapshot } from '../game/snapshot.ts'
import type { Clock } from '../util/clock.ts'
import { parseJson } from '../util/json.ts'
import type { Log } from '../util/log.ts'
import { waitUpTo } from '../util/wait-up-to.ts'
import { requireReplies, type StateConnection } from './connection.ts'
import { type IconStore, iconExpiryMs } from './icon-store.ts'
import type { Membership } from './membership.ts'
import { toMilliseconds } from './server-time.ts'
import { createSnapshotCodec } from './snapshot-codec.ts'
import { collectMs, type StreamEntry, toInteger } from './stream-reader.ts'

/** Where a snapshot comes from. The snapshots of one server are ordered by epoch, and those of one member by number. */
export interface SnapshotOrigin {
  /** `here`: it was polled here, and is known to this replica only. */
  readonly from: 'stream' | 'stored' | 'here'
  /** The member that has written it. */
  readonly member: string
  /** That of the members when it was written: only one of them writes a server. */
  readonly epoch: number
  /** Number of snapshots that the member had written before. */
  readonly number: number
}

export interface SnapshotExchangeOptions {
  readonly connection: StateConnection
  readonly membership: Membership
  /** The last position of the stream that was read here. */
  readonly position: () => number
  readonly icons: IconStore
  /** Milliseconds after which a snapshot that was sent, but has not been read, is applied, and Redis no longer accepts it. */
  readonly lateMs: number
  /** Milliseconds for which snapshots are stored. */
  readonly expiryMs: number
  readonly clock: Clock
  readonly log: Log
  /** The name of a server; undefined if no server with this key is watched. */
  readonly nameOf: (key: string) => string | undefined
  /** Called a moment after the snapshot of a server was rejected, see `statePost`: it is to be published again. */
  readonly onRejected: (key: string) => void
  readonly onSnapshot: (key: string, snapshot: ServerSnapshot, origin: SnapshotOrigin) => void
}

interface Pending {
  readonly key: string
  readonly snapshot: ServerSnapshot
  readonly number: number
  /** Whether it was applied here already, because Redis did not reply. */
  readonly isApplied: boolean
}

interface Batch {
  readonly epoch: number
  readonly pending: readonly Pending[]
}

/** Milliseconds after which rejected snapshots are published again. */
const rejectedMs = 50
/** Maximum number of snapshots or icons in one command. */
const maxBatch = 64
/** Maximum number of batches that have been sent, have no reply yet, and are not late. */
const maxSending = 4

/** The text of a snapshot: `<number> <key as JSON>\t<JSON>`, stored as `<epoch> <time in ms> <text>`. */
const entryText = /^(\d{1,15}) ("[^\t]*")\t/
const storedHeader = /^(\d{1,15}) (\d{1,15}) /

/** Exchanges snapshots through the shared state: every replica, also the writer, applies them in the order of the stream. */
export class SnapshotExchange {
  readonly #options: SnapshotExchangeOptions
  readonly #codec: ReturnType<typeof createSnapshotCodec>
  /** The newest snapshots that are to be written, by key: if Redis is slow, never more than there are servers. */
  readonly #waiting = new Map<string, Pick<Pending, 'snapshot' | 'isApplied'>>()
  #isCollecting = false
  #sending = 0
  /** Batches that were written and have not come back with the stream, by the number of their last snapshot. */
  readonly #inFlight = new Map<number, Batch>()
  #numbers = 0
  #invalid = 0

  constructor(options: SnapshotExchangeOptions) {
    this.#options = options
    this.#codec = createSnapshotCodec(options.icons, (server, part) => this.#reportInvalid(`${server}: ${part} is not valid`))
  }

  /** Number of parts of the shared state that were ignored because they are not valid. */
  get invalid(): number {
    return this.#invalid
  }

  /** Writes a snapshot soon. If that is not possible, it is applied here only. While Redis does not reply, that is done at once. */
  publish(key: string, snapshot: ServerSnapshot): void {
    const { connection, membership } = this.#options
    const isApplied = !connection.isUp
    if (isApplied) {
      const { id: member, epoch = 0 } = membership
      this.#options.onSnapshot(key, snapshot, { from: 'here', member, epoch, number: ++this.#numbers })
    }
    this.#waiting.set(key, { snapshot, isApplied })
    void this.#sendWaiting()
  }

  /**
   * Reads the stored snapshots of these servers.
   * @returns the position of the stream that the newest of them may have
   * @throws StateUnavailable
   */
  async load(serverKeys: readonly string[]): Promise<number> {
    let last = 0
    for (let start = 0; start < serverKeys.length; start += maxBatch)
      last = Math.max(last, await this.#loadBatch(serverKeys.slice(start, start + maxBatch)))
    return last
  }

  /**
   * Reads the icons in the texts of snapshots that are not in memory: a snapshot is decoded without those that are not there.
   * @throws StateUnavailable
   */
  async readIcons(texts: readonly string[]): Promise<void> {
    const { connection, icons } = this.#options
    const hashes = icons.missingIn(texts)
    for (let start = 0; start < hashes.length; start += maxBatch) {
      const batch = hashes.slice(start, start + maxBatch)
      const found = await connection.run('reads', (redis) => redis.mgetBuffer(batch.map(connection.keys.icon)))
      // Not the buffer itself, which is a part of the whole reply.
      for (const [index, icon] of found.entries())
        if (icon !== null && icons.hashOf(Buffer.from(icon)) !== batch[index]) this.#reportInvalid('an icon')
    }
  }

  /** Applies an entry with snapshots. */
  receive({ member, data, text, epoch, postedAt }: StreamEntry): void {
    const { membership, onSnapshot } = this.#options
    if (member === membership.id) {
      this.#applyInFlight(Number(data), 'stream')
      return
    }
    for (const line of text.split('\n')) {
      const found = this.#decode(line, postedAt)
      if (found !== undefined) onSnapshot(found.key, found.snapshot, { from: 'stream', member, epoch, number: found.number })
    }
  }

  #reportInvalid(reason: string): void {
    if (this.#invalid++ > 0) return
    this.#options.log.warn(
      `Ignored data in the shared state that is not valid (${reason}). Other programs must use another STATE_PREFIX.`,
    )
  }

  /** Applies a batch that was written, unless it has been applied. */
  #applyInFlight(number: number, from: SnapshotOrigin['from']): void {
    const batch = this.#inFlight.get(number)
    this.#inFlight.delete(number)
    if (batch !== undefined) this.#applyOwn(batch, from)
  }

  /** Applies snapshots of this replica. */
  #applyOwn({ epoch, pending }: Batch, from: SnapshotOrigin['from']): void {
    const member = this.#options.membership.id
    for (const { key, snapshot, number, isApplied } of pending)
      if (from === 'stream' || !isApplied) this.#options.onSnapshot(key, snapshot, { from, member, epoch, number })
  }

  async #sendWaiting(): Promise<void> {
    if (this.#isCollecting || this.#sending >= maxSending) return
    this.#isCollecting = true
    await new Promise<void>((resolve) => this.#options.clock.after(collectMs, resolve))
    this.#isCollecting = false
    while (this.#waiting.size > 0 && this.#sending < maxSending) {
      const batch: Pending[] = []
      for (const [key, waiting] of this.#waiting) {
        this.#waiting.delete(key)
        if (batch.push({ key, ...waiting, number: ++this.#numbers }) === maxBatch) break
      }
      this.#sending++
      // A batch whose reply is late does not delay others: what waits is not shown here either.
      void waitUpTo(this.#send(batch), this.#options.lateMs, this.#options.clock).then(() => {
        this.#sending--
        if (this.#waiting.size > 0) void this.#sendWaiting()
      })
    }
  }

  /** Never rejects. */
  async #send(pending: readonly Pending[]): Promise<void> {
    const { connection, clock, membership, lateMs, onRejected } = this.#options
    const { epoch } = membership
    const batch = { epoch: epoch ?? 0, pending }
    if (epoch === undefined || !connection.isConnected) return this.#applyOwn(batch, 'here')
    const number = this.#numbers
    this.#inFlight.set(number, batch)
    clock.after(lateMs, () => this.#applyInFlight(number, 'here'))
    try {
      if (await this.#write(batch, number)) return
      this.#inFlight.delete(number)
      void membership.check()
      clock.after(rejectedMs, () => {
        for (const { key } of pending) onRejected(key)
      })
    } catch {
      // Reported by the connection.
      this.#applyInFlight(number, 'here')
    }
  }

  /** @returns false if it was rejected; @throws StateUnavailable */
  async #write({ epoch, pending }: Batch, number: number): Promise<boolean> {
    const { connection, clock, icons, position, lateMs, expiryMs, membership } = this.#options
    const now = clock.now()
    const { keys, serverTime } = connection
    // Readers count the time from then on. If it is executed after the deadline, it has been applied here, and newer ones may have been.
    const sentAt = Math.round(serverTime.toRemote(now))
    const deadline = Math.round(sentAt + lateMs + serverTime.maxErrorMs)
    const newIcons = icons.toWrite(
      pending.map(({ snapshot }) => snapshot),
      now,
    )
    // What was polled before this member joined must not replace a newer snapshot in Redis. Members that receive it compare the times.
    const isStored = ({ snapshot }: Pending) => beganAt(snapshot) >= membership.joinedAt
    const stored = pending.filter(isStored)
    const used = [keys.members, keys.state, keys.stream, ...stored.map(({ key }) => keys.snapshot(key))]
    const texts = [...stored, ...pending.filter((one) => !isStored(one))].map(
      ({ key, snapshot, number }) => `${number} ${JSON.stringify(key)}\t${this.#codec.encode(snapshot, now)}`,
    )
    const args = [...used, membership.id, epoch, position(), number, expiryMs, deadline, sentAt, ...texts]
    const replies = await connection.run('snapshots', async (redis) => {
      const pipeline = redis.pipeline()
      for (const [hash, icon] of newIcons) pipeline.set(keys.icon(hash), icon, 'PX', iconExpiryMs)
      pipeline.statePost(used.length, ...args)
      return requireReplies(await pipeline.exec())
    })
    icons.written(newIcons.keys(), now)
    return replies.at(-1) !== 0
  }

  /**
   * Decodes the text of a snapshot; undefined if it is not valid, or of a server that is not watched.
   * @param at monotonic milliseconds at which it was encoded
   */
  #decode(text: string, at: number) {
    const { nameOf } = this.#options
    try {
      const [header, number, json] = entryText.exec(text) ?? []
      if (header === undefined) throw new RangeError('not a snapshot')
      const key = String(parseJson(json ?? ''))
      const server = nameOf(key)
      if (server === undefined) return undefined
      return { key, number: Number(number), snapshot: this.#codec.decode(text.slice(header.length), at, server) }
    } catch (error) {
      this.#reportInvalid((error as Error).message)
      return undefined
    }
  }

  async #loadBatch(batch: readonly string[]): Promise<number> {
    const { connection, clock, onSnapshot } = this.#options
    const { keys } = connection
    const requestedAt = clock.now()
    const [texts, time, position] = await connection.run('reads', async (redis) => {
      const results = await redis.pipeline().mget(batch.map(keys.snapshot)).time().hget(keys.state, 'position').exec()
      return requireReplies(results) as [readonly (string | null)[], readonly [string, string], string | null]
    })
    const readAt = clock.now()
    connection.serverTime.add(toMilliseconds(time), requestedAt, readAt)
    const stored = texts.flatMap((text) => {
      const [header, epoch, at] = storedHeader.exec(text ?? '') ?? []
      if (text === null || header === undefined) return []
      return [
        {
          text: text.slice(header.length),
          epoch: Number(epoch),
          postedAt: Math.min(readAt, connection.serverTime.toLocal(Number(at))),
        },
      ]
    })
    await this.readIcons(stored.map(({ text }) => text)).catch(() => {})
    for (const { text, epoch, postedAt } of stored) {
      const found = this.#decode(text, postedAt)
      if (found !== undefined) onSnapshot(found.key, found.snapshot, { from: 'stored', member: '', epoch, number: found.number })
    }
    return toInteger(position) ?? 0
  }
}
