import type { Clock } from '../../clock.ts'
import type { Log } from '../../log.ts'
import { SourceError, toSourceError } from '../errors.ts'
import type { PollSettings } from '../server.ts'
import { type KnownFields, merge, type ServerSnapshot } from '../snapshot.ts'
import { descriptorOf } from '../sources/descriptor-of.ts'
import type { Reading, Source, SourceName, SourceSet } from '../sources/source.ts'
import { createPlayerCounter } from './player-counter.ts'
import { ask } from './poll-with-deadline.ts'
import { createSchedule } from './schedule.ts'
import { createSourceStates } from './source-states.ts'

/** Milliseconds that what one source read waits for the other sources of the same poll, to be published with them. */
const together = 100

export interface Watcher {
  readonly server: string
  readonly settings: PollSettings
  /** The newest snapshot; before the first poll one without fields. */
  snapshot(): ServerSnapshot
  /** Polls now, then on the interval, also while sources of the poll before are slow. `delay` ms before the first poll. */
  start(delay?: number): void
  /**
   * One poll of all sources but those that are still at an earlier one; joins the poll under way if there is one. Never rejects:
   * what failed is in the snapshot.
   */
  poll(): Promise<ServerSnapshot>
  /** Called with each new snapshot; the function returned ends it. */
  subscribe(listener: (snapshot: ServerSnapshot) => void): () => void
  close(): void
}

export interface WatcherOptions {
  readonly server: string
  readonly settings: PollSettings
  readonly clock: Clock
  readonly log: Log
  /** 0 <= n < 1, for jitter. */
  readonly random: () => number
  /** Makes the sources; what arrives between polls is pushed. */
  readonly sources: (push: (reading: Reading) => void) => SourceSet
}

/**
 * Watches one server: polls its sources, each with its own deadline, and merges what they read into snapshots. A source that is
 * slow holds up neither what the others read nor their next poll; it is asked again once it has ended.
 */
