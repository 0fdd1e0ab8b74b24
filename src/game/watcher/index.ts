import type { Clock } from '../../clock.ts'
import type { Log } from '../../log.ts'
import { toSourceError } from '../errors.ts'
import type { Limiter } from '../names/limiter.ts'
import type { PollSettings } from '../server.ts'
import type { SettingNames } from '../setting-names.ts'
import type { ServerSnapshot } from '../snapshot.ts'
import type { Reading, Source, SourceContext, SourceName, SourceSet } from '../sources/source.ts'
import { createDeadline, type Deadline, waitUpTo } from './deadline.ts'
import { createPollRequests } from './poll-requests.ts'
import { createPublisher } from './publisher.ts'
import { createRunningPolls } from './running-polls.ts'
import { createSchedule } from './schedule.ts'
import { createSourceStates } from './source-states.ts'

export interface Watcher {
  readonly server: string
  readonly settings: PollSettings
  /** Returns the newest snapshot, which has no fields until the first poll. */
  snapshot(): ServerSnapshot
  /** Starts polling on the interval, even while sources of the previous poll are slow. The first poll starts after `delay` ms. */
  start(delay?: number): void
  /**
   * Polls all sources whose previous poll has ended, or joins a poll that is already running. Never rejects: failures are in the
   * snapshot.
   */
  poll(): Promise<ServerSnapshot>
  /** Calls the listener with each new snapshot; the returned function unsubscribes. */
  subscribe(listener: (snapshot: ServerSnapshot) => void): () => void
  close(): void
}

export interface WatcherOptions {
  readonly server: string
  /** Set for the built-in demo server; its snapshots are marked. */
  readonly demo?: true
  /** The names of the settings for messages. */
  readonly settingNames?: SettingNames | undefined
  readonly settings: PollSettings
  readonly clock: Clock
  readonly log: Log
  /** 0 <= n < 1, for jitter. */
  readonly random: () => number
  /** Limits the number of concurrent polls of all servers; default: no limit. */
  readonly limit?: Limiter
  /** Called when a scheduled poll starts, with its delay in milliseconds. */
  readonly onPollStart?: (delayMs: number) => void
  /** Called when a server that was down is reached again: its persistent connections need not wait any longer. */
  readonly onRecovery?: () => void
  /** Creates the sources, which push events between polls and may request polls. */
  readonly sources: (push: SourceContext['push'], requestPoll: NonNullable<SourceContext['requestPoll']>) => SourceSet
}

/**
 * Watches one server: polls its sources with one deadline and merges the readings into snapshots. A slow source delays neither the
 * readings nor the next poll of the others; it is polled again once its poll has ended.
 */
export function createWatcher(options: WatcherOptions): Watcher {
  const { server, settings, clock, log, random } = options
  const states = createSourceStates({ server, clock, log, settingNames: options.settingNames })
  const running = createRunningPolls(clock)
  let isStarted = false
  let closed = false
  /** Consecutive polls that did not reach the server. */
  let failures = 0
  let pollsStarted = 0
  let currentPoll: Promise<ServerSnapshot> | undefined
  const requests = createPollRequests(clock, pollRequested)
  const sources = options.sources(receivePushed, (source, at) => {
    if (isStarted) requests.request(source, at)
  })
  const schedule = createSchedule({
    ...{ interval: settings.interval, clock, random, poll: startPoll, failures: () => failures },
    ...(options.limit && { limit: options.limit }),
    ...(options.onPollStart && { onStart: options.onPollStart }),
  })
  const publisher = createPublisher({
    server,
    demo: options.demo,
    settings,
    clock,
    log,
    states,
    listSources: () => sources.list(),
  })

  /** The server is up again, as shown by something other than a scheduled poll: polls it soon. */
  function recover(): void {
    failures = 0
    schedule.pollSoon()
  }

  /** Polls the sources again that failed in the poll that found the server up again: some of them were waiting for their backoff. */
  function pollFailed(): void {
    if (!isStarted) return
    for (const source of sources.list()) {
      if (states.of(source).state === 'failed') requests.request(source.name, clock.now())
    }
  }

  function receivePushed(reading: Reading): void {
    const source = sources.list().find(({ name }) => name === reading.source)
    if (closed || source === undefined || !publisher.addPushed(source, reading)) return
    options.onRecovery?.()
    recover()
  }

  /** Polls one source. Never rejects. Returns true if this showed that a server that was down is up again. */
  async function pollSource(source: Source, deadline: Deadline): Promise<boolean> {
    const started = clock.now()
    const elapsed = () => (clock.now() - started) / 1000
    let hasRecovered = false
    try {
      const reading = await running.run(source, deadline)
      if (closed) return false
      hasRecovered = publisher.addPolled(source, reading)
      states.ok(source, elapsed(), reading.failures)
    } catch (thrown) {
      const error = toSourceError(thrown, source.target)
      if (error.code === 'aborted') return false
      publisher.addFailed(source)
      states.failed(source, elapsed(), error)
    }
    publisher.publishSoon()
    if (hasRecovered) options.onRecovery?.()
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
    if (closed) return publisher.snapshot()
    const idle = sources.list().filter((source) => !running.isRunning(source))
    const recoveries = await Promise.all(idle.map((source) => pollSource(source, deadline)))
    if (closed || (idle.length === 0 && running.size > 0)) return publisher.snapshot()
    const up = publisher.pollEnded(started)
    if (up === false) failures++
    else if (up) failures = 0
    if (recoveries.includes(true)) {
      // If a later poll found the server down, the next one may be scheduled much later.
      if (number < pollsStarted) recover()
      else pollFailed()
    }
    return publisher.snapshot()
  }

  /** Reads the directory again. If it hangs, half of the time remains for the sources that are already known. */
  async function refreshSources(deadline: Deadline): Promise<void> {
    if (sources.refresh === undefined) return
    try {
      await waitUpTo(sources.refresh(), deadline.remainingMs() / 2, clock)
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
    snapshot: publisher.snapshot,
    start(delay = 0) {
      isStarted = true
      schedule.start(delay)
    },
    poll: () => currentPoll ?? startPoll(),
    subscribe: publisher.subscribe,
    close() {
      if (closed) return
      closed = true
      running.close()
      schedule.close()
      requests.close()
      publisher.close()
      sources.close()
    },
  }
}
