/** Milliseconds for which it is remembered that a server sends no pong, is a legacy server, needs a known protocol number, or is (not) a TLS server. */
export const rememberMs = 600_000
/** Consecutive missing pongs after which no ping is sent: a single one may only be late. */
const maxMissedPongs = 3

/** How a server differs from most others. Times are monotonic milliseconds. */
export class Peculiarities {
  pingAgainAt = Number.NEGATIVE_INFINITY
  legacyUntil = Number.NEGATIVE_INFINITY
  /** Whether it is sent the whole legacy request of 1.6. */
  isSentWhole = false
  /** Until then, the server is sent a protocol number that it knows. */
  knownProtocolUntil = Number.NEGATIVE_INFINITY
  isTls = false
  tlsCheckedUntil = Number.NEGATIVE_INFINITY
  /** Number of consecutive missing pongs. */
  #missedPongs = 0

  pongReceived(): void {
    this.#missedPongs = 0
  }

  pongMissed(now: number): void {
    this.#missedPongs++
    if (this.#missedPongs < maxMissedPongs) return
    this.#missedPongs = 0
    this.pingAgainAt = now + rememberMs
  }
}
