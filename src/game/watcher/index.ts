import type { Clock } from '../../clock.ts'
import type { Log } from '../../log.ts'
import { toSourceError } from '../errors.ts'
import type { Limiter } from '../names/limiter.ts'
import type { PollSettings } from '../server.ts'
import type { SettingNames } from '../setting-names.ts'
import { type KnownFields, merge, type ServerSnapshot } from '../snapshot.ts'
import { descriptorOf } from '../sources/descriptor-of.ts'
import type { Reading, Source, SourceContext, SourceName, SourceSet } from '../sources/source.ts'
import { createDeadline, type Deadline, waitAtMost } from './deadline.ts'
import { createFreshness } from './freshness.ts'
import { judgeMainThread } from './main-thread.ts'
import { createPlayerCounter } from './player-counter.ts'
import { createPollRequests } from './poll-requests.ts'
import { createReachability } from './reachability.ts'
import { createRunningPolls } from './running-polls.ts'
import { createSchedule } from './schedule.ts'
import { createSourceStates } from './source-states.ts'

/** Milliseconds that what one source read waits for the other sources of the same poll, to be published with them. */
const publishDelayMs = 100

export interface Watcher {
  readonly server: string
  readonly settings: PollSettings
  /** The newest snapshot; before the first poll one without fields. */
  snapshot(): ServerSnapshot
  /** Polls now, then on the interval, also while sources of the poll before are slow. `delay` ms before the first poll. */
  start(delay?: number): void
  /**
   * One poll of all sources except those whose earlier poll is still running; joins a poll that is running. Never rejects: what
   * failed is in the snapshot.
   */
  poll(): Promise<ServerSnapshot>
  /** Called with each new snapshot; the function returned unsubscribes. */
  subscribe(listener: (snapshot: ServerSnapshot) => void): () => void
  close(): void
}

export interface WatcherOptions {
  readonly server: string
  /** It is the built-in demo server: its snapshots say so. */
  readonly demo?: true
  /** For messages. */
  readonly settingNames?: SettingNames | undefined
  readonly settings: PollSettings
  readonly clock: Clock
  readonly log: Log
  /** 0 <= n < 1, for jitter. */
  readonly random: () => number
  /** Bounds the polls of all servers that run at once; default: no bound. */
  readonly limit?: Limiter
  /** Called when a poll of the schedule starts, with the milliseconds since it was due. */
  readonly onPollStart?: (delayMs: number) => void
  /** Creates the sources, which push what arrives between polls, and may request polls. */
  readonly sources: (push: SourceContext['push'], requestPoll: NonNullable<SourceContext['requestPoll']>) => SourceSet
}

/** Its files stay as they are while the server is down. */
const readsFiles = (name: SourceName): boolean => descriptorOf(name).completesOthers === true

/** Reading files of the server on this machine says nothing about whether it runs. */
const isNetwork = ({ name }: Source): boolean => descriptorOf(name).network

/**
 * Watches one server: polls its sources under one deadline and merges what they read into snapshots. A source that is slow delays
 * neither what the others read nor their next poll; it is polled again once it has ended.
 */
