import { SourceError } from '../../src/game/errors.ts'
import type { Network } from '../../src/game/network.ts'
import { formatHostPort } from '../../src/util/address.ts'

export interface GuardedNetwork extends Network {
  /** Whether an address has been refused. */
  readonly hasRefused: () => boolean
}

/**
 * Resolves and connects only to addresses that `allows` accepts. Addresses are checked after every lookup, so that DNS rebinding
 * cannot bypass the check. The error does not contain the address, which may belong to an internal network.
 */
export function guardNetwork(network: Network, allows: (address: string) => boolean): GuardedNetwork {
  let hasRefused = false
  function check<T extends readonly { readonly address: string }[]>(addresses: T, host: string): T {
    if (addresses.every(({ address }) => allows(address))) return addresses
    hasRefused = true
    throw new SourceError('unreachable', `${host}: its address is not allowed by PROBE_ALLOW`)
  }
  return {
    // A source may connect without connect(), so it must never receive a forbidden address.
    lookup: async (host) => check(await network.lookup(host), host),
    resolveSrv: (name) => network.resolveSrv(name),
    doubt: (name) => network.doubt(name),
    connect: async (addresses, ...others) => network.connect(check(addresses, 'the target'), ...others),
    hasRefused: () => hasRefused,
  }
}

/** Passes each step to `note`. */
export function traceNetwork(network: Network, note: (step: string) => void): Network {
  const traced = async <T>(step: string, result: Promise<T>, show: (value: T) => string): Promise<T> => {
    note(step)
    try {
      const value = await result
      note(`${step}: ${show(value)}`)
      return value
    } catch (error) {
      note(`${step}: ${(error as NodeJS.ErrnoException).code ?? 'failed'}`)
      throw error
    }
  }
  return {
    lookup: (host) =>
      traced(`look up ${host}`, network.lookup(host), (found) => found.map(({ address }) => address).join(', ') || 'no address'),
    resolveSrv: (name) =>
      traced(`look up SRV ${name}`, network.resolveSrv(name), (found) =>
        found.map((record) => `${record.name}:${record.port}`).join(', '),
      ),
    doubt: (name) => network.doubt(name),
    async connect(addresses, port, ...others) {
      const places = addresses.map(({ address }) => formatHostPort({ host: address, port }))
      const socket = await traced(`connect to ${places.join(' or ')}`, network.connect(addresses, port, ...others), (connected) =>
        formatHostPort({ host: connected.remoteAddress ?? '?', port }),
      )
      return socket.once('close', () => note('connection closed'))
    },
  }
}
