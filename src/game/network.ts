import { promises as dns, type LookupAddress } from 'node:dns'
import net from 'node:net'
import { type AbortSignalLike, abortable } from '../util/abortable.ts'
import type { Clock } from '../util/clock.ts'
import { createLimiter } from '../util/limiter.ts'
import { connect } from './connect.ts'
import { SourceError } from './errors.ts'
import { createNameCache } from './names/name-cache.ts'
import { createSystemResolver, type Resolver } from './names/system-resolver.ts'
import type { SrvRecord } from './protocol/srv.ts'

/** The network access of the sources. Injected, so that tests of failing or slow name resolution need no internet. */
export interface Network {
  /** Resolves a name to its addresses, best first. */
  lookup(host: string): Promise<readonly LookupAddress[]>
  /** Resolves the SRV records of a name such as `_minecraft._tcp.example.org`; rejects if there are none. */
  resolveSrv(name: string): Promise<readonly SrvRecord[]>
  /** Called if no server was reached by the SRV records of a name, or by UDP at the addresses of a host; `connect` does it itself. */
  doubt(name: string): void
  /** Connects by TCP. */
  readonly connect: typeof connect
  /** True if it connects through a proxy, which cannot carry UDP. */
  readonly tcpOnly?: true
}

export interface CachingNetwork extends Network {
  /** Cancels pending lookups. */
  close(): void
}

export interface NetworkOptions {
  readonly clock: Clock
  /** Number of servers that use it: determines the cache size and the number of concurrent lookups. */
  readonly servers: number | (() => number)
  /** Called with the duration in seconds of each lookup that was not served from the cache. */
  readonly onLookup?: (seconds: number) => void
  /** Default: the resolver of the operating system. */
  readonly resolver?: Resolver
}

/** Names per server: status, RCON, management protocol, query and some SRV targets. */
const namesPerServer = 6
const minNames = 256
const minConcurrent = 16
/** Concurrent lookups for a large fleet; each takes one or two queries on one UDP socket. */
const maxConcurrent = 256

/** The system network with a name cache. The caller closes it. */
export function createNetwork({ clock, servers, onLookup = () => {}, ...options }: NetworkOptions): CachingNetwork {
  const resolver = options.resolver ?? createSystemResolver({ clock })
  const count = () => (typeof servers === 'number' ? servers : servers())
  const limit = createLimiter(() => Math.min(maxConcurrent, Math.max(minConcurrent, Math.ceil(count() / 16))))
  const shared = { clock, limit, onLookup, maxNames: () => Math.max(minNames, count() * namesPerServer) }
  /** The host of each answer of lookup(), for connect(), which is given only the addresses. */
  const hosts = new WeakMap<object, string>()
  const lookup = createNameCache({
    ...shared,
    async resolve(host) {
      const answer = await resolver.addresses(host)
      hosts.set(answer.value, host)
      return answer
    },
  })
  const resolveSrv = createNameCache({ ...shared, resolve: resolver.srv })
  return {
    lookup,
    resolveSrv,
    doubt(name) {
      lookup.doubt(name)
      resolveSrv.doubt(name)
    },
    connect: (addresses, ...others) =>
      connect(addresses, ...others).catch((error: unknown) => {
        const host = hosts.get(addresses)
        if (host !== undefined) lookup.doubt(host)
        throw error
      }),
    close: () => resolver.close(),
  }
}

/** The system network, without a cache. */
export const systemNetwork: Network = {
  lookup: (host) => dns.lookup(host, { all: true }),
  resolveSrv: (name) => new dns.Resolver({ timeout: 1_000, tries: 2 }).resolveSrv(name),
  doubt() {},
  connect,
}

/** The address of the server that a socket is connected to; undefined if a proxy has resolved its name. */
export function addressOfServer(
  socket: net.Socket,
  addresses: readonly LookupAddress[],
  { tcpOnly }: Network,
): string | undefined {
  const [first] = addresses
  // The address of the socket is that of the proxy.
  if (tcpOnly) return first !== undefined && net.isIP(first.address) > 0 ? first.address : undefined
  // Asking the system takes 4 % of a poll (`npm run bench -- fleet`). It writes some IPv6 addresses in another way.
  return first?.family === 4 && addresses.length === 1 ? first.address : socket.remoteAddress
}

/**
 * Resolves a host to its addresses. An IP address is returned as it is.
 * @throws the error of the lookup, or the reason of the signal; SourceError `dns` at a deadline
 */
export function addressesOf(host: string, network: Network, signal: AbortSignalLike): Promise<readonly LookupAddress[]> {
  const family = net.isIP(host)
  if (family > 0) return Promise.resolve([{ address: host, family }])
  return abortable(network.lookup(host), signal).catch((error: unknown) => {
    // The server itself was not asked.
    if (!(error instanceof SourceError && error.code === 'timeout')) throw error
    throw new SourceError('dns', `${host}: no reply from the name server in time`, { cause: error })
  })
}

/**
 * The addresses of a host to which a connection is kept. If they change, the server may have moved: the connection would still be to the
 * old machine, while the other sources already read the new one.
 */
export class HostAddresses {
  readonly network: Network
  readonly #host: string
  #addresses: readonly LookupAddress[] = []

  constructor(host: string, network: Network) {
    this.#host = host
    this.network = network
  }

  /** Resolves the host for a new connection. @throws as `addressesOf` */
  async resolve(signal: AbortSignalLike): Promise<readonly LookupAddress[]> {
    this.#addresses = await addressesOf(this.#host, this.network, signal)
    return this.#addresses
  }

  /** Whether the host has none of the addresses that it had for the connection. Not while its name does not resolve. */
  async haveChanged(signal: AbortSignalLike): Promise<boolean> {
    const found = await addressesOf(this.#host, this.network, signal).catch(() => [])
    return found.length > 0 && !this.#addresses.some(({ address }) => found.some((one) => one.address === address))
  }
}
