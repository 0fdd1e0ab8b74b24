import type { LookupAddress } from 'node:dns'
import type { Clock } from '../../clock.ts'
import { SourceError, type SourceErrorCode, toSourceError } from '../errors.ts'
import { addressesOf, type Network } from '../network.ts'
import type { PhaseTimer } from '../phases.ts'

/** After so many ms without an answer the next address is asked as well, as Node.js does it for TCP (RFC 8305). */
const headStart = 250
/** More addresses than these are not asked in one poll. */
const mostAddresses = 4
/** There is nobody at the address. What was answered by somebody, well or not, is the answer. */
const unreached: ReadonlySet<SourceErrorCode> = new Set(['refused', 'unreachable'])

type Ask<T> = (address: LookupAddress, signal: AbortSignal) => Promise<T>

export interface AnyAddressOptions {
  /** Name or IP address. */
  readonly host: string
  /** For messages. */
  readonly target: string
  readonly network: Network
  readonly clock: Clock
  readonly phases: PhaseTimer | undefined
}

/**
 * For a UDP server, whose name may have addresses at which it does not listen, and where no connection would tell. The function
 * returned asks the address that answered last, then the others, and gives the first answer.
 * @throws SourceError `dns` for a name without addresses, else what `ask` throws
 */
export function createAnyAddress({ host, target, network, clock, phases }: AnyAddressOptions) {
  let answered: string | undefined

  return async <T>(ask: Ask<T>, signal: AbortSignal): Promise<T> => {
    if (network.tcpOnly) throw new SourceError('unsupported', `${target}: UDP does not go through a proxy (MC_VIA)`)
    const found = await addressesOf(host, network, signal)
    phases?.end('resolve')
    const isLast = ({ address }: LookupAddress) => address === answered
    const addresses = [...found.filter(isLast), ...found.filter((one) => !isLast(one))].slice(0, mostAddresses)
    const [first, second] = addresses
    if (first === undefined) throw new SourceError('dns', `${target}: the name has no address`)
    if (second === undefined) return ask(first, signal)
    const { answer, address } = await race(addresses, ask, signal, target, clock)
    answered = address
    return answer
  }
}

/** The first answer; the others are ended. Where nobody answers, how the last one failed. */
function race<T>(
  addresses: readonly LookupAddress[],
  ask: Ask<T>,
  signal: AbortSignal,
  target: string,
  clock: Clock,
): Promise<{ readonly answer: T; readonly address: string }> {
  return new Promise((resolve, reject) => {
    const underWay = new Set<AbortController>()
    const waiting = [...addresses]
    let cancel = () => {}
    const end = (reason: unknown) => {
      cancel()
      waiting.length = 0
      signal.removeEventListener('abort', abort)
      for (const own of underWay) own.abort(reason)
    }
    const fail = (reason: unknown) => {
      reject(reason)
      end(reason)
    }
    const abort = () => fail(signal.reason)
    const next = () => {
      cancel()
      const one = waiting.shift()
      if (one === undefined) return
      if (waiting.length > 0) cancel = clock.after(headStart, next)
      const own = new AbortController()
      underWay.add(own)
      ask(one, own.signal)
        .finally(() => underWay.delete(own))
        .then(
          (answer) => {
            resolve({ answer, address: one.address })
            end(new SourceError('aborted', `${target}: another of its addresses has answered`))
          },
          (error: unknown) => {
            if (!unreached.has(toSourceError(error, target).code)) fail(error)
            else if (waiting.length > 0) next()
            else if (underWay.size === 0) fail(error)
          },
        )
    }
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
    else next()
  })
}
