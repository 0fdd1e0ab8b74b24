import type { LookupAddress } from 'node:dns'
import type { AbortSignalLike } from '../../util/abortable.ts'
import type { Clock } from '../../util/clock.ts'
import { SourceError } from '../errors.ts'
import { addressesOf, type Network } from '../network.ts'
import type { PhaseTimer } from '../phases.ts'
import { type Attempt, raceAddresses } from './race-addresses.ts'

/** Maximum number of addresses that are tried in one poll. */
const maxAddresses = 4

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
    try {
      if (second === undefined) return await attempt(first, signal)
      const { reply, address } = await raceAddresses(addresses, attempt, signal, clock)
      lastAddress = address
      return reply
    } catch (error) {
      network.doubt(host)
      throw error
    }
  }
}
