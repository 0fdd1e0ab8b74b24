import type { Clock } from '../../clock.ts'
import { SourceError } from '../errors.ts'
import type { Reading, Source } from '../sources/source.ts'
import type { Deadline } from './deadline.ts'

/** Milliseconds after the deadline in which a source may still return the fields read so far. */
const graceMs = 100

/** The running polls of one server's sources. The only place where polls are cancelled. */
export interface RunningPolls {
  isRunning(source: Source): boolean
  readonly size: number
  /**
   * Polls a source once. The poll ends at the deadline even if the source ignores its signal.
   * @throws SourceError `timeout`, `aborted` or the error of the source
   */
  run(source: Source, deadline: Deadline): Promise<Reading>
  /** Cancels the polls of all other sources, which have been closed. */
  keepOnly(sources: readonly Source[]): void
  /** Cancels all polls. */
  close(): void
}

export const createRunningPolls = (clock: Clock): RunningPolls => new SourcePolls(clock)

interface RunningPoll {
  readonly source: Source
  readonly cancel: (reason: SourceError) => void
}

const noPolls: readonly RunningPoll[] = []

/** A class to save memory, as in `reachability.ts`. */
class SourcePolls implements RunningPolls {
  readonly #clock: Clock
  /** Few: a search takes less time than a Map, and less memory. */
  #running: readonly RunningPoll[] = noPolls

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get size(): number {
    return this.#running.length
  }

  isRunning(source: Source): boolean {
    return this.#running.some((running) => running.source === source)
  }

  run(source: Source, deadline: Deadline): Promise<Reading> {
    const controller = new AbortController()
    let cancelTimer = () => {}
    return new Promise<Reading>((resolve, reject) => {
      const cancel = (reason: SourceError) => {
        controller.abort(reason)
        reject(reason)
      }
      this.#running = [...this.#running, { source, cancel }]
      cancelTimer = this.#clock.after(deadline.remainingMs(), () => {
        const late = new SourceError('timeout', `${source.target}: no complete reply within ${deadline.timeoutMs} ms`)
        cancelTimer = this.#clock.after(graceMs, () => reject(late))
        controller.abort(late)
      })
      source.poll(controller.signal, deadline.at).then(resolve, reject)
    }).finally(() => {
      this.#running = this.size === 1 ? noPolls : this.#running.filter((running) => running.source !== source)
      cancelTimer()
    })
  }

  keepOnly(sources: readonly Source[]): void {
    this.#cancel((source) => !sources.includes(source))
  }

  close(): void {
    this.#cancel(() => true)
  }

  #cancel(isUnwanted: (source: Source) => boolean): void {
    for (const { source, cancel } of this.#running) {
      if (isUnwanted(source)) cancel(new SourceError('aborted', `${source.target}: no longer watched`))
    }
  }
}