export function createWatcher(options: WatcherOptions): Watcher {
  const { server, settings, clock, log, random } = options
  const states = createSourceStates({ server, clock, log, settingNames: options.settingNames })
  const freshness = createFreshness(settings.staleAfter, readsFiles)
  const reachability = createReachability(isNetwork)
  const running = createRunningPolls(clock)
  const counter = createPlayerCounter()
  const polls: Partial<Record<string, number>> = {}
  const listeners = new Set<(snapshot: ServerSnapshot) => void>()
  let isStarted = false
  let closed = false
  /** Polls in a row that did not reach the server. */
  let failures = 0
  let pollsStarted = 0
  let pollDuration: number | undefined
  let lastPollAt: number | undefined
  let lastContact: ServerSnapshot['lastContact']
  /** When a poll last reached the server. */
  let lastReachedAt = Number.NEGATIVE_INFINITY
  /** Monotonic milliseconds of the last contact before the last outage: what was read until then is of another run of the server. */
  let lastOutageAt = Number.NEGATIVE_INFINITY
  let currentPoll: Promise<ServerSnapshot> | undefined
  let cancelExpiry = () => {}
  let cancelPublish: (() => void) | undefined
  const requests = createPollRequests(clock, pollRequested)
  const sources = options.sources(receivePushed, (source, at) => {
    if (isStarted) requests.request(source, at)
  })
  const schedule = createSchedule({
    ...{ interval: settings.interval, clock, random, poll: startPoll, failures: () => failures },
    ...(options.limit && { limit: options.limit }),
    ...(options.onPollStart && { onStart: options.onPollStart }),
  })
  let current = build(merge([]))

  function build(fields: KnownFields): ServerSnapshot {
    const { up } = reachability
    const now = clock.now()
    const activities = up === true ? sources.list().flatMap((source) => source.mainThread?.() ?? []) : []
    const { interval, staleAfter } = settings
    const mainThread = judgeMainThread(activities, { now, interval, staleAfter, since: lastOutageAt })
    return Object.freeze({
      server,
      ...(options.demo && { demo: true as const }),
      at: now,
      fields,
      sources: Object.freeze(sources.list().map(states.of)),
      polls: Object.freeze({ ...polls }),
      ...counter.counts(),
      ...(up !== undefined && { up }),
      ...(mainThread && { mainThread }),
      ...(lastContact && { lastContact }),
      ...(pollDuration !== undefined && { pollDuration }),
      ...(lastPollAt !== undefined && { lastPollAt }),
    })
  }

  /** @param at monotonic milliseconds at which something of the server was read */
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

  /** The server is up again, as something other than a regular poll has shown: the next one comes at once. */
  function recover(): void {
    failures = 0
    schedule.pollSoon()
  }

  function receivePushed(reading: Reading): void {
    const source = sources.list().find(({ name }) => name === reading.source)
    if (closed || source === undefined) return
    freshness.addPushed(reading)
    if (!reading.isStarting && reached(source, reading.at)) recover()
    // Before the first poll has ended most is unknown: what it reads belongs to the first snapshot too.
    if (pollDuration === undefined) publishSoon()
    else publish()
  }

  /** Publishes after a short delay, unless the end of the poll does so before. */
  function publishSoon(): void {
    if (!closed) cancelPublish ??= clock.after(publishDelayMs, publish)
  }

  function publish(): void {
    cancelPublish?.()
    cancelPublish = undefined
    const list = sources.list()
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
        log.error({ err: error, server }, `${server}: a listener of its snapshots failed`)
      }
    }
  }

  /**
   * Stale fields become unknown, also between polls and while a poll hangs. Of a server that is down everything stays until the
   * last of it is stale.
   */
  function expireReadings(list: readonly Source[]): void {
    cancelExpiry()
    const keepUntil = reachability.up === false ? lastReachedAt + settings.staleAfter : undefined
    const next = freshness.expire(clock.now(), new Set<SourceName>(list.map(({ name }) => name)), keepUntil)
    if (next < Number.POSITIVE_INFINITY && !closed) cancelExpiry = clock.after(next - clock.now(), publish)
  }

  /** Polls one source. Never rejects. @returns true where this has shown that a server which was down is up again */
  async function pollSource(source: Source, deadline: Deadline): Promise<boolean> {
    const started = clock.now()
    const elapsed = () => (clock.now() - started) / 1000
    let hasRecovered = false
    try {
      const reading = await running.run(source, deadline)
      if (closed) return false
      freshness.addPolled(reading)
      hasRecovered = reached(source, reading.at)
      if (isNetwork(source)) lastReachedAt = Math.max(lastReachedAt, reading.at)
      states.ok(source, elapsed(), reading.failures)
    } catch (thrown) {
      const error = toSourceError(thrown, source.target)
      if (error.code === 'aborted') return false
      reachability.missed(source)
      states.failed(source, elapsed(), error)
    }
    publishSoon()
    return hasRecovered
  }

  function pollRequested(name: SourceName): boolean {
    const source = sources.list().find((one) => one.name === name)
    if (source === undefined || closed) return true
    if (running.isRunning(source)) return false
    void pollSource(source, createDeadline(clock, settings.timeout)).then((hasRecovered) => {
      if (hasRecovered) recover()
    })
    return true
  }

  async function pollOnce(): Promise<ServerSnapshot> {
    const started = clock.now()
    const number = ++pollsStarted
    const deadline = createDeadline(clock, settings.timeout)
    await refreshSources(deadline)
    if (closed) return current
    const idle = sources.list().filter((source) => !running.isRunning(source))
    const recoveries = await Promise.all(idle.map((source) => pollSource(source, deadline)))
    if (closed || (idle.length === 0 && running.size > 0)) return current
    const list = sources.list()
    reachability.update(list)
    const { up } = reachability
    if (up === false) failures++
    else if (up) failures = 0
    // A later poll has found the server down, so that the next one may be far away.
    if (recoveries.includes(true) && number < pollsStarted) recover()
    if (up !== undefined) {
      const error = up ? undefined : list.filter(isNetwork).flatMap((source) => states.of(source).error ?? [])[0]
      const outcome = up ? 'ok' : (error?.code ?? 'unreachable')
      polls[outcome] = (polls[outcome] ?? 0) + 1
    }
    pollDuration = (clock.now() - started) / 1000
    lastPollAt = clock.wall()
    publish()
    return current
  }

  /** Reads the directory again, in at most half of the time: if it hangs, the sources that are known have the other half. */
  async function refreshSources(deadline: Deadline): Promise<void> {
    if (sources.refresh === undefined) return
    try {
      await waitAtMost(sources.refresh(), deadline.left() / 2, clock)
    } catch (error) {
      log.error({ err: error, server }, `${server}: cannot refresh its sources`)
    }
    running.keepOnly(sources.list())
  }

  function startPoll(): Promise<ServerSnapshot> {
    const poll = pollOnce().finally(() => {
      if (currentPoll === poll) currentPoll = undefined
    })
    currentPoll = poll
    return poll
  }

  return {
    server,
    settings,
    snapshot: () => current,
    start(delay = 0) {
      isStarted = true
      schedule.start(delay)
    },
    poll: () => currentPoll ?? startPoll(),
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close() {
      if (closed) return
      closed = true
      running.close()
      schedule.close()
      requests.close()
      cancelExpiry()
      cancelPublish?.()
      sources.close()
      listeners.clear()
    },
  }
}
