import { type Clock, toSeconds } from '../../util/clock.ts'
import type { Log } from '../../util/log.ts'
import type { SourceError } from '../errors.ts'
import type { FieldName } from '../fields.ts'
import { type Decision, merge } from '../merge.ts'
import type { PollSettings } from '../server-settings.ts'
import type { KnownFields, MainThread, ServerSnapshot } from '../snapshot.ts'
import { descriptorOf } from '../sources/descriptor-of.ts'
import type { SourceName } from '../sources/names.ts'
import type { Reading, Source } from '../sources/source.ts'
import { Freshness } from './freshness.ts'
import { judgeMainThread, mayStopTicking } from './main-thread.ts'
import { MeasuredTicks } from './measured-ticks.ts'
import { PlayerCounter } from './player-counter.ts'
import { Reachability } from './reachability.ts'
import type { SourceStates } from './source-states.ts'

/** Milliseconds that a reading waits for the other sources of the same poll, so that they are published in one snapshot. */
const publishDelayMs = 100

/** While the main thread hangs, the server runs no ticks: their last rate and durations are not current. */
const tickFields = [
  'tickRate',
  'tickDurationMean',
  'tickDurationP50',
  'tickDurationP95',
  'tickDurationP99',
  'tickDurationMax',
  'paperTickRates',
  'dimensions',
] as const satisfies readonly FieldName[]

export interface PublisherOptions {
  readonly server: string
  /** Set for the built-in demo server; its snapshots are marked. */
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

const noSources: ReadonlySet<SourceName> = new Set()
const nothing: Decision = { invalid: [] }

/** The state of a server at one moment. */
interface State extends Pick<ServerSnapshot, 'up' | 'knownUntil'> {
  /** Monotonic milliseconds. */
  readonly now: number
  readonly isStale: boolean
}

/**
 * Merges the readings of one server's sources into snapshots and publishes them. The only place that decides whether the server is
 * up, whether its main thread hangs, what is stale and what the tick rate is: everything else reads the snapshots.
 */
export class Publisher {
  readonly #options: PublisherOptions
  readonly #freshness: Freshness
  readonly #reachability: Reachability
  readonly #counter = new PlayerCounter()
  readonly #ticks = new MeasuredTicks()
  /** Replaced when a poll ends: it is part of the snapshots. */
  #polls: ServerSnapshot['polls'] = Object.freeze({})
  #listeners: readonly ((snapshot: ServerSnapshot) => void)[] = []
  #closed = false
  #pollDuration: number | undefined
  #lastPollAt: number | undefined
  /** Monotonic milliseconds at which a poll last ended, of one source or of all. */
  #checkedAt = Number.NEGATIVE_INFINITY
  #lastContact: ServerSnapshot['lastContact']
  /** Monotonic milliseconds at which a poll last reached the server. */
  #lastReachedAt = Number.NEGATIVE_INFINITY
  /** Monotonic milliseconds of the last contact before the last outage. Earlier values belong to a previous run of the server. */
  #lastOutageAt = Number.NEGATIVE_INFINITY
  /** Monotonic milliseconds at which the next field or the state becomes stale; Infinity if there is none. */
  #expiresAt = Number.POSITIVE_INFINITY
  /** Monotonic milliseconds at which the timer that checks for stale fields fires. */
  #expiryTimerAt = Number.POSITIVE_INFINITY
  #cancelExpiry: (() => void) | undefined
  #cancelPublish: (() => void) | undefined
  #current: ServerSnapshot

  constructor(options: PublisherOptions) {
    this.#options = options
    this.#reachability = new Reachability(isNetwork, options.listSources)
    this.#freshness = new Freshness(options.settings.staleAfter, readsFiles)
    this.#current = this.#build({ now: options.clock.now(), isStale: true }, merge([]))
  }

