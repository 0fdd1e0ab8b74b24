/** Milliseconds for which a fast reply counts, at least; at most twice as long. */
const periodMs = 10_000

/** Converts the reply to TIME: seconds and microseconds. */
export const toMilliseconds = ([seconds, microseconds]: readonly (string | number)[]): number =>
  Number(seconds) * 1_000 + Number(microseconds) / 1_000

/**
 * Converts the time of Redis to monotonic time here. A busy process reads replies late, sometimes by seconds, so the reply that was read the
 * fastest decides.
 */
export class ServerTime {
  /** Milliseconds from the time of Redis to that here, with the shortest delay of a reply: in the present period, and in the one before. */
  #shortest = Number.POSITIVE_INFINITY
  #before = Number.POSITIVE_INFINITY
  /** Start of the present period, monotonic milliseconds. */
  #startedAt = Number.NEGATIVE_INFINITY

  /**
   * @param time of Redis when it replied, milliseconds
   * @param requestedAt monotonic milliseconds at which the request was sent
   * @param readAt monotonic milliseconds at which the reply was read
   * @returns monotonic milliseconds at which the reply arrived, not later than it was read
   */
  toLocal(time: number, requestedAt: number, readAt: number): number {
    const offset = readAt - time
    if (readAt - this.#startedAt > periodMs) {
      this.#before = this.#shortest
      this.#shortest = offset
      this.#startedAt = readAt
    }
    this.#shortest = Math.min(this.#shortest, offset)
    // It would have arrived before it was requested: the clock of Redis was set back, or this is another Redis.
    if (time + this.#offset < requestedAt) {
      this.#shortest = offset
      this.#before = offset
    }
    return time + this.#offset
  }

  /** Converts monotonic milliseconds here to the time of Redis, milliseconds; too early by the shortest delay of a reply. */
  toRemote(at: number): number {
    return at - this.#offset
  }

  get #offset(): number {
    return Math.min(this.#shortest, this.#before)
  }
}
