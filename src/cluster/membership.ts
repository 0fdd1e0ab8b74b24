import type { Clock } from '../util/clock.ts'
import type { Log } from '../util/log.ts'
import { oneAtATime } from '../util/one-at-a-time.ts'
import { haveSameItems } from '../util/same-items.ts'
import type { StateConnection } from './connection.ts'

export interface MembershipOptions {
  readonly connection: StateConnection
  /** Different for each process. */
  readonly id: string
  /** STATE_HEARTBEAT, milliseconds. */
  readonly heartbeatMs: number
  /** Milliseconds after which the data of a cluster without members expires. */
  readonly dataExpiryMs: number
  readonly clock: Clock
  readonly log: Log
  /** The last position of the stream that this replica has read. */
  readonly position: () => number
  /** Called when the members have changed. */
  readonly onChange: (members: readonly string[]) => void
}

/** A member is dead after this many heartbeat intervals without a heartbeat. Others notice it within two intervals. */
const expiryHeartbeats = 1.5
/** Time between heartbeats as a fraction of the interval, because one may be late or lost on a busy machine. */
const beatEvery = 0.5
/** Milliseconds after the expiry of a member at which the members are read again. */
const afterExpiryMs = 15

/**
 * The live replicas. Each renews an entry with an expiry in a sorted set. Expiry uses the server's clock: those of replicas may differ. Every
 * change of the members is posted to the stream, so that only the death of a member takes the time of its expiry.
 */
export class Membership {
  readonly #options: MembershipOptions
  readonly #expiryMs: number
  #members: readonly string[] = []
  /** 0 before it has joined. */
  #epoch = 0
  #joinedAt = Number.NEGATIVE_INFINITY
  /** Whether a replica has event clients. */
  #isWatched = false
  /** Monotonic milliseconds until which this one has event clients, at least. */
  #watchedUntil = 0
  #lastBeat: number
  #isClosed = false
  #cancel = () => {}

  constructor(options: MembershipOptions) {
    this.#options = options
    this.#expiryMs = Math.round(options.heartbeatMs * expiryHeartbeats)
    this.#lastBeat = options.clock.now()
  }

  /** Joins as soon as there is a connection, and again with the next heartbeat after it has expired. */
  start(): void {
    this.#options.connection.onReady(() => void this.check())
  }

  /** Ids of the live members, including this one, sorted; empty before it has joined. */
  get members(): readonly string[] {
    return this.#members
  }

  /** The id of this replica. */
  get id(): string {
    return this.#options.id
  }

  /**
   * Increases with each change of the members, also when this one has expired and joins again; undefined before it has joined. Writes with
   * an older one are rejected.
   */
  get epoch(): number | undefined {
    return this.#epoch === 0 || this.#isClosed ? undefined : this.#epoch
  }

  /** Monotonic milliseconds at which this replica last joined others: what it polled before may be older than what they have polled. */
  get joinedAt(): number {
    return this.#joinedAt
  }

  /** Whether a replica has event clients, so that all must record events. */
  get isWatched(): boolean {
    return this.#isWatched
  }

  /** Makes all replicas record events for so many milliseconds from now on. */
  watchFor(ms: number): void {
    this.#watchedUntil = Math.max(this.#watchedUntil, this.#options.clock.now() + ms)
  }

  /** Beats immediately: the members may have changed. Never rejects. */
  readonly check = oneAtATime(async () => {
    const { heartbeatMs, clock } = this.#options
    if (this.#isClosed) return
    this.#cancel()
    let wait = heartbeatMs / 4
    try {
      wait = await this.#beat()
    } catch {
      // Reported by the connection. All members continue to poll while it is away.
    }
    if (!this.#isClosed) this.#cancel = clock.after(wait, () => void this.check())
  })

  /** Leaves, so that other members do not have to wait until it expires. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancel()
    await this.check()
    // If that fails, it expires.
    if (this.#epoch > 0) await this.#send('leave').catch(() => {})
  }

  #send(action: 'stay' | 'leave') {
    const { connection, id, clock, dataExpiryMs, position } = this.#options
    const { keys } = connection
    const watchedMs = Math.max(0, Math.round(this.#watchedUntil - clock.now()))
    const args = [id, this.#expiryMs, this.#epoch, position(), action, watchedMs, dataExpiryMs, ...this.#members]
    return connection.run('heartbeats', (redis) => redis.stateBeat(keys.members, keys.state, keys.stream, ...args))
  }

  /** @returns milliseconds until the next beat */
  async #beat(): Promise<number> {
    const { clock, connection, heartbeatMs, id, log, onChange } = this.#options
    const sentAt = clock.now()
    const [epoch, time, hasJoined, watched, ...entries] = await this.#send('stay')
    connection.serverTime.add(Number(time), sentAt, clock.now())
    if (hasJoined === 1) {
      this.#joinedAt = sentAt
      const seconds = Math.round((sentAt - this.#lastBeat) / 1000)
      if (this.#epoch > 0)
        log.warn(`This replica sent no heartbeat for ${seconds} s and lost its servers to other replicas; it rejoins now.`)
    }
    this.#lastBeat = sentAt
    this.#epoch = Number(epoch)
    this.#isWatched = watched === 1
    const members = entries.flatMap((entry, index) => (index % 2 === 0 ? [String(entry)] : [])).sort()
    const expiries = entries.flatMap((entry, index) =>
      index % 2 === 1 && entries[index - 1] !== id ? [Number(entry) - Number(time)] : [],
    )
    if (!haveSameItems(this.#members, members)) {
      this.#members = members
      onChange(members)
    }
    return Math.min(beatEvery * heartbeatMs, ...expiries.map((ms) => Math.max(0, ms) + afterExpiryMs))
  }
}
