import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'
import { SourceError, toSourceError } from './errors.ts'
import { createPlayerCounter } from './player-counter.ts'
import type { PollSettings } from './server.ts'
import { type KnownFields, merge, type ServerSnapshot, type SourceState } from './snapshot.ts'
import type { Reading, Source, SourceName, SourceSet } from './sources/source.ts'

/** A server that is down is asked at the base interval this many times before the pauses grow. */
const quickRetries = 3
const maxBackoff = 8
/** Milliseconds past the deadline that a source has to hand over the part it read; then it is left behind. */
const grace = 100

export interface Watcher {
  readonly server: string
  readonly settings: PollSettings
  /** The newest snapshot; before the first poll one without fields. */
  snapshot(): ServerSnapshot
  /** Polls now, then on the interval. `delay` ms before the first poll. */
  start(delay?: number): void
  /** One poll; joins the one under way if there is one. Never rejects: what failed is in the snapshot. */
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

/** Intervals to wait after `failures` polls in a row that did not reach the server. */
export function backoff(failures: number): number {
  return Math.min(maxBackoff, 2 ** Math.max(0, failures - quickRetries))
}

/** Watches one server: polls its sources, each with its own deadline, and merges what they read into snapshots. */
export function createWatcher(options: WatcherOptions): Watcher {
  const { server, settings, clock, log, random } = options
  /** Of each source its last poll, then what was pushed since. */
  const readings = new Map<SourceName, readonly Reading[]>()
  const states = new Map<SourceName, SourceState>()
  const polls: Partial<Record<string, number>> = {}
  const counter = createPlayerCounter()
  const listeners = new Set<(snapshot: ServerSnapshot) => void>()
  /** Ends each poll of a source under way. */
  const asked = new Set<(reason: SourceError) => void>()
  let closed = false
  let failures = 0
  let pollDuration: number | undefined
  let up: boolean | undefined
  let lastContact: ServerSnapshot['lastContact']
  let underWay: Promise<ServerSnapshot> | undefined
  let cancelNext = () => {}
  let cancelExpiry = () => {}
  const sources = options.sources((reading) => {
    if (closed) return
    const [polled, pushed] = readings.get(reading.source) ?? []
    const together = pushed === undefined ? reading : { ...reading, fields: { ...pushed.fields, ...reading.fields } }
    readings.set(reading.source, [polled ?? { ...reading, fields: {} }, together])
    lastContact = { at: clock.now(), wall: clock.wall() }
    publish()
  })
  let current = build(merge([]))

  function build(fields: KnownFields): ServerSnapshot {
    return Object.freeze({
      server,
      at: clock.now(),
      fields,
      sources: Object.freeze(
        sources.list().map(({ name, target }) => states.get(name) ?? { source: name, target, state: 'pending' as const }),
      ),
      polls: Object.freeze({ ...polls }),
      ...counter.counts(),
      ...(up !== undefined && { up }),
      ...(lastContact && { lastContact }),
      ...(pollDuration !== undefined && { pollDuration }),
    })
  }

  function publish(): void {
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

  /** What a failed source read keeps counting until it is stale; then its fields become unknown, also between polls. */
  function dropStale(): void {
    cancelExpiry()
    let next = Number.POSITIVE_INFINITY
    const targets = new Map(sources.list().map(({ name, target }) => [name, target]))
    for (const name of new Set([...readings.keys(), ...states.keys()])) {
      const state = states.get(name)
      if (state !== undefined && targets.get(name) !== state.target) states.delete(name)
      if (!targets.has(name)) readings.delete(name)
      if (state?.state !== 'failed') continue
      const fresh = (readings.get(name) ?? []).filter(({ at }) => clock.now() - at < settings.staleAfter)
      if (fresh.length > 0) readings.set(name, fresh)
      else readings.delete(name)
      for (const { at } of fresh) next = Math.min(next, at + settings.staleAfter - clock.now())
    }
    if (next < Number.POSITIVE_INFINITY && !closed) cancelExpiry = clock.after(next, publish)
  }

  async function pollSource(source: Source): Promise<void> {
    const started = clock.now()
    const deadline = new AbortController()
    let leave = (_: SourceError) => {}
    let cancel = clock.after(settings.timeout, () => {
      const late = new SourceError('timeout', `${source.target}: no complete answer within ${settings.timeout} ms`)
      deadline.abort(late)
      cancel = clock.after(grace, () => leave(late))
    })
    const stop = (reason: SourceError) => {
      deadline.abort(reason)
      leave(reason)
    }
    asked.add(stop)
    const elapsed = () => (clock.now() - started) / 1000
    const before = states.get(source.name)
    try {
      const reading = await new Promise<Reading>((resolve, reject) => {
        leave = reject
        source.poll(deadline.signal).then(resolve, reject)
      })
      if (closed) return
      readings.set(source.name, [reading])
      if (before?.state === 'failed')
        log.info({ server, source: source.name }, `${server}: ${source.name} answers again (${source.target})`)
      states.set(source.name, {
        source: source.name,
        target: source.target,
        state: 'ok',
        duration: elapsed(),
        lastSuccess: clock.wall(),
        ...(before?.lastError && { lastError: before.lastError }),
      })
    } catch (thrown) {
      const error = toSourceError(thrown, source.target)
      if (error.code === 'aborted') return
      if (before?.error?.code !== error.code) {
        log.warn(
          { server, source: source.name, code: error.code },
          `${server}: ${source.name} failed (${error.code}): ${error.message}`,
        )
      }
      states.set(source.name, {
        source: source.name,
        target: source.target,
        state: 'failed',
        duration: elapsed(),
        error: { code: error.code, message: error.message },
        lastError: { code: error.code, message: error.message, at: clock.wall() },
        ...(before?.lastSuccess !== undefined && { lastSuccess: before.lastSuccess }),
      })
    } finally {
      cancel()
      asked.delete(stop)
    }
  }

  async function pollOnce(): Promise<ServerSnapshot> {
    const started = clock.now()
    if (sources.refresh !== undefined) await bounded(sources.refresh())
    if (closed) return current
    const polled = sources.list()
    await Promise.all(polled.map(pollSource))
    if (closed) return current
    // A directory is on this machine: reading it says nothing of whether the server runs.
    const network = polled.filter(({ name }) => name !== 'directory').map(({ name }) => states.get(name))
    up = network.some((state) => state?.state === 'ok')
    failures = up ? 0 : failures + 1
    if (up) lastContact = { at: clock.now(), wall: clock.wall() }
    const outcome = up ? 'ok' : (network.find((state) => state?.error)?.error?.code ?? 'unreachable')
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

  function poll(): Promise<ServerSnapshot> {
    underWay ??= pollOnce().finally(() => {
      underWay = undefined
    })
    return underWay
  }

  /** Jitter only shortens the pause, so that a change is never seen later than one interval after the last poll. */
  function schedule(delay: number): void {
    if (closed) return
    cancelNext()
    cancelNext = clock.after(delay, async () => {
      const started = clock.now()
      await poll()
      const pause = settings.interval * backoff(failures) * (1 - 0.1 * random())
      schedule(Math.max(0, pause - (clock.now() - started)))
    })
  }

  return {
    server,
    settings,
    snapshot: () => current,
    start: (delay = 0) => schedule(delay),
    poll,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close() {
      if (closed) return
      closed = true
      for (const stop of asked) stop(new SourceError('aborted', `${server}: no longer watched`))
      cancelNext()
      cancelExpiry()
      sources.close()
      listeners.clear()
    },
  }
}
