import type { Clock } from '../../clock.ts'
import type { Log } from '../../log.ts'
import type { PollSettings } from '../server.ts'
import { type KnownFields, merge, type ServerSnapshot } from '../snapshot.ts'
import { descriptorOf } from '../sources/descriptor-of.ts'
import type { Reading, Source, SourceName } from '../sources/source.ts'
import { createFreshness } from './freshness.ts'
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

export function createPublisher({ server, demo, settings, clock, log, states, listSources }: PublisherOptions): Publisher {
  const freshness = createFreshness(settings.staleAfter, readsFiles)
  const reachability = createReachability(isNetwork)
  const counter = createPlayerCounter()
  const polls: Partial<Record<string, number>> = {}
  const listeners = new Set<(snapshot: ServerSnapshot) => void>()
  let closed = false
  let pollDuration: number | undefined
  let lastPollAt: number | undefined
  let lastContact: ServerSnapshot['lastContact']
  /** Monotonic milliseconds at which a poll last reached the server. */
  let lastReachedAt = Number.NEGATIVE_INFINITY
  /** Monotonic milliseconds of the last contact before the last outage. Earlier values belong to a previous run of the server. */
  let lastOutageAt = Number.NEGATIVE_INFINITY
  let cancelExpiry = () => {}
  let cancelPublish: (() => void) | undefined
  let current = build(merge([]))

  function build(fields: KnownFields): ServerSnapshot {
    const { up } = reachability
    const now = clock.now()
    const activities = up === true ? listSources().flatMap((source) => source.mainThread?.() ?? []) : []
    const { interval, staleAfter } = settings
    const mainThread = judgeMainThread(activities, { now, interval, staleAfter, since: lastOutageAt })
    return Object.freeze({
      server,
      ...(demo && { demo }),
      at: now,
      fields,
      sources: Object.freeze(listSources().map(states.of)),
      polls: Object.freeze({ ...polls }),
      ...counter.counts(),
      ...(up !== undefined && { up }),
      ...(mainThread && { mainThread }),
      ...(lastContact && { lastContact }),
      ...(pollDuration !== undefined && { pollDuration }),
      ...(lastPollAt !== undefined && { lastPollAt }),
    })
  }

  /** @param at monotonic milliseconds of the contact */
  function reached(source: Source, at: number): boolean {
    const contactBefore = lastContact?.at
    if (isNetwork(source) && (lastContact === undefined || at > lastContact.at)) {
      lastContact = { at, wall: clock.wall() - (clock.now() - at) }
    }
    const wasDown = reachability.reached(source)
    if (wasDown && contactBefore !== undefined) {
      lastOutageAt = contactBefore
      freshness.dropUntil(lastOutageAt)
    }
    return wasDown
  }

  function publishSoon(): void {
    if (!closed) cancelPublish ??= clock.after(publishDelayMs, publish)
  }

  function publish(): void {
    cancelPublish?.()
    cancelPublish = undefined
    const list = listSources()
    states.keepOnly(list)
    reachability.update(list)
    expireReadings(list)
    const failing = new Set(list.filter((source) => reachability.hasReached(source) === false).map(({ name }) => name))
    const fields = merge(freshness.readings(), failing)
    counter.update(fields)
    current = build(fields)
    for (const listener of listeners) {
      try {
        listener(current)
      } catch (error) {
        log.error({ err: error, server }, `${server}: a snapshot listener failed`)
      }
    }
  }

  /**
   * Makes stale fields unknown, also between polls and while a poll hangs. While the server is down, all fields are kept until the
   * last reading is stale.
   */
  function expireReadings(list: readonly Source[]): void {
    cancelExpiry()
    const keepUntil = reachability.up === false ? lastReachedAt + settings.staleAfter : undefined
    const next = freshness.expire(clock.now(), new Set<SourceName>(list.map(({ name }) => name)), keepUntil)
    if (next < Number.POSITIVE_INFINITY && !closed) cancelExpiry = clock.after(next - clock.now(), publish)
  }

  return {
    snapshot: () => current,
    addPolled(source, reading) {
      freshness.addPolled(reading)
      const wasDown = reached(source, reading.at)
      if (isNetwork(source)) lastReachedAt = Math.max(lastReachedAt, reading.at)
      return wasDown
    },
    addPushed(source, reading) {
      freshness.addPushed(reading)
      const wasDown = !reading.isStarting && reached(source, reading.at)
      // Until the first poll has ended most fields are unknown: its readings belong in the first snapshot too.
      if (pollDuration === undefined) publishSoon()
      else publish()
      return wasDown
    },
    addFailed: (source) => reachability.missed(source),
    publishSoon,
    pollEnded(startedAt) {
      const list = listSources()
      reachability.update(list)
      const { up } = reachability
      if (up !== undefined) {
        const error = up ? undefined : list.filter(isNetwork).flatMap((source) => states.of(source).error ?? [])[0]
        const outcome = up ? 'ok' : (error?.code ?? 'unreachable')
        polls[outcome] = (polls[outcome] ?? 0) + 1
      }
      pollDuration = (clock.now() - startedAt) / 1000
      lastPollAt = clock.wall()
      publish()
      return up
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close() {
      closed = true
      cancelExpiry()
      cancelPublish?.()
      listeners.clear()
    },
  }
}
