import type { PollSettings } from '../game/server-settings.ts'
import { placeOf } from '../game/spread.ts'
import type { Clock } from '../util/clock.ts'
import type { Log } from '../util/log.ts'
import { oneAtATime } from '../util/one-at-a-time.ts'
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
  /** Milliseconds between two sweeps. */
  readonly sweepMs: number
  /** Whether silent servers are polled here. */
  readonly mayFallBack: () => boolean
  /** Aborted when the replica leaves. */
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly log: Log
}

/** An owner is given so much time for the first poll of a server of which nothing is known, milliseconds, or POLL_TIMEOUT if that is shorter. */
const maxFirstPollMs = 2_000
/** The first polls of servers that were taken over are spread over this many milliseconds per server. */
const startSpacingMs = 5
/** They are spread over at most this part of the poll interval. Not over less: polls of a replica that starts thousands at once time out. */
const maxSpreadIntervals = 0.95
/**
 * After a member has left or died, they are spread over at most this many heartbeat intervals: a death is detected after about 1.5
 * intervals, and its servers must be polled within two.
 */
const maxSpreadHeartbeats = 0.2

/**
 * Takes over and gives up servers as the members change. A replica that gives up a server polls it until the new owner has reported it; one
 * that hears nothing of a server polls it before it becomes unknown. So a server is also polled if its owner does not list it.
 */
export class ServerMoves {
  readonly #options: ServerMovesOptions
  readonly #maxSpreadMs: number
  /** A silent server is polled here so long after its last snapshot that it is not unknown before. */
  readonly #fallbackAfterMs: number
  #members: readonly string[] = []
  #ownerOf: Ownership = createOwnership([])
  /** Monotonic milliseconds at which the members have changed. */
  #changedAt = 0
  /** Whether a member has left or died whose servers have not all been taken over yet. */
  #hasLostMember = false
  /** Whether it was logged that servers are silent. */
  #isReported = false

  constructor(options: ServerMovesOptions) {
    const { poll, sweepMs } = options
    const { interval, timeout, staleAfter } = poll
    this.#options = options
    // The previous owner may have polled a server up to an interval ago: it must not become unknown until its first poll here.
    this.#maxSpreadMs = Math.min(interval * maxSpreadIntervals, Math.max(0, staleAfter - interval) / 2)
    const neededMs = Math.min(interval, staleAfter / 4) + Math.min(timeout, staleAfter / 4) + 2 * sweepMs
    this.#fallbackAfterMs = Math.max(staleAfter / 2, staleAfter - neededMs)
  }

  follow(members: readonly string[]): void {
    this.#ownerOf = createOwnership(members)
    if (this.#members.some((member) => !members.includes(member))) this.#hasLostMember = true
    this.#members = members
    this.#changedAt = this.#options.clock.now()
    void this.move()
  }

  /** Takes over and gives up servers after a change of the members or of the list of servers, in slices. Never rejects. */
  readonly move = oneAtATime(async () => {
    const { id, watchers, heartbeatMs, clock, signal } = this.#options
    const ownerOf = this.#ownerOf
    // The next call continues if the members have changed.
    const isOver = () => ownerOf !== this.#ownerOf || signal.aborted
    const pauses = createPauses()
    const gained: SharedWatcher[] = []
    for (const watcher of watchers.values()) {
      if (pauses.isDue()) await pauses.take()
      if (isOver()) return
      const owner = ownerOf(watcher.key)
      if (owner === id && !watcher.isOwned) gained.push(watcher)
      // Not before the first poll of a silent server has ended: if the members change faster than that, it would never be polled.
      if (owner !== id && !watcher.isPolledHere && !this.#isToBePolled(watcher, clock.now())) watcher.disown()
    }
    const spreadMs = Math.min(
      this.#spreadMs(gained.length),
      this.#hasLostMember ? heartbeatMs * maxSpreadHeartbeats : this.#maxSpreadMs,
    )
    for (const watcher of gained) {
      if (pauses.isDue()) await pauses.take()
      if (isOver()) return
      watcher.own(placeOf(watcher.server) * spreadMs)
    }
    this.#hasLostMember = false
  })

  /** Of several replicas that poll a server that its owner does not report, one continues: the first by id. */
  reported(watcher: SharedWatcher, sender: string): void {
    if (this.isFallback(watcher) && (sender === this.#ownerOf(watcher.key) || sender < this.#options.id)) watcher.disown()
  }

  /** Whether this replica polls it although another one should. */
  isFallback(watcher: SharedWatcher): boolean {
    return watcher.isOwned && this.#ownerOf(watcher.key) !== this.#options.id
  }

  /** What has to be done from time to time for each server, in slices. */
  async sweep(): Promise<void> {
    const { watchers, clock, signal } = this.#options
    const pauses = createPauses()
    let now = clock.now()
    const silent: SharedWatcher[] = []
    for (const watcher of watchers.values()) {
      if (pauses.isDue()) {
        await pauses.take()
        now = clock.now()
      }
      if (signal.aborted) return
      watcher.expire(now)
      if (watcher.isOwned) watcher.repeat(now)
      else if (this.#isToBePolled(watcher, now)) silent.push(watcher)
    }
    this.#fallBack(silent)
  }

  /** Whether nothing was heard of a server that another replica should poll for so long that it is to be polled here. */
  #isToBePolled(watcher: SharedWatcher, now: number): boolean {
    const { poll, watchers, mayFallBack } = this.#options
    const { receivedAt } = watcher
    if (!mayFallBack()) return false
    if (now - receivedAt >= this.#fallbackAfterMs) return true
    if (this.#members.length < 2 || watcher.snapshot().lastPollAt !== undefined) return false
    // It is unknown already, and its owner has had time for the first poll.
    const firstMs = Math.min(poll.timeout, maxFirstPollMs) + 2 * this.#spreadMs(watchers.size)
    return now - Math.max(receivedAt, this.#changedAt) >= firstMs
  }

  /** Polls silent servers here. */
  #fallBack(silent: readonly SharedWatcher[]): void {
    const { watchers, poll, log } = this.#options
    const spreadMs = Math.min(poll.interval / 2, silent.length * startSpacingMs)
    for (const watcher of silent) watcher.own(placeOf(watcher.server) * spreadMs)
    if (silent.length > 0 && !this.#isReported) {
      this.#isReported = true
      log.warn(
        `The replicas that should poll some servers (${silent.length}) do not report them, because they are silent or do not list them: this replica polls them until they do.`,
      )
    } else if (this.#isReported && ![...watchers.values()].some((watcher) => this.isFallback(watcher))) {
      this.#isReported = false
      log.info('Every server is polled by the replica that should poll it again.')
    }
  }

  /** Milliseconds over which the first polls of so many servers are spread. */
  #spreadMs(count: number): number {
    return Math.min(this.#maxSpreadMs, count * startSpacingMs)
  }
}
