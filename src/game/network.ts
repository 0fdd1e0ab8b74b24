import { promises as dns, type LookupAddress } from 'node:dns'
import net from 'node:net'
import { type AbortSignalLike, abortable } from '../util/abortable.ts'
import { type Clock, systemClock } from '../util/clock.ts'
import { createLimiter } from '../util/limiter.ts'
import { connected, createDeferredConnection, type OpenedConnection } from './deferred-connection.ts'
import { SourceError } from './errors.ts'
import { createNameCache } from './names/name-cache.ts'
import { raceAddresses } from './names/race-addresses.ts'
import { createSystemResolver, type Resolver } from './names/system-resolver.ts'
import type { SrvRecord } from './protocol/srv.ts'

/** The network access of the sources. Injected, so that tests of failing or slow name resolution need no internet. */
export interface Network {
  /** Resolves a name to its addresses, best first. */
  lookup(host: string): Promise<readonly LookupAddress[]>
  /** Resolves the SRV records of a name such as `_minecraft._tcp.example.org`; rejects if there are none. */
  resolveSrv(name: string): Promise<readonly SrvRecord[]>
  /** Returns a TCP socket that connects to the first of the addresses that accepts (Happy Eyeballs). */
  connect(addresses: readonly LookupAddress[], port: number, options?: ConnectOptions): net.Socket
  /** True if it cannot carry UDP. */
  readonly tcpOnly?: true
}

export interface ConnectOptions {
  /**
   * The caller reads the socket only by `data` events and uses each chunk only during its event, so that all such sockets may read
   * into one buffer.
   */
  readonly usesChunksAtOnce?: true
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
  return {
    lookup: createNameCache({ ...shared, resolve: resolver.addresses }),
    resolveSrv: createNameCache({ ...shared, resolve: resolver.srv }),
    connect,
    close: () => resolver.close(),
  }
}

/** The system network, without a cache. */
export const systemNetwork: Network = {
  lookup: (host) => dns.lookup(host, { all: true }),
  resolveSrv: (name) => new dns.Resolver({ timeout: 1_000, tries: 2 }).resolveSrv(name),
  connect,
}

/** Maximum number of addresses to which one connection is tried. */
const maxAddresses = 16
/** As many bytes as a socket reads at once without `onread`. */
const sharedBuffer = Buffer.allocUnsafeSlow(65_536)

function connect(addresses: readonly LookupAddress[], port: number, options?: ConnectOptions): net.Socket {
  const [first] = addresses
  if (first === undefined || addresses.length > 1)
    return createDeferredConnection((signal) => connectToAny(addresses, port, signal))
  // Otherwise every read of every poll allocates 64 KiB (`npm run bench -- fleet`).
  const onread = options?.usesChunksAtOnce && {
    buffer: sharedBuffer,
    callback(length: number) {
      socket.emit('data', sharedBuffer.subarray(0, length))
      return true
    },
  }
  const socket = net.connect({ host: first.address, port, onread })
  return socket
}

/**
 * Connects to the first address that accepts. Not by `autoSelectFamily` of Node.js, which gives up every attempt but the last one after
 * 250 ms: a server that takes longer would not be reached if the last address is one to which this machine has no route.
 */
async function connectToAny(addresses: readonly LookupAddress[], port: number, signal: AbortSignal): Promise<OpenedConnection> {
  if (addresses.length === 0) throw new SourceError('dns', 'the host name has no addresses')
  const attempt = ({ address }: LookupAddress, own: AbortSignalLike) => connected(net.connect({ host: address, port }), own)
  const { reply: socket } = await raceAddresses(alternating(addresses).slice(0, maxAddresses), attempt, signal, systemClock)
  return { socket, remoteAddress: socket.remoteAddress }
}

/** Alternates between both families, the first one first: the route of one of them may be broken. */
function alternating(addresses: readonly LookupAddress[]): readonly LookupAddress[] {
  const isFirstFamily = ({ family }: LookupAddress) => family === addresses[0]?.family
  const [some, others] = [addresses.filter(isFirstFamily), addresses.filter((one) => !isFirstFamily(one))]
  return [...some.flatMap((one, index) => [one, ...others.slice(index, index + 1)]), ...others.slice(some.length)]
}

/**
 * Resolves a host to its addresses. An IP address is returned as it is.
 * @throws the error of the lookup, or the reason of the signal
 */
export function addressesOf(host: string, network: Network, signal: AbortSignalLike): Promise<readonly LookupAddress[]> {
  const family = net.isIP(host)
  return family > 0 ? Promise.resolve([{ address: host, family }]) : abortable(network.lookup(host), signal)
}
