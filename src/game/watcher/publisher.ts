import { type Clock, toSeconds } from '../../clock.ts'
import type { Log } from '../../log.ts'
import type { PollSettings } from '../server.ts'
import { type KnownFields, merge, type ServerSnapshot } from '../snapshot.ts'
import { descriptorOf } from '../sources/descriptor-of.ts'
import type { Reading, Source, SourceName } from '../sources/source.ts'
import { createFreshness, type Freshness } from './freshness.ts'
import { judgeMainThread } from './main-thread.ts'
import { createPlayerCounter } from './player-counter.ts'
import { createReachability } from './reachability.ts'
import type { SourceStates } from './source-states.ts'

/** Milliseconds that a reading waits for the other sources of the same poll, so that they are published in one snapshot. */
const publishDelayMs = 100

/** Merges the readings of one server's sources into snapshots and publishes them. */
export interface Publisher {
  /** The newest snapshot. */
  snapshot(): ServerSnapshot
  /** Adds the reading of a successful poll. Returns true if the server was down until now. */
  addPolled(source: Source, reading: Reading): boolean
  /** Adds a reading that arrived between polls, and publishes it. Returns true if the server was down until now. */
  addPushed(source: Source, reading: Reading): boolean
  /** Records a failed poll of a source. */
  addFailed(source: Source): void
  /** Publishes soon, unless the end of a poll publishes first. */
  publishSoon(): void
  /**
   * Records the end of a poll of all sources, and publishes.
   * @param startedAt monotonic milliseconds
   * @returns whether the server is up; undefined if unknown
   */
  pollEnded(startedAt: number): boolean | undefined
  /** Calls the listener with each new snapshot; the returned function unsubscribes. */
  subscribe(listener: (snapshot: ServerSnapshot) => void): () => void
  close(): void
}

export interface PublisherOptions {
  readonly server: string
  /** Set for the built-in demo server. */
  readonly demo?: true | undefined
  readonly settings: PollSettings
  readonly clock: Clock
  readonly log: Log
  readonly states: SourceStates
  readonly listSources: () => readonly Source[]
}

/** The fields of a source that reads files stay valid while the server is down. */
const readsFiles = (name: SourceName): boolean => descriptorOf(name).completesOthers === true

/** Reading the files of a server does not show whether it is running. */
const isNetwork = ({ name }: Source): boolean => descriptorOf(name).network

export const createPublisher = (options: PublisherOptions): Publisher => new SnapshotPublisher(options)

const noSources: ReadonlySet<SourceName> = new Set()

/** A class to save memory, as in `reachability.ts`. */
class SnapshotPublisher implements Publisher {
  readonly #options: PublisherOptions
  readonly #freshness: Freshness
  readonly #reachability = createReachability(isNetwork)
  readonly #counter = createPlayerCounter()
  /** Replaced when a poll ends: it is part of the snapshots. */
  #polls: ServerSnapshot['polls'] = Object.freeze({})
  #listeners: readonly ((snapshot: ServerSnapshot) => void)[] = []
  #closed = false
  #pollDuration: number | undefined
  #lastPollAt: number | undefined
  #lastContact: ServerSnapshot['lastContact']
  /** Monotonic milliseconds at which a poll last reached the server. */
  #lastReachedAt = Number.NEGATIVE_INFINITY
  /** Monotonic milliseconds of the last contact before the last outage. Earlier values belong to a previous run of the server. */
  #lastOutageAt = Number.NEGATIVE_INFINITY
  /** Monotonic milliseconds at which the next field becomes stale; Infinity if there is none. */
  #expiresAt = Number.POSITIVE_INFINITY
  /** Monotonic milliseconds at which the timer that checks for stale fields fires. */
  #expiryTimerAt = Number.POSITIVE_INFINITY
  #cancelExpiry: (() => void) | undefined
  #cancelPublish: (() => void) | undefined
  #current: ServerSnapshot

  constructor(options: PublisherOptions) {
    this.#options = options
    this.#freshness = createFreshness(options.settings.staleAfter, readsFiles)
    this.#current = this.#build(merge([]))
  }

  snapshot(): ServerSnapshot {
    return this.#current
  }

  addPolled(source: Source, reading: Reading): boolean {
    this.#freshness.addPolled(reading)
    const wasDown = this.#reached(source, reading.at)
    if (isNetwork(source)) this.#lastReachedAt = Math.max(this.#lastReachedAt, reading.at)
    return wasDown
  }