  /** The newest snapshot. */
  snapshot(): ServerSnapshot {
    // The timer may be late, for example after the process was stopped for a while.
    if (!this.#closed && this.#options.clock.now() >= this.#expiresAt) this.#publish()
    return this.#current
  }

  /** Adds the reading of a successful poll. Returns true if the server was down until now. */
  addPolled(source: Source, reading: Reading): boolean {
    this.#freshness.addPolled(reading)
    if (reading.fields.tickCount !== undefined) this.#ticks.readOver(reading.connection)
    const wasDown = this.#reached(source, reading.at)
    if (this.#reachability.isContact(source)) this.#lastReachedAt = Math.max(this.#lastReachedAt, reading.at)
    return wasDown
  }

  /** Adds a reading that arrived between polls, and publishes it. Returns true if the server was down until now. */
  addPushed(source: Source, reading: Reading): boolean {
    this.#freshness.addPushed(reading)
    const wasDown = !reading.isStarting && this.#reached(source, reading.at)
    // Until the first poll has ended most fields are unknown: its readings belong in the first snapshot too.
    if (this.#pollDuration === undefined) this.publishSoon()
    else this.#publish()
    return wasDown
  }

  /** Records a failed poll of a source. If the server was not asked, what is known about it stays until it is stale. */
  addFailed(source: Source, { code }: SourceError): void {
    if (code !== 'exhausted') {
      const isFirst = this.#reachability.hasReached(source) === undefined
      this.#reachability.missed(source, code === 'asleep')
      this.#checkedAt = this.#options.clock.now()
      if (source.detectsSleep && isFirst) this.#countContacts()
    }
    if (this.#current.fields.tickCount?.source === source.name) this.#ticks.interrupt()
  }

  /** Publishes soon, unless the end of a poll publishes first. */
  publishSoon(): void {
    if (!this.#closed) this.#cancelPublish ??= this.#options.clock.after(publishDelayMs, () => this.#publish())
  }

  /**
   * Records the end of a poll of all sources, and publishes.
   * @param startedAt monotonic milliseconds
   */
  pollEnded(startedAt: number): void {
    const { clock, states, listSources } = this.#options
    const list = listSources()
    this.#reachability.update()
    const { up } = this.#reachability
    const errors = list.filter(isNetwork).flatMap((source) => states.of(source).error ?? [])
    const isExhausted = errors.some(({ code }) => code === 'exhausted')
    if (up !== undefined || isExhausted) {
      const outcome = isExhausted ? 'exhausted' : up ? 'ok' : (errors[0]?.code ?? 'unreachable')
      this.#polls = Object.freeze(Object.assign({}, this.#polls, { [outcome]: (this.#polls[outcome] ?? 0) + 1 }))
    }
    const now = clock.now()
    this.#pollDuration = toSeconds(now - startedAt)
    this.#lastPollAt = clock.wall()
    if (!isExhausted) this.#checkedAt = now
    this.#publish(now)
  }

  /** Calls the listener with each new snapshot; the returned function unsubscribes. */
  subscribe(listener: (snapshot: ServerSnapshot) => void): () => void {
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

  #build({ now, up, knownUntil, isStale }: State, fields: KnownFields, mainThread?: MainThread): ServerSnapshot {
    const { server, demo, states, listSources } = this.#options
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
    if (knownUntil !== undefined) snapshot.knownUntil = knownUntil
    if (isStale) snapshot.isStale = true
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
    const wasDown = this.#reachability.reached(source)
    if (this.#reachability.isContact(source) && (contactBefore === undefined || at > contactBefore)) {
      this.#lastContact = { at, wall: Math.round(clock.wall() - (clock.now() - at)) }
    }
    if (wasDown && contactBefore !== undefined) {
      this.#lastOutageAt = contactBefore
      this.#freshness.dropUntil(contactBefore)
    }
    return wasDown
  }

  /** Counts what other sources have reached before the first poll of the source that detects a sleeping server had ended. */
  #countContacts(): void {
    for (const source of this.#options.listSources()) {
      const reading = this.#freshness.readings().find((one) => one.source === source.name)
      if (reading !== undefined && this.#reachability.hasReached(source)) this.#reached(source, reading.at)
    }
  }

  #publish(now = this.#options.clock.now()): void {
    const { server, log, states, listSources } = this.#options
    this.#cancelPublish?.()
    this.#cancelPublish = undefined
    const list = listSources()
    states.keepOnly(list)
    this.#reachability.update()
    const state = this.#decide(now)
    this.#expireReadings(list, state)
    const failed = list.filter((source) => this.#reachability.hasReached(source) === false)
    const failing = failed.length === 0 ? noSources : new Set(failed.map(({ name }) => name))
    let mainThread: MainThread | undefined
    const decide = (known: KnownFields): Decision => {
      if (state.up !== true) {
        this.#ticks.clear()
        return nothing
      }
      mainThread = this.#judgeMainThread(state.now, list, known)
      const measured = this.#ticks.measure(known)
      return { measured, invalid: mainThread?.responsive === false ? tickFields : [] }
    }
    const fields = merge(this.#freshness.readings(), failing, decide, this.#current.fields.players?.value)
    // A proxy that answers for the stopped server may list players of its own.
    if (!this.#reachability.mayBeAsleep) this.#counter.update(fields)
    this.#current = this.#build(state, fields, mainThread)
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
  #expireReadings(list: readonly Source[], { now, up, knownUntil = now, isStale }: State): void {
    const { staleAfter } = this.#options.settings
    const keepUntil = up === false ? this.#lastReachedAt + staleAfter : undefined
    this.#expiresAt = this.#freshness.expire(now, list, keepUntil)
    if (knownUntil > now) this.#expiresAt = Math.min(this.#expiresAt, knownUntil)
    if (!isStale) this.#expiresAt = Math.min(this.#expiresAt, this.#staleAt)
    this.#armExpiry()
  }

  /** Monotonic milliseconds at which the last contact becomes stale. */
  get #staleAt(): number {
    return (this.#lastContact?.at ?? Number.NEGATIVE_INFINITY) + this.#options.settings.staleAfter
  }

  #decide(now: number): State {
    const { settings } = this.#options
    const { up } = this.#reachability
    const isStale = now >= this.#staleAt
    // A server that is down stays down until the end of its next poll, which may be late.
    const knownUntil = up ? this.#staleAt : this.#checkedAt + settings.interval + settings.timeout + settings.staleAfter
    return up === undefined || now >= knownUntil ? { now, isStale } : { now, isStale, up, knownUntil }
  }

  #judgeMainThread(now: number, list: readonly Source[], fields: KnownFields): MainThread | undefined {
    const { interval, staleAfter } = this.#options.settings
    // Most servers are read by no such source.
    if (list.every((source) => source.mainThread === undefined)) return undefined
    const activities = list.flatMap((source) => source.mainThread?.() ?? [])
    return judgeMainThread(activities, {
      now,
      interval,
      staleAfter,
      since: this.#lastOutageAt,
      mayStopTicking: mayStopTicking(fields),
    })
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
