import type { Clock } from '../../../util/clock.ts'

/** Milliseconds after which more than one command per connection is tried again: the server may have been replaced. */
const rememberMs = 600_000

/**
 * Detects a server that closes the connection after each reply.
 * @param log called after the first closed connection, after the second one, and when a connection stays open again
 */
export class ClosingServer {
  readonly #clock: Clock
  readonly #log: (text: string) => void
  #closesUntil = Number.NEGATIVE_INFINITY
  /** Consecutive connections that were closed after one reply. */
  #closed = 0
  #logged = 0

  constructor(clock: Clock, log: (text: string) => void) {
    this.#clock = clock
    this.#log = log
  }

  /** Returns true if each command needs a new connection. */
  closesEach(): boolean {
    return this.#clock.now() < this.#closesUntil
  }

  /** Records that a connection was closed after one reply. */
  closedAfterReply(): void {
    this.#closed++
    // A single one may have been closed by a restart or a network failure.
    if (this.#closed > 1) this.#closesUntil = this.#clock.now() + rememberMs
    if (this.#closed <= this.#logged || this.#logged === 2) return
    this.#logged = this.#closed
    if (this.#logged === 1) this.#log('closed the connection after one reply; the next command gets a new connection')
    else this.#log('closes the connection after each reply; each command gets a new connection')
  }

  /** Records a second reply over one connection. */
  keptOpen(): void {
    this.#closed = 0
    if (this.#logged === 2) this.#log('keeps the connection open after a reply again')
    this.#logged = 0
  }
}
