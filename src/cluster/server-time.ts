/** Number of the newest replies that count. */
const maxSamples = 8

/** Converts the reply to TIME: seconds and microseconds. */
export const toMilliseconds = ([seconds, microseconds]: readonly (string | number)[]): number =>
  Number(seconds) * 1_000 + Number(microseconds) / 1_000

interface Sample {
  readonly roundTripMs: number
  /** Milliseconds from the time of Redis to that here, with an error of at most half a round trip. */
  readonly offset: number
}

/**
 * Converts between the time of Redis and monotonic time here. A busy process reads replies late, sometimes by seconds, so the reply with the
 * shortest round trip decides.
 */
export class ServerTime {
  #samples: readonly Sample[] = []
  #best: Sample = { roundTripMs: 0, offset: 0 }

  /**
   * Adds a reply with the time.
   * @param time of Redis when it replied, milliseconds
   * @param sentAt monotonic milliseconds at which the request was sent
   * @param readAt monotonic milliseconds at which the reply was read
   */
  add(time: number, sentAt: number, readAt: number): void {
    const sample = { roundTripMs: readAt - sentAt, offset: (sentAt + readAt) / 2 - time }
    // Both cannot be right: the clock of Redis was set, or this is another Redis. Its times may be rounded down to a millisecond.
    const isClockSet = Math.abs(sample.offset - this.#best.offset) > (sample.roundTripMs + this.#best.roundTripMs) / 2 + 1
    this.#samples = [...(isClockSet ? [] : this.#samples.slice(1 - maxSamples)), sample]
    this.#best = this.#samples.reduce((best, one) => (one.roundTripMs < best.roundTripMs ? one : best))
  }

  /** Converts the time of Redis, milliseconds, to monotonic milliseconds here. */
  toLocal(time: number): number {
    return time + this.#best.offset
  }

  /** Converts monotonic milliseconds here to the time of Redis, milliseconds. */
  toRemote(at: number): number {
    return at - this.#best.offset
  }

  /** Maximum error of both, milliseconds. */
  get maxErrorMs(): number {
    return this.#best.roundTripMs / 2
  }
}