  addPushed(source: Source, reading: Reading): boolean {
    this.#freshness.addPushed(reading)
    const wasDown = !reading.isStarting && this.#reached(source, reading.at)
    // Until the first poll has ended most fields are unknown: its readings belong in the first snapshot too.
    if (this.#pollDuration === undefined) this.publishSoon()
    else this.#publish()
    return wasDown
  }

  addFailed(source: Source): void {
    this.#reachability.missed(source)
  }

  publishSoon(): void {
    if (!this.#closed) this.#cancelPublish ??= this.#options.clock.after(publishDelayMs, () => this.#publish())
  }

  pollEnded(startedAt: number): boolean | undefined {
    const { clock, states, listSources } = this.#options
    const list = listSources()
    this.#reachability.update(list)
    const { up } = this.#reachability
    if (up !== undefined) {
      const error = up ? undefined : list.filter(isNetwork).flatMap((source) => states.of(source).error ?? [])[0]
      const outcome = up ? 'ok' : (error?.code ?? 'unreachable')
      this.#polls = Object.freeze({ ...this.#polls, [outcome]: (this.#polls[outcome] ?? 0) + 1 })
    }
    this.#pollDuration = toSeconds(clock.now() - startedAt)
    this.#lastPollAt = clock.wall()
    this.#publish()
    return up
  }

  subscribe(listener: (snapshot: ServerSnapshot) => void): () => void {
    // Not by a spread, as in `reachability.ts`.
    this.#listeners = this.#listeners.concat(listener)
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== listener)
    }
  }

  close(): void {
    this.#closed = true
    this.#cancelExpiry?.()
    this.#cancelPublish?.()
    this.#listeners = []
  }

  #build(fields: KnownFields): ServerSnapshot {
    const { server, demo, settings, clock, states, listSources } = this.#options
    const { up } = this.#reachability
    const now = clock.now()
    const activities = up === true ? listSources().flatMap((source) => source.mainThread?.() ?? []) : []
    const { interval, staleAfter } = settings
    const mainThread = judgeMainThread(activities, { now, interval, staleAfter, since: this.#lastOutageAt })
    const snapshot: { -readonly [K in keyof ServerSnapshot]: ServerSnapshot[K] } = {
      server,
      at: now,
      fields,
      sources: Object.freeze(listSources().map((source) => states.of(source))),
      polls: this.#polls,
    }
    // Assigned one by one, because conditional spreads take three times as long.
    if (demo) snapshot.demo = demo
    const { joins, leaves } = this.#counter.counts()
    if (joins !== undefined) snapshot.joins = joins
    if (leaves !== undefined) snapshot.leaves = leaves
    if (up !== undefined) snapshot.up = up
    if (mainThread !== undefined) snapshot.mainThread = mainThread
    if (this.#lastContact !== undefined) snapshot.lastContact = this.#lastContact
    if (this.#pollDuration !== undefined) snapshot.pollDuration = this.#pollDuration
    if (this.#lastPollAt !== undefined) snapshot.lastPollAt = this.#lastPollAt
    return Object.freeze(snapshot)
  }

  /** @param at monotonic milliseconds of the contact */
  #reached(source: Source, at: number): boolean {
    const { clock } = this.#options
    const contactBefore = this.#lastContact?.at
    if (isNetwork(source) && (contactBefore === undefined || at > contactBefore)) {
      this.#lastContact = { at, wall: Math.round(clock.wall() - (clock.now() - at)) }
    }
    const wasDown = this.#reachability.reached(source)
    if (wasDown && contactBefore !== undefined) {
      this.#lastOutageAt = contactBefore
      this.#freshness.dropUntil(contactBefore)
    }
    return wasDown
  }

  #publish(): void {
    const { server, log, states, listSources } = this.#options
    this.#cancelPublish?.()
    this.#cancelPublish = undefined
    const list = listSources()
    states.keepOnly(list)
    this.#reachability.update(list)
    this.#expireReadings(list)
    const failed = list.filter((source) => this.#reachability.hasReached(source) === false)
    const failing = failed.length === 0 ? noSources : new Set(failed.map(({ name }) => name))
    const fields = merge(this.#freshness.readings(), failing, this.#current.fields)
    this.#counter.update(fields)
    this.#current = this.#build(fields)
    for (const listener of this.#listeners) {
      try {
        listener(this.#current)
      } catch (error) {
        log.error({ err: error, server }, `${server}: a snapshot listener failed`)
      }
    }
  }

  /**
   * Makes stale fields unknown, also between polls and while a poll hangs. While the server is down, all fields are kept until the
   * last reading is stale.
   */
  #expireReadings(list: readonly Source[]): void {
    const { clock, settings } = this.#options
    const keepUntil = this.#reachability.up === false ? this.#lastReachedAt + settings.staleAfter : undefined
    this.#expiresAt = this.#freshness.expire(
      clock.now(),
      list.map(({ name }) => name),
      keepUntil,
    )
    this.#armExpiry()
  }

  /** A timer that fires too early is not replaced: each poll would replace it. */
  #armExpiry(): void {
    const { clock } = this.#options
    if (this.#closed || this.#expiresAt >= this.#expiryTimerAt) return
    this.#cancelExpiry?.()
    this.#expiryTimerAt = this.#expiresAt
    this.#cancelExpiry = clock.after(this.#expiresAt - clock.now(), () => {
      this.#expiryTimerAt = Number.POSITIVE_INFINITY
      if (clock.now() >= this.#expiresAt) this.#publish()
      else this.#armExpiry()
    })
  }
}
