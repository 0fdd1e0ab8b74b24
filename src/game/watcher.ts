import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'
import { SourceError, toSourceError } from './errors.ts'
import { createPlayerCounter } from './player-counter.ts'
import type { PollSettings } from './server.ts'
import { merge, type ServerSnapshot, type SourceState } from './snapshot.ts'
import type { Reading, Source, SourceName, SourceSet } from './sources/source.ts'

/** A server that is down is asked at the base interval this many times before the pauses grow. */
const quickRetries = 3
const maxBackoff = 8

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
  const readings = new Map<SourceName, Reading>()
  const states = new Map<SourceName, SourceState>()
  const polls: Partial<Record<string, number>> = {}
  const counter = createPlayerCounter()
  const listeners = new Set<(snapshot: ServerSnapshot) => void>()
  const closing = new AbortController()
  let failures = 0
  let pollDuration: number | undefined
  let up: boolean | undefined
  let lastContact: ServerSnapshot['lastContact']
  let underWay: Promise<ServerSnapshot> | undefined
  let cancelNext = () => {}
  let cancelExpiry = () => {}
  const sources = options.sources((reading) => {
    if (closing.signal.aborted) return
    const before = readings.get(reading.source)
    readings.set(reading.source, before ? { ...reading, fields: { ...before.fields, ...reading.fields } } : reading)
    lastContact = { at: clock.now(), wall: clock.wall() }
    publish()
  })
  let current = build()

  function build(): ServerSnapshot {
    return Object.freeze({
      server,
      at: clock.now(),
      fields: merge([...readings.values()]),
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
    counter.see(merge([...readings.values()]))
    current = build()
    for (const listener of listeners) listener(current)
  }

  /** What a failed source read keeps counting until it is stale; then its fields become unknown, also between polls. */
  function dropStale(): void {
    cancelExpiry()
    let next = Number.POSITIVE_INFINITY
    const listed = new Set(sources.list().map(({ name }) => name))
    for (const [name, reading] of readings) {
      const age = clock.now() - reading.at
      if (!listed.has(name)) readings.delete(name)
      else if (states.get(name)?.state !== 'failed') continue
      else if (age >= settings.staleAfter) readings.delete(name)
      else next = Math.min(next, settings.staleAfter - age)
    }
    if (next < Number.POSITIVE_INFINITY && !closing.signal.aborted) cancelExpiry = clock.after(next, publish)
  }

  async function pollSource(source: Source): Promise<void> {
    const started = clock.now()
    const deadline = new AbortController()
    const cancel = clock.after(settings.timeout, () =>
      deadline.abort(new SourceError('timeout', `${source.target}: no complete answer within ${settings.timeout} ms`)),
    )
    const signal = AbortSignal.any([deadline.signal, closing.signal])
    const elapsed = () => (clock.now() - started) / 1000
    const before = states.get(source.name)
    try {
      const reading = await Promise.race([source.poll(signal), rejection(signal)])
      readings.set(source.name, reading)
      if (before?.state === 'failed')
        log.info({ server, source: source.name }, `${server}: ${source.name} answers again (${source.target})`)
      states.set(source.name, {
        source: source.name,
        target: source.target,
        state: 'ok',
        duration: elapsed(),
        lastSuccess: clock.wall(),
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
        ...(before?.lastSuccess !== undefined && { lastSuccess: before.lastSuccess }),
      })
    } finally {
      cancel()
    }
  }

  async function pollOnce(): Promise<ServerSnapshot> {
    const started = clock.now()
    const polled = sources.list()
    await Promise.all(polled.map(pollSource))
    if (closing.signal.aborted) return current
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

  function poll(): Promise<ServerSnapshot> {
    underWay ??= pollOnce().finally(() => {
      underWay = undefined
    })
    return underWay
  }

  /** Jitter only shortens the pause, so that a change is never seen later than one interval after the last poll. */
  function schedule(delay: number): void {
    if (closing.signal.aborted) return
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
      if (closing.signal.aborted) return
      closing.abort(new SourceError('aborted', `${server}: no longer watched`))
      cancelNext()
      cancelExpiry()
      sources.close()
      listeners.clear()
    },
  }
}

/** Rejects when the signal is aborted: a source that ignores its signal must not hold up the poll. */
function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}
