import type { Clock } from '../../../clock.ts'

/** Milliseconds after which a connection is kept open for more than one command again: another server may run there. */
const rememberMs = 600_000

/** Learns whether a server closes the connection after each reply. */
export interface ClosingServer {
  /** True: each command needs a connection of its own. */
  closesEach(): boolean
  /** A connection was closed after one reply. */
  closedAfterReply(): void
  /** A connection has brought a second reply. */
  keptOpen(): void
}

/** @param log called once when a connection was closed so, once when the next one was too, and once when one is kept open again */
export function createClosingServer(clock: Clock, log: (text: string) => void): ClosingServer {
  let closesUntil = Number.NEGATIVE_INFINITY
  /** Connections in a row that were closed after one reply. */
  let closed = 0
  let logged = 0

  return {
    closesEach: () => clock.now() < closesUntil,
    closedAfterReply() {
      closed++
      // A single one may have been cut by a restart or by the line.
      if (closed > 1) closesUntil = clock.now() + rememberMs
      if (closed <= logged || logged === 2) return
      logged = closed
      if (logged === 1) log('closed the connection after one reply; the next command gets a new connection')
      else log('closes the connection after each reply; each command gets a connection of its own from now on')
    },
    keptOpen() {
      closed = 0
      if (logged === 2) log('keeps the connection open after a reply again')
      logged = 0
    },
  }
}
