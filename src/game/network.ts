import { promises as dns, type LookupAddress } from 'node:dns'
import net from 'node:net'
import { abortable } from '../abortable.ts'
import { systemClock } from '../clock.ts'
import { createNameLookup } from './names/name-lookup.ts'
import type { SrvRecord } from './protocol/srv.ts'

/** What a source needs of the network. Injected, so that tests of names that fail or take their time need no internet. */
export interface Network {
  /** The addresses of a name, best first. */
  lookup(host: string): Promise<readonly LookupAddress[]>
  /** The SRV records of a name such as `_minecraft._tcp.example.org`; rejects where there are none. */
  resolveSrv(name: string): Promise<readonly SrvRecord[]>
  /** A TCP connection under way to whichever of the addresses answers first. */
  connect(addresses: readonly LookupAddress[], port: number): net.Socket
}

const srvResolver = () => new dns.Resolver({ timeout: 1_000, tries: 2 })

export const systemNetwork: Network = {
  lookup: createNameLookup({ resolve: (host) => dns.lookup(host, { all: true }), clock: systemClock }),
  resolveSrv: (name) => srvResolver().resolveSrv(name),
  connect(addresses, port) {
    const [first] = addresses
    if (first !== undefined && addresses.length === 1) return net.connect({ host: first.address, port })
    return net.connect({
      host: 'name',
      port,
      autoSelectFamily: true,
      lookup: (_name, _options, done) => done(null, [...addresses]),
    })
  },
}

/**
 * Where a host is: an address is its own, a name is looked up.
 * @throws the network's error for a name without addresses, or the signal's reason
 */
export async function addressesOf(host: string, network: Network, signal: AbortSignal): Promise<readonly LookupAddress[]> {
  const family = net.isIP(host)
  return family > 0 ? [{ address: host, family }] : await abortable(network.lookup(host), signal)
}
