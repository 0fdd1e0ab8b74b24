import { SourceError } from '../../src/game/errors.ts'
import type { Network } from '../../src/game/network.ts'
import { formatHostPort } from '../../src/game/protocol/address.ts'

export interface GuardedNetwork extends Network {
  /** The first address that was refused. */
  readonly refused: () => string | undefined
}

/**
 * Hands out and connects to only those addresses that `allows` lets through. The check is on the very addresses that are
 * connected to, after every lookup, whether they come from the name, an SRV target or the target itself: a name that resolves
 * anew has no way around it.
 */
export function guardNetwork(network: Network, allows: (address: string) => boolean): GuardedNetwork {
  let refused: string | undefined
  function check<T extends readonly { readonly address: string }[]>(addresses: T): T {
    const bad = addresses.find(({ address }) => !allows(address))
    if (bad === undefined) return addresses
    refused ??= bad.address
    throw new SourceError('unreachable', `${bad.address}: not allowed by probe.allow`)
  }
  return {
    // A source may connect by other means than connect(): it gets no address that it must not use.
    lookup: async (host) => check(await network.lookup(host)),
    resolveSrv: (name) => network.resolveSrv(name),
    connect: (addresses, port) => network.connect(check(addresses), port),
    refused: () => refused,
  }
}

/** Tells of each step. */
export function traceNetwork(network: Network, note: (step: string) => void): Network {
  const told = async <T>(step: string, result: Promise<T>, show: (value: T) => string): Promise<T> => {
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
      told(`look up ${host}`, network.lookup(host), (found) => found.map(({ address }) => address).join(', ') || 'no address'),
    resolveSrv: (name) =>
      told(`look up SRV ${name}`, network.resolveSrv(name), (found) =>
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