export function createWatcher(options: WatcherOptions): Watcher {
  const { server, settings, clock, log, random } = options
  /** Of each source its last poll, then what was pushed since. */
  const readings = new Map<SourceName, readonly Reading[]>()
  const states = createSourceStates({ server, clock, log })
  const polls: Partial<Record<string, number>> = {}
  const counter = createPlayerCounter()
  const listeners = new Set<(snapshot: ServerSnapshot) => void>()
  /** The sources under way, with what ends their poll. */
  const asked = new Map<Source, (reason: SourceError) => void>()
  let closed = false
  let failures = 0
  let pollDuration: number | undefined
  let up: boolean | undefined
  let lastContact: ServerSnapshot['lastContact']
  /** When a poll last reached the server. */
  let lastReached = Number.NEGATIVE_INFINITY
  let underWay: Promise<ServerSnapshot> | undefined
  let cancelExpiry = () => {}
  let cancelPublish: (() => void) | undefined
  const sources = options.sources((reading) => {
    if (closed) return
    const [polled, pushed] = readings.get(reading.source) ?? []
    const together = pushed === undefined ? reading : { ...reading, fields: { ...pushed.fields, ...reading.fields } }
    readings.set(reading.source, [polled ?? { ...reading, fields: {} }, together])
    contact(reading.at)
    // Before the first poll has ended most is unknown: what it reads belongs to the first snapshot too.
    if (pollDuration === undefined) publishSoon()
    else publish()
  })
  const schedule = createSchedule({ interval: settings.interval, clock, random, poll: pollAgain, failures: () => failures })
  let current = build(merge([]))

  function build(fields: KnownFields): ServerSnapshot {
    return Object.freeze({
      server,
      at: clock.now(),
      fields,
      sources: Object.freeze(sources.list().map(states.of)),
      polls: Object.freeze({ ...polls }),
      ...counter.counts(),
      ...(up !== undefined && { up }),
      ...(lastContact && { lastContact }),
      ...(pollDuration !== undefined && { pollDuration }),
    })
  }

  /** @param at monotonic milliseconds at which something of the server was read */
  function contact(at: number): void {
    if (lastContact === undefined || at > lastContact.at) lastContact = { at, wall: clock.wall() - (clock.now() - at) }
  }

  /** The states of the sources that ask the server. A directory is on this machine: reading it says nothing of whether it runs. */
  const network = () => sources.list().flatMap((source) => (descriptorOf(source.name).network ? [states.of(source)] : []))

  /** Whether the server is up. Not known as long as some of its sources have not been polled and none has reached it. */
  function look(): void {
    const all = network()
    if (all.some(({ state }) => state === 'ok')) up = true
    else if (all.every(({ state }) => state !== 'pending')) up = false
  }

  /** Soon, unless the poll ends before and publishes it. */
  function publishSoon(): void {
    if (!closed) cancelPublish ??= clock.after(together, publish)
  }

  function publish(): void {
    cancelPublish?.()
    cancelPublish = undefined
    states.keepOnly(sources.list())
    look()
    dropStale()
    const fields = merge([...readings.values()].flat())
    counter.see(fields)
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
   * What a source read counts until it is stale; then its fields become unknown, also between polls and while a poll hangs. Of a
   * server that is down all that was known stays as long as the last of it does.
   */
  function dropStale(): void {
    cancelExpiry()
    let next = Number.POSITIVE_INFINITY
    const left = ({ at }: Reading) => (up === false ? Math.max(at, lastReached) : at) + settings.staleAfter - clock.now()
    const names = new Set(sources.list().map(({ name }) => name))
    for (const [name, read] of readings) {
      const fresh = names.has(name) ? read.filter((reading) => left(reading) > 0) : []
      if (fresh.length > 0) readings.set(name, fresh)
      else readings.delete(name)
      next = Math.min(next, ...fresh.map(left))
    }
    if (next < Number.POSITIVE_INFINITY && !closed) cancelExpiry = clock.after(next, publish)
  }

  async function pollSource(source: Source): Promise<void> {
    const started = clock.now()
    const { reading: asking, stop } = ask(source, settings.timeout, clock)
    asked.set(source, stop)
    const elapsed = () => (clock.now() - started) / 1000
    try {
      const reading = await asking
      if (closed) return
      readings.set(source.name, [reading])
      if (descriptorOf(source.name).network) {
        contact(reading.at)
        lastReached = Math.max(lastReached, reading.at)
      }
      states.ok(source, elapsed())
    } catch (thrown) {
      const error = toSourceError(thrown, source.target)
      if (error.code === 'aborted') return
      states.failed(source, elapsed(), error)
    } finally {
      asked.delete(source)
    }
    publishSoon()
  }

  async function pollOnce(): Promise<ServerSnapshot> {
    const started = clock.now()
    if (sources.refresh !== undefined) await bounded(sources.refresh())
    if (closed) return current
    const polled = sources.list().filter((source) => !asked.has(source))
    await Promise.all(polled.map(pollSource))
    if (closed || (polled.length === 0 && asked.size > 0)) return current
    look()
    failures = up ? 0 : failures + 1
    const outcome = up ? 'ok' : (network().find(({ error }) => error)?.error?.code ?? 'unreachable')
    polls[outcome] = (polls[outcome] ?? 0) + 1
    pollDuration = (clock.now() - started) / 1000
    publish()
    return current
  }

  /** Waits for `work`, at most one poll timeout. It handles its own errors; one that gets through must not stop the polls. */
  async function bounded(work: Promise<void>): Promise<void> {
    let cancel = () => {}
    const late = new Promise<void>((resolve) => {
      cancel = clock.after(settings.timeout, resolve)
    })
    await Promise.race([work, late]).catch((error: unknown) => {
      log.error({ err: error, server }, `${server}: its sources could not be looked up`)
    })
    cancel()
  }

  /** One more poll, of the sources that are not under way. */
  function pollAgain(): Promise<ServerSnapshot> {
    const poll = pollOnce().finally(() => {
      if (underWay === poll) underWay = undefined
    })
    underWay = poll
    return poll
  }

  return {
    server,
    settings,
    snapshot: () => current,
    start: (delay = 0) => schedule.start(delay),
    poll: () => underWay ?? pollAgain(),
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close() {
      if (closed) return
      closed = true
      for (const stop of asked.values()) stop(new SourceError('aborted', `${server}: no longer watched`))
      schedule.close()
      cancelExpiry()
      cancelPublish?.()
      sources.close()
      listeners.clear()
    },
  }
}
