import type { Clock } from '../../util/clock.ts'
import type { Log } from '../../util/log.ts'
import { reasonOf } from '../store/file-error.ts'
import type { Batch } from '../store/store.ts'
import type { StoreClient } from '../store/store-client.ts'
import { concatSlices } from '../values/slices.ts'
import type { RecordedServer } from './recorded-server.ts'

/** Numbers that are kept while they cannot be written: 32 MB. */
const maxUnwritten = 4_000_000
/** Milliseconds after a failure before which nothing is tried again. */
const pauseMs = 1_000

/** Writes what is recorded of servers, in its order. What cannot be written is kept, and written with the next batch. */
export class BatchWriter {
  readonly #store: Pick<StoreClient, 'write'>
  #isStopped = false
  readonly #log: Log
  readonly #clock: Pick<Clock, 'now'>
  /** Monotonic milliseconds. */
  #failedAt = Number.NEGATIVE_INFINITY
  /** What could not be written, oldest first. */
  #unwritten: Batch[] = []
  /** Resolves when no batch is being written. */
  #writing: Promise<void> = Promise.resolve()
  #isFailing = false
  /** Whether it is logged that the last values are lost. */
  #isLost = false

  constructor(store: Pick<StoreClient, 'write'>, { log, clock }: { readonly log: Log; readonly clock: Pick<Clock, 'now'> }) {
    this.#store = store
    this.#log = log
    this.#clock = clock
  }

  /** From now on everything is dropped. */
  stop(): void {
    this.#isStopped = true
    this.#unwritten = []
  }

  /**
   * Writes one batch after the other: a later one must not overtake one that fails. Never rejects.
   * @param now Unix milliseconds
   * @param isLast true: it is tried even if that has just failed
   */
  write(servers: readonly RecordedServer[], now: number, isLast = false): Promise<void> {
    const batch = takeBatch(servers, now)
    if (this.#isStopped) return this.#writing
    if (batch !== undefined) this.#unwritten = keepNewest([...this.#unwritten, batch])
    this.#writing = this.#writing.then(() => this.#writeAll(isLast))
    return this.#writing
  }

  async #writeAll(isLast: boolean): Promise<void> {
    const isPaused = !isLast && this.#clock.now() - this.#failedAt < pauseMs
    for (let next = isPaused ? undefined : this.#unwritten.shift(); next !== undefined; next = this.#unwritten.shift()) {
      try {
        await this.#store.write(next)
        if (this.#isFailing) this.#log.info('the history can be written again')
        this.#isFailing = false
      } catch (error) {
        if (!isLast) this.report(error)
        else if (!this.#isLost)
          this.#log.warn({ reason: reasonOf(error) }, `cannot write the history: ${reasonOf(error)}; its last values are lost`)
        this.#isLost ||= isLast
        this.#failedAt = this.#clock.now()
        this.#unwritten.unshift(next)
        return
      }
    }
  }

  /** Logs once per failure, not once a minute. */
  report(error: unknown): void {
    const reason = reasonOf(error)
    if (!this.#isFailing)
      this.#log.warn({ reason }, `cannot write the history: ${reason}; the last values are kept in memory until that succeeds`)
    this.#isFailing = true
  }
}

/** What was recorded since the last call; undefined if that is nothing. */
export function takeBatch(servers: readonly RecordedServer[], now: number): Batch | undefined {
  const taken = { slices: [], sessions: [], events: [], incidents: [] }
  for (const server of servers) server.moveTo(taken, now)
  const batch = { ...taken, slices: concatSlices(taken.slices) }
  return sizeOf(batch) === 0 ? undefined : batch
}

/** Numbers and changes of a batch; a change takes about as much memory as ten numbers. */
const sizeOf = ({ slices, sessions, events, incidents }: Batch): number =>
  slices.length + 10 * (sessions.length + events.length + incidents.length)

/** Drops the oldest batches if all take too much memory. */
function keepNewest(batches: readonly Batch[]): Batch[] {
  let size = 0
  const first = batches.findLastIndex((batch) => {
    size += sizeOf(batch)
    return size > maxUnwritten
  })
  return batches.slice(first + 1)
}
