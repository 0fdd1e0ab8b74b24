import type { Clock } from '../../util/clock.ts'
import { SourceError } from '../errors.ts'
import type { Reading, Source } from '../sources/source.ts'
import { PollSignal } from './poll-signal.ts'

/** Milliseconds after the deadline in which a source may still return the fields read so far. */
const graceMs = 100

interface RunningPoll {
  readonly source: Source
  readonly signal: PollSignal
  readonly reject: (error: unknown) => void
  cancelTimer: (() => void) | undefined
}

const noPolls: readonly RunningPoll[] = []

/** The running polls of one server's sources. The only place where polls are cancelled. */
export class RunningPolls {
  readonly #clock: Clock
  readonly #timeoutMs: number
  #running: readonly RunningPoll[] = noPolls

  /** @param timeoutMs maximum duration of a poll */
  constructor(clock: Clock, timeoutMs: number) {
    this.#clock = clock
    this.#timeoutMs = timeoutMs
  }

  get size(): number {
    return this.#running.length
  }

  isRunning(source: Source): boolean {
    return this.#running.some((running) => running.source === source)
  }

  /**
   * Polls a source once. The poll ends at the deadline even if the source ignores its signal.
   * @param startedAt monotonic milliseconds from which the timeout counts
   * @throws SourceError `timeout`, `aborted` or the error of the source
   */
  run(source: Source, startedAt: number): Promise<Reading> {
    return new Promise<Reading>((resolve, reject) => {
      const poll: RunningPoll = { source, signal: new PollSignal(), reject, cancelTimer: undefined }
      this.#running = this.#running.concat(poll)
      const deadlineAt = startedAt + this.#timeoutMs
      poll.cancelTimer = this.#clock.after(Math.max(0, deadlineAt - this.#clock.now()), () => this.#expire(poll))
      const end = (reading: Reading) => {
        this.#remove(poll)
        resolve(reading)
      }
      try {
        source.poll(poll.signal, deadlineAt).then(end, (error: unknown) => this.#fail(poll, error))
      } catch (error) {
        this.#fail(poll, error)
      }
    })
  }

  /** Cancels the polls of all other sources, which have been closed. */
  keepOnly(sources: readonly Source[]): void {
    this.#cancel((source) => !sources.includes(source))
  }

  /** Cancels all polls. */
  close(): void {
    this.#cancel(() => true)
  }

  #cancel(isUnwanted: (source: Source) => boolean): void {
    for (const poll of this.#running) {
      if (!isUnwanted(poll.source)) continue
      const reason = new SourceError('aborted', `${poll.source.target}: no longer watched`)
      poll.signal.abort(reason)
      this.#fail(poll, reason)
    }
  }

  #expire(poll: RunningPoll): void {
    const late = new SourceError('timeout', `${poll.source.target}: no complete reply within ${Math.round(this.#timeoutMs)} ms`)
    poll.cancelTimer = this.#clock.after(graceMs, () => this.#fail(poll, late))
    poll.signal.abort(late)
  }

  #fail(poll: RunningPoll, error: unknown): void {
    this.#remove(poll)
    poll.reject(error)
  }

  #remove(poll: RunningPoll): void {
    const others = this.#running.filter((running) => running !== poll)
    this.#running = others.length === 0 ? noPolls : others
    poll.cancelTimer?.()
  }
}
