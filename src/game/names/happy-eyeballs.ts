import type { LookupAddress } from 'node:dns'
import { type AbortSignalLike, withOwnSignal } from '../../util/abortable.ts'
import type { Clock } from '../../util/clock.ts'
import { SourceError, type SourceErrorCode, toSourceError } from '../errors.ts'
import { addressesOf, type Network } from '../network.ts'
import type { PhaseTimer } from '../phases.ts'

/** Milliseconds without a reply after which the next address is tried as well, as Node.js does for TCP (RFC 8305). */
const attemptDelayMs = 250
/** Maximum number of addresses that are tried in one poll. */
const maxAddresses = 4
/** Errors after which the next address is tried. Any other reply or error, even an invalid one, ends the poll. */
const unreached: ReadonlySet<SourceErrorCode> = new Set(['refused', 'unreachable'])

type Attempt<T> = (address: LookupAddress, signal: AbortSignalLike) => Promise<T>

export interface HappyEyeballsOptions {
  /** Name or IP address. */
  readonly host: string
  /** For messages. */
  readonly target: string
  readonly network: Network
  readonly clock: Clock
  readonly phases: PhaseTimer | undefined
}

/**
 * Selects the address of a UDP server whose name has several. The returned function tries the address that replied last, then
 * the others, and returns the first reply.
 * @throws SourceError `dns` if the name has no addresses, otherwise the error of the attempt
 */
export function createHappyEyeballs({ host, target, network, clock, phases }: HappyEyeballsOptions) {
  let lastAddress: string | undefined

  return async <T>(attempt: Attempt<T>, signal: AbortSignalLike): Promise<T> => {
    if (network.tcpOnly) throw new SourceError('unsupported', `${target}: UDP is not supported through a proxy (MC_VIA)`)
    const found = await addressesOf(host, network, signal)
    phases?.end('resolve')
    const isLast = ({ address }: LookupAddress) => address === lastAddress
    const addresses = [...found.filter(isLast), ...found.filter((one) => !isLast(one))].slice(0, maxAddresses)
    const [first, second] = addresses
    if (first === undefined) throw new SourceError('dns', `${target}: the host name has no addresses`)
    if (second === undefined) return attempt(first, signal)
    const { reply, address } = await withOwnSignal(signal, ({ signal: own }) => race(addresses, attempt, own, target, clock))
    lastAddress = address
    return reply
  }
}

/** Returns the first reply and aborts the other attempts. If none replies, rejects with the error of the last attempt. */
function race<T>(
  addresses: readonly LookupAddress[],
  attempt: Attempt<T>,
  own: AbortSignal,
  target: string,
  clock: Clock,
): Promise<{ readonly reply: T; readonly address: string }> {
  return new Promise((resolve, reject) => {
    const waiting = [...addresses]
    let running = 0
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
          if (!unreached.has(toSourceError(error, target).code)) reject(error)
          else if (waiting.length > 0) next()
          else if (running === 0) reject(error)
        },
      )
    }
    if (own.aborted) reject(own.reason)
    else next()
  })
}
