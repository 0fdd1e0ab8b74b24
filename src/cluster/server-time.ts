/**
 * Converts the time of Redis to monotonic time here. A busy process reads replies late, sometimes by seconds, so the reply that was read the
 * fastest decides.
 */
export class ServerTime {
  /** Milliseconds from the time of Redis to that here, with the shortest delay of a reply so far. */
  #offset = Number.POSITIVE_INFINITY
  #arrivedAt = 0

  /**
   * @param time of Redis when it replied, milliseconds
   * @param requestedAt monotonic milliseconds at which the request was sent
   * @param arrivedAt monotonic milliseconds at which the reply was read
   * @returns monotonic milliseconds at which the reply arrived, not later than it was read
   */
  toLocal(time: number, requestedAt: number, arrivedAt: number): number {
    // The clocks may differ in speed, by less than a thousandth.
    const drift = (arrivedAt - this.#arrivedAt) / 1_000
    // Redis replied after the request, which shows when its clock was set.
    this.#offset = Math.max(requestedAt - time, Math.min(this.#offset + drift, arrivedAt - time))
    this.#arrivedAt = arrivedAt
    return time + this.#offset
  }
}
