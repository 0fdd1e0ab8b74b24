import { SourceError } from '../../src/game/errors.ts'
import type { Network } from '../../src/game/network.ts'
import { formatHostPort } from '../../src/game/protocol/address.ts'

export interface GuardedNetwork extends Network {
  /** Whether an address was refused. */
  readonly hasRefused: () => boolean
}

/**
 * Resolves to and connects to only those addresses that `allows` accepts. The check is on the very addresses that are connected to,
 * after every lookup, whether they come from the name, an SRV target or the target itself: a name whose address changes has no way
 * around it. The error does not hold the address, which may be one of an internal network.
 */
export function guardNetwork(network: Network, allows: (address: string) => boolean): GuardedNetwork {
  let hasRefused = false
  function check<T extends readonly { readonly address: string }[]>(addresses: T, host: string): T {
    if (addresses.every(({ address }) => allows(address))) return addresses
    hasRefused = true
    throw new SourceError('unreachable', `${host}: its address is not allowed by PROBE_ALLOW`)
  }
  return {
    // A source may connect by other means than connect(): it gets no address that it must not use.
    lookup: async (host) => check(await network.lookup(host), host),
    resolveSrv: (name) => network.resolveSrv(name),
    connect: (addresses, port) => network.connect(check(addresses, 'the target'), port),
    hasRefused: () => hasRefused,
  }
}

/** Notes each step. */
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
    connect(addresses, port) {
      note(`connect to ${addresses.map(({ address }) => formatHostPort({ host: address, port })).join(' or ')}`)
      const socket = network.connect(addresses, port)
      return socket
        .once('connect', () => note(`connected to ${formatHostPort({ host: socket.remoteAddress ?? '?', port })}`))
        .once('close', () => note('connection closed'))
    },
  }
}
