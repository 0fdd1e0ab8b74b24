import type { Clock } from '../../../clock.ts'

/** Milliseconds after which more than one command per connection is tried again: the server may have been replaced. */
const rememberMs = 600_000

/** Detects a server that closes the connection after each reply. */
export interface ClosingServer {
  /** Returns true if each command needs a new connection. */
  closesEach(): boolean
  /** Records that a connection was closed after one reply. */
  closedAfterReply(): void
  /** Records a second reply over one connection. */
  keptOpen(): void
}

/** @param log called after the first closed connection, after the second one, and when a connection stays open again */
export function createClosingServer(clock: Clock, log: (text: string) => void): ClosingServer {
  let closesUntil = Number.NEGATIVE_INFINITY
  /** Consecutive connections that were closed after one reply. */
  let closed = 0
  let logged = 0

  return {
    closesEach: () => clock.now() < closesUntil,
    closedAfterReply() {
      closed++
      // A single one may have been closed by a restart or a network failure.
      if (closed > 1) closesUntil = clock.now() + rememberMs
      if (closed <= logged || logged === 2) return
      logged = closed
      if (logged === 1) log('closed the connection after one reply; the next command gets a new connection')
      else log('closes the connection after each reply; each command gets a new connection')
    },
    keptOpen() {
      closed = 0
      if (logged === 2) log('keeps the connection open after a reply again')
      logged = 0
    },
  }
}
