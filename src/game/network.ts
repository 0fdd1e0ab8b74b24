import { promises as dns, type LookupAddress } from 'node:dns'
import net from 'node:net'
import { abortable } from '../abortable.ts'
import type { Clock } from '../clock.ts'
import { createLimiter } from './names/limiter.ts'
import { createNameCache } from './names/name-cache.ts'
import { createSystemResolver, type Resolver } from './names/system-resolver.ts'
import type { SrvRecord } from './protocol/srv.ts'

/** What a source needs of the network. Injected, so that tests of names that fail or take their time need no internet. */
export interface Network {
  /** The addresses of a name, best first. */
  lookup(host: string): Promise<readonly LookupAddress[]>
  /** The SRV records of a name such as `_minecraft._tcp.example.org`; rejects where there are none. */
  resolveSrv(name: string): Promise<readonly SrvRecord[]>
  /** A TCP socket that connects to whichever of the addresses answers first. */
  connect(addresses: readonly LookupAddress[], port: number): net.Socket
  /** True: no UDP goes where its connections go. */
  readonly tcpOnly?: true
}

export interface CachingNetwork extends Network {
  /** Cancels pending lookups. */
  close(): void
}

export interface NetworkOptions {
  readonly clock: Clock
  /** Number of servers that are reached through it: sizes the cache and bounds the lookups that run at once. */
  readonly servers: number | (() => number)
  /** Called with the seconds of each lookup that the cache could not serve. */
  readonly onLookup?: (seconds: number) => void
  /** Default: as this machine resolves names. */
  readonly resolver?: Resolver
}

/** Names that a server may have: of its status, RCON, management and query, and some SRV targets. */
const namesPerServer = 6
const minNames = 256
const minConcurrent = 16
/** Lookups at once for a large fleet; each is one or two queries in one UDP socket. */
const maxConcurrent = 256

/** The system's network with a cache of names. The caller closes it. */
export function createNetwork({ clock, servers, onLookup = () => {}, ...options }: NetworkOptions): CachingNetwork {
  const resolver = options.resolver ?? createSystemResolver({ clock })
  const count = () => (typeof servers === 'number' ? servers : servers())
  const limit = createLimiter(() => Math.min(maxConcurrent, Math.max(minConcurrent, Math.ceil(count() / 16))))
  const shared = { clock, limit, onLookup, maxNames: () => Math.max(minNames, count() * namesPerServer) }
  return {
    lookup: createNameCache({ ...shared, resolve: resolver.addresses }),
    resolveSrv: createNameCache({ ...shared, resolve: resolver.srv }),
    connect,
    close: () => resolver.close(),
  }
}

/** The system's network without a cache or any other state. */
export const systemNetwork: Network = {
  lookup: (host) => dns.lookup(host, { all: true }),
  resolveSrv: (name) => new dns.Resolver({ timeout: 1_000, tries: 2 }).resolveSrv(name),
  connect,
}

function connect(addresses: readonly LookupAddress[], port: number): net.Socket {
  const [first] = addresses
  if (first !== undefined && addresses.length === 1) return net.connect({ host: first.address, port })
  return net.connect({
    host: 'name',
    port,
    autoSelectFamily: true,
    lookup: (_name, _options, done) => done(null, [...addresses]),
  })
}

/**
 * The addresses of a host: an address is its own, a name is resolved.
 * @throws the network's error for a name without addresses, or the signal's reason
 */
export async function addressesOf(host: string, network: Network, signal: AbortSignal): Promise<readonly LookupAddress[]> {
  const family = net.isIP(host)
  return family > 0 ? [{ address: host, family }] : await abortable(network.lookup(host), signal)
}
