import type { PollSettings } from '../game/server-settings.ts'
import { placeOf } from '../game/spread.ts'
import type { Log } from '../util/log.ts'
import { createPauses } from '../util/pauses.ts'
import { createOwnership, type Ownership } from './ownership.ts'
import type { SharedWatcher } from './shared-watcher.ts'

export interface ServerMovesOptions {
  /** The id of this replica among the members. */
  readonly id: string
  /** By key. */
  readonly watchers: ReadonlyMap<string, SharedWatcher>
  readonly poll: PollSettings
  /** STATE_HEARTBEAT, milliseconds. */
  readonly heartbeatMs: number
  readonly log: Log
}

/** The first polls of servers that were taken over are spread over this many milliseconds per server. */
const startSpacingMs = 5
/** They are spread over at most this part of the poll interval. Not over less: polls of a replica that starts thousands at once time out. */
const maxSpreadIntervals = 0.95
/**
 * After a member has left or died, they are spread over at most this many heartbeat intervals: a death is detected after about 1.5
 * intervals, and its servers must be polled within two.
 */
const maxSpreadHeartbeats = 0.2

/** Takes over and gives up servers as the members change. */
export class ServerMoves {
  readonly #options: ServerMovesOptions
  readonly #maxSpreadMs: number
  #members: readonly string[] = []
  #ownerOf: Ownership = createOwnership([])
  /** Whether a member has left or died whose servers have not all been taken over yet. */
  #hasLostMember = false
  #isMoving = false
  #isDue = false
  #isFallback = false
  #isClosed = false

  constructor(options: ServerMovesOptions) {
    const { interval, staleAfter } = options.poll
    this.#options = options
    // The previous owner may have polled a server up to an interval ago: it must not become unknown until its first poll here.
    this.#maxSpreadMs = Math.min(interval * maxSpreadIntervals, Math.max(0, staleAfter - interval) / 2)
  }

  /** The members from which the owners are computed. */
  get members(): readonly string[] {
    return this.#members
  }

  /** Returns the id of the replica that should poll a server. */
  ownerOf(key: string): string | undefined {
    return this.#ownerOf(key)
  }

  follow(members: readonly string[]): void {
    const { watchers } = this.#options
    this.#ownerOf = createOwnership(members, (member, key) => watchers.get(key)?.declined?.has(member) !== true)
    if (this.#members.some((member) => !members.includes(member))) this.#hasLostMember = true
    this.#members = members
    void this.move()
  }

  /** Takes over and gives up servers after a change of the members or their lists, in slices. */
  async move(): Promise<void> {
    this.#isDue = true
    if (this.#isMoving) return
    this.#isMoving = true
    const { id, watchers, heartbeatMs } = this.#options
    const pauses = createPauses()
    while (this.#isDue && !this.#isClosed) {
      this.#isDue = false
      const gained: SharedWatcher[] = []
      for (const watcher of watchers.values()) {
        if (pauses.isDue()) await pauses.take()
        if (this.#isDue || this.#isClosed) break
        const isOwn = this.#ownerOf(watcher.key) === id
        if (isOwn && watcher.isOwned) watcher.isFallback = false
        if (isOwn === watcher.isOwned || watcher.isFallback) continue
        if (isOwn) gained.push(watcher)
        else watcher.disown()
      }
      const spreadMs = Math.min(
        this.#maxSpreadMs,
        gained.length * startSpacingMs,
        this.#hasLostMember ? heartbeatMs * maxSpreadHeartbeats : Number.POSITIVE_INFINITY,
      )
      for (const watcher of gained) {
        if (pauses.isDue()) await pauses.take()
        if (this.#isDue || this.#isClosed) break
        watcher.own(placeOf(watcher.server) * spreadMs)
      }
      if (!this.#isDue) this.#hasLostMember = false
    }
    this.#isMoving = false
  }

  /** Polls servers here that would become unknown because the replicas that should poll them are silent. */
  fallBack(silent: readonly SharedWatcher[]): void {
    const { watchers, poll, log } = this.#options
    const spreadMs = Math.min(poll.interval / 2, silent.length * startSpacingMs)
    for (const watcher of silent) {
      watcher.own(placeOf(watcher.server) * spreadMs)
      watcher.isFallback = true
    }
    const count = [...watchers.values()].filter((watcher) => watcher.isFallback).length
    if (this.#isFallback === count > 0) return
    this.#isFallback = count > 0
    if (this.#isFallback)
      log.warn(`The replicas that should poll some servers (${count}) are silent: this replica polls them in the meantime.`)
    else log.info('Every server is polled by one replica again.')
  }

  close(): void {
    this.#isClosed = true
  }
}
