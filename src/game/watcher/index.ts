import { toSeconds } from '../../util/clock.ts'
import { waitUpTo } from '../../util/wait-up-to.ts'
import { toSourceError } from '../errors.ts'
import type { PollSettings } from '../server-settings.ts'
import type { ServerSnapshot } from '../snapshot.ts'
import type { SourceName } from '../sources/names.ts'
import type { Reading, Source, SourceContext, SourceSet } from '../sources/source.ts'
import { PollRequests } from './poll-requests.ts'
import { Publisher, type PublisherOptions } from './publisher.ts'
import { RunningPolls } from './running-polls.ts'
import { Schedule, type ScheduleOptions } from './schedule.ts'
import { SourceStates, type SourceStatesOptions } from './source-states.ts'

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

export interface WatcherOptions
  extends Omit<PublisherOptions, 'states' | 'listSources'>,
    Pick<SourceStatesOptions, 'settingNames'>,
    Pick<ScheduleOptions, 'random' | 'limit' | 'align'> {
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
export class SourceWatcher implements Watcher {
  readonly #options: WatcherOptions
  readonly #states: SourceStates
  readonly #running: RunningPolls
  readonly #requests: PollRequests
  readonly #sources: SourceSet
  readonly #schedule: Schedule
  readonly #publisher: Publisher
  #isStarted = false
  #closed = false
  #currentPoll: Promise<ServerSnapshot> | undefined

  constructor(options: WatcherOptions) {
    this.#options = options
    const { server, demo, settings, clock, log, random, limit, align, onPollStart, settingNames } = options
    this.#states = new SourceStates({ server, clock, log, settingNames })
    this.#running = new RunningPolls(clock, settings.timeout)
    this.#requests = new PollRequests(clock, (source) => this.#pollRequested(source))
    this.#sources = options.sources(
      (reading) => this.#receivePushed(reading),
      (source, at) => {
        if (this.#isStarted) this.#requests.request(source, at)
      },
    )
    this.#schedule = new Schedule({
      interval: settings.interval,
      clock,
      random,
      poll: () => this.#startPoll(),
      ...(limit && { limit }),
      ...(align && { align }),
      ...(onPollStart && { onStart: onPollStart }),
    })
    const listSources = () => this.#sources.list()
    this.#publisher = new Publisher({ server, demo, settings, clock, log, states: this.#states, listSources })
  }

  get server(): string {
    return this.#options.server
  }

  get settings(): PollSettings {
    return this.#options.settings
  }

  snapshot(): ServerSnapshot {
    return this.#publisher.snapshot()
  }

  start(delay = 0): void {
    this.#isStarted = true
    this.#schedule.start(delay)
  }

  poll(): Promise<ServerSnapshot> {
    return this.#currentPoll ?? this.#startPoll()
  }

  subscribe(listener: (snapshot: ServerSnapshot) => void): () => void {
    return this.#publisher.subscribe(listener)
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#running.close()
    this.#schedule.close()
    this.#requests.close()
    this.#publisher.close()
    this.#sources.close()
  }

  /** Polls the sources again that failed in the poll that found the server up again: some of them were waiting for their backoff. */
  #pollFailed(): void {
    if (!this.#isStarted) return
    for (const source of this.#sources.list()) {
      if (this.#states.of(source).state === 'failed') this.#requests.request(source.name, this.#options.clock.now())
    }
  }

  #receivePushed(reading: Reading): void {
    const source = this.#sources.list().find(({ name }) => name === reading.source)
    if (this.#closed || source === undefined || !this.#publisher.addPushed(source, reading)) return
    this.#options.onRecovery?.()
    // The server is up again, as shown by something other than a scheduled poll.
    this.#schedule.pollSoon()
  }

  /**
   * Polls one source. Never rejects. Returns true if this showed that a server that was down is up again.
   * @param pollStarted monotonic milliseconds from which the timeout counts
   */
  async #pollSource(source: Source, pollStarted?: number): Promise<boolean> {
    const { clock } = this.#options
    const started = clock.now()
    let hasRecovered = false
    try {
      const reading = await this.#running.run(source, pollStarted ?? started)
      hasRecovered = this.#publisher.addPolled(source, reading)
      this.#states.ok(source, toSeconds(clock.now() - started), reading.failures)
    } catch (thrown) {
      const error = toSourceError(thrown, source.target)
      if (error.code === 'aborted') return false
      this.#publisher.addFailed(source, error)
      this.#states.failed(source, toSeconds(clock.now() - started), error)
    }
    // The end of the poll, which follows at once, publishes.
    if (this.#running.size > 0) this.#publisher.publishSoon()
    if (hasRecovered) this.#options.onRecovery?.()
    return hasRecovered
  }

  #pollRequested(name: SourceName): boolean {
    const source = this.#sources.list().find((one) => one.name === name)
    if (source === undefined || this.#closed) return true
    if (this.#running.isRunning(source)) return false
    void this.#pollSource(source).then((hasRecovered) => {
      this.#publisher.publishSoon()
      if (hasRecovered) this.#schedule.pollSoon()
    })
    return true
  }

  async #pollOnce(): Promise<ServerSnapshot> {
    const started = this.#options.clock.now()
    if (this.#sources.refresh !== undefined) await this.#refreshSources()
    if (this.#closed) return this.snapshot()
    const idle = this.#sources.list().filter((source) => !this.#running.isRunning(source))
    const polls = idle.map((source) => this.#pollSource(source, started))
    let hasRecovered = false
    // They never reject, so that Promise.all(), which takes half a kilobyte, is not needed.
    for (const poll of polls) if (await poll) hasRecovered = true
    if (this.#closed || (idle.length === 0 && this.#running.size > 0)) return this.snapshot()
    this.#publisher.pollEnded(started)
    if (hasRecovered) this.#pollFailed()
    return this.snapshot()
  }

  /** Reads the directory again. If it hangs, half of the time remains for the sources that are already known. */
  async #refreshSources(): Promise<void> {
    const { server, clock, log, settings } = this.#options
    try {
      await waitUpTo(this.#sources.refresh?.() ?? Promise.resolve(), settings.timeout / 2, clock)
    } catch (error) {
      log.error({ err: error, server }, `${server}: cannot refresh its sources`)
    }
    this.#running.keepOnly(this.#sources.list())
  }

  #startPoll(): Promise<ServerSnapshot> {
    const poll = this.#pollOnce()
    const end = () => {
      if (this.#currentPoll === poll) this.#currentPoll = undefined
    }
    this.#currentPoll = poll
    poll.then(end, end)
    return poll
  }
}
