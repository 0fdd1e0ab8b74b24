import type { LookupAddress } from 'node:dns'
import { setMaxListeners } from 'node:events'
import { type AbortSignalLike, withOwnSignal } from '../../util/abortable.ts'
import type { Clock } from '../../util/clock.ts'
import { codeOf, SourceError } from '../errors.ts'
import { ProtocolError } from '../protocol/error.ts'

/** Milliseconds without a reply after which the next address is tried as well. */
const attemptDelayMs = 250
/** Whether a reply arrived, even an invalid one, which ends the attempts. After an error of the system the next address is tried. */
const isReply = (error: unknown): boolean => error instanceof ProtocolError || error instanceof SourceError

/** Other errors of the system may be about this machine, such as one without a route to an address. */
const isRefused = (error: unknown): boolean => codeOf(error) === 'ECONNREFUSED'

export type Attempt<T> = (address: LookupAddress, signal: AbortSignalLike) => Promise<T>

interface Reply<T> {
  readonly reply: T
  readonly address: string
}

/**
 * Tries the addresses in order (Happy Eyeballs, RFC 8305). Returns the first reply and aborts the other attempts.
 * @throws if there is no reply: that of a server that has refused, else the error of the first attempt; the reason of the signal
 */
export const raceAddresses = <T>(
  addresses: readonly LookupAddress[],
  attempt: Attempt<T>,
  signal: AbortSignalLike,
  clock: Clock,
): Promise<Reply<T>> => withOwnSignal(signal, (own) => race(addresses, attempt, own.signal, clock))

function race<T>(addresses: readonly LookupAddress[], attempt: Attempt<T>, own: AbortSignal, clock: Clock): Promise<Reply<T>> {
  return new Promise((resolve, reject) => {
    const waiting = [...addresses]
    let running = 0
    let failure: unknown
    // Each attempt listens.
    setMaxListeners(0, own)
    let cancel = () => {}
    own.addEventListener('abort', () => {
      cancel()
      waiting.length = 0
      reject(own.reason)
    })
    const next = () => {
      cancel()
      const one = waiting.shift()
      if (one === undefined) return
      if (waiting.length > 0) cancel = clock.after(attemptDelayMs, next)
      running++
      attempt(one, own).then(
        (reply) => resolve({ reply, address: one.address }),
        (error: unknown) => {
          running--
          if (failure === undefined || (isRefused(error) && !isRefused(failure))) failure = error
          if (isReply(error)) reject(error)
          else if (waiting.length > 0) next()
          else if (running === 0) reject(failure)
        },
      )
    }
    if (own.aborted) reject(own.reason)
    else next()
  })
}
