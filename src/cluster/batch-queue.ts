import type { Clock } from '../util/clock.ts'

/** Milliseconds for which values are collected, because a command costs as much as several values. */
const collectMs = 10
/** Maximum number of values in one batch. */
const maxBatch = 64
/** Maximum number of batches in progress. */
const maxPending = 4

/** Sends the newest value of each key in batches, so that the queue for a slow receiver never exceeds the number of keys. */
export class BatchQueue<T> {
  readonly #waiting = new Map<string, T>()
  readonly #send: (batch: readonly (readonly [key: string, value: T])[]) => Promise<void>
  readonly #clock: Clock
  #pending = 0
  #isScheduled = false

  /** @param send resolves when the receiver has accepted the batch; never rejects */
  constructor(send: (batch: readonly (readonly [key: string, value: T])[]) => Promise<void>, clock: Clock) {
    this.#send = send
    this.#clock = clock
  }

  set(key: string, value: T): void {
    this.#waiting.set(key, value)
    this.#schedule()
  }

  clear(): void {
    this.#waiting.clear()
  }

  async #sendNext(): Promise<void> {
    const batch: (readonly [string, T])[] = []
    for (const entry of this.#waiting) {
      if (batch.push(entry) === maxBatch) break
    }
    for (const [key] of batch) this.#waiting.delete(key)
    this.#pending++
    await this.#send(batch)
    this.#pending--
    this.#schedule()
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting.size === 0) return
    this.#isScheduled = true
    this.#clock.after(collectMs, () => {
      this.#isScheduled = false
      while (this.#waiting.size > 0 && this.#pending < maxPending) void this.#sendNext()
    })
  }
}
