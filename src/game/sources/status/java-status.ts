import type { LookupAddress } from 'node:dns'
import { isIP } from 'node:net'
import { abortable } from '../../../abortable.ts'
import type { Clock } from '../../../clock.ts'
import { SourceError, toSourceError, withProgress } from '../../errors.ts'
import type { Fields } from '../../fields.ts'
import { findSrvRecords } from '../../names/srv-records.ts'
import { addressesOf, type Network } from '../../network.ts'
import type { PhaseTimer } from '../../phases.ts'
import { defaultPorts, formatHostPort, type HostPort } from '../../protocol/address.ts'
import { orderSrv } from '../../protocol/srv.ts'
import type { SourceContext } from '../source.ts'
import { encodeHello, LegacyPeerError, pingJava } from './java-ping.ts'
import { loadLegacyLibrary, readLegacyStatus } from './legacy-status.ts'
import { createReplyReader, type ReplyReader } from './reply-reader.ts'
import { speaksTls } from './speaks-tls.ts'

type Addresses = readonly LookupAddress[]

/** Maximum number of SRV targets that are tried in one poll. */
const maxTargets = 4
/** Milliseconds for which it is remembered that a server sends no pong, is a legacy server, or is (not) a TLS server. */
const rememberMs = 600_000
/** Consecutive missing pongs after which no ping is sent: a single one may only be late. */
const maxMissedPongs = 3
/** The protocol that servers since 1.7 send in a legacy reply, which matches no old client. */
const modernInLegacy = 127
/**
 * Milliseconds to wait for a legacy reply after the server has closed the second modern connection: enough for a slow line that
 * loses a packet.
 */
const legacyGraceMs = 1_000

/** Reads the status of one server. */
export interface StatusReader {
  /** @throws SourceError */
  read(signal: AbortSignal): Promise<Partial<Fields>>
}

/**
 * Reads the status of a Java server, which is located by SRV records. Falls back to the legacy ping for old servers.
 * @param hostname the host name in the handshake; default: the host of the address
 */
export const createJavaReader = (
  address: HostPort,
  context: Pick<SourceContext, 'clock' | 'random' | 'isProbe'>,
  network: Network,
  phases: PhaseTimer | undefined,
  hostname?: string,
): StatusReader => new JavaReader(address, context, network, phases, hostname)

const connectOptions = { usesChunksAtOnce: true } as const

/** How a server differs from most others. Times are monotonic milliseconds. */
interface Peculiarities {
  /** Number of consecutive missing pongs. */
  missedPongs: number
  pingAgainAt: number
  legacyUntil: number
  isTls: boolean
  tlsCheckedUntil: number
}

const nothingPeculiar: Readonly<Peculiarities> = {
  missedPongs: 0,
  pingAgainAt: Number.NEGATIVE_INFINITY,
  legacyUntil: Number.NEGATIVE_INFINITY,
  isTls: false,
  tlsCheckedUntil: Number.NEGATIVE_INFINITY,
}

/** A class to save memory, as in `watcher/reachability.ts`. */
class JavaReader implements StatusReader {
  readonly #address: HostPort
  readonly #clock: Clock
  readonly #random: () => number
  readonly #network: Network
  readonly #phases: PhaseTimer | undefined
  readonly #hostname: string | undefined
  readonly #srvName: string | undefined
  readonly #replies: ReplyReader
  #helloServer: HostPort
  #hello: string
  /** Undefined for most servers, to save memory. */
  #peculiarities: Peculiarities | undefined

  constructor(
    address: HostPort,
    { clock, random, isProbe }: Pick<SourceContext, 'clock' | 'random' | 'isProbe'>,
    network: Network,
    phases: PhaseTimer | undefined,
    hostname: string | undefined,
  ) {
    const hasSrv = isIP(address.host) === 0 && address.port === defaultPorts.java && address.host !== 'localhost'
    this.#address = address
    this.#clock = clock
    this.#random = random
    this.#network = network
    this.#phases = phases
    this.#hostname = hostname
    this.#srvName = hasSrv ? `_minecraft._tcp.${address.host}` : undefined
    this.#replies = createReplyReader(isProbe)
    this.#helloServer = address
    this.#hello = encodeHello(hostname ?? address.host, address.port)
  }

  async read(signal: AbortSignal): Promise<Partial<Fields>> {
    let failure: SourceError | undefined
    this.#phases?.start()
    const servers = this.#srvName === undefined ? [this.#address] : await this.#findServers(this.#srvName, signal)
    for (const server of servers) {
      try {
        return await this.#readFrom(server, signal)
      } catch (error) {
        if (this.#peculiarities !== undefined) this.#peculiarities.legacyUntil = Number.NEGATIVE_INFINITY
        this.#phases?.start()
        failure = toSourceError(error, formatHostPort(server))
        // The next target is only tried if this one cannot be reached.
        if (!['refused', 'unreachable', 'dns'].includes(failure.code)) break
      }
    }
    throw failure ?? new SourceError('internal', `${formatHostPort(this.#address)}: no address to connect to`)
  }

  /** Returns the addresses to try, best first. */
  async #findServers(srvName: string, signal: AbortSignal): Promise<readonly HostPort[]> {
    const records = await abortable(findSrvRecords(srvName, this.#network, this.#clock), signal)
    const targets = orderSrv(records, this.#random).slice(0, maxTargets)
    return targets.length > 0 ? targets.map(({ name, port }) => ({ host: name, port })) : [this.#address]
  }

  async #readFrom(server: HostPort, signal: AbortSignal): Promise<Partial<Fields>> {
    const addresses = await addressesOf(server.host, this.#network, signal)
    this.#phases?.end('resolve')
    if (this.#peculiarities !== undefined && this.#clock.now() < this.#peculiarities.legacyUntil) {
      return await this.#readLegacy(server, addresses, signal)
    }
    try {
      return await this.#readModern(server, addresses, signal, this.#phases)
    } catch (error) {
      if (!(error instanceof LegacyPeerError)) throw error
      try {
        return await this.#readBoth(server, addresses, signal, error)
      } catch (failure) {
        if (failure !== error || error.code !== 'closed' || !(await this.#isTlsServer(server, addresses, signal))) throw failure
        throw new SourceError(
          'malformed',
          `${formatHostPort(server)}: this looks like a TLS server; set the port that players use`,
        )
      }
    }
  }

  async #readModern(
    server: HostPort,
    addresses: Addresses,
    signal: AbortSignal,
    phases: PhaseTimer | undefined,
  ): Promise<Partial<Fields>> {
    const { port } = server
    const wantsPong = this.#peculiarities === undefined || this.#clock.now() >= this.#peculiarities.pingAgainAt
    const reply = await pingJava({
      socket: this.#network.connect(addresses, port, connectOptions),
      hello: this.#helloTo(server),
      decoder: this.#replies,
      server,
      clock: this.#clock,
      phases,
      signal,
      ping: wantsPong,
    })
    phases?.end('read')
    if (wantsPong) this.#countMissedPongs(reply.hasPong)
    // Not by a spread: V8 gives each object that begins with one a separate hidden class, which takes 500 bytes.
    const own = { port, latency: reply.latency / 1_000 }
    return Object.assign({}, reply.reply, reply.address === undefined ? own : { ip: reply.address, ...own })
  }

  async #readLegacy(server: HostPort, addresses: Addresses, signal: AbortSignal): Promise<Partial<Fields>> {
    const { port } = server
    const phases = this.#phases
    phases?.start()
    const connect = () => this.#network.connect(addresses, port)
    const fields = await readLegacyStatus(connect, {
      target: formatHostPort(server),
      signal,
      now: () => this.#clock.now(),
      phases,
    })
    phases?.end('read')
    return { ...fields, port }
  }

  /**
   * Called after a modern request failed. Sends both requests, since a server that has just started may answer either, and some
   * proxies close the modern connection and never answer the legacy one.
   */
  async #readBoth(
    server: HostPort,
    addresses: Addresses,
    signal: AbortSignal,
    refused: LegacyPeerError,
  ): Promise<Partial<Fields>> {
    const own = new AbortController()
    const follow = () => own.abort(signal.reason)
    signal.addEventListener('abort', follow, { once: true })
    let cancel = () => {}
    const legacy = this.#readLegacy(server, addresses, own.signal).then(({ protocol, ...fields }) => {
      // A modern server, which closed the connection once, for example because it has just started.
      if (protocol === modernInLegacy) return fields
      this.#remember({ legacyUntil: this.#clock.now() + rememberMs })
      return { ...fields, ...(protocol !== undefined && { protocol }) }
    })
    const modern = this.#readModern(server, addresses, own.signal, undefined).catch(async (error: unknown) => {
      // Loading the library may take longer than the server.
      await loadLegacyLibrary()
      if (!own.signal.aborted) cancel = this.#clock.after(legacyGraceMs, () => own.abort(refused))
      throw error
    })
    try {
      return await Promise.any([legacy, modern])
    } catch {
      // If both fail, the first error is reported.
      throw signal.aborted ? withProgress(toSourceError(signal.reason, formatHostPort(server)), 'connected') : refused
    } finally {
      cancel()
      signal.removeEventListener('abort', follow)
      own.abort(refused)
    }
  }

  async #isTlsServer({ port }: HostPort, addresses: Addresses, signal: AbortSignal): Promise<boolean> {
    const { isTls, tlsCheckedUntil } = this.#peculiarities ?? nothingPeculiar
    if (this.#clock.now() < tlsCheckedUntil) return isTls
    const speaks = await speaksTls(this.#network.connect(addresses, port), this.#clock, signal)
    this.#remember(signal.aborted ? { isTls: speaks } : { isTls: speaks, tlsCheckedUntil: this.#clock.now() + rememberMs })
    return speaks
  }

  #countMissedPongs(hasPong: boolean): void {
    const missedPongs = hasPong ? 0 : (this.#peculiarities?.missedPongs ?? 0) + 1
    if (missedPongs >= maxMissedPongs) this.#remember({ missedPongs: 0, pingAgainAt: this.#clock.now() + rememberMs })
    else if (missedPongs > 0 || this.#peculiarities !== undefined) this.#remember({ missedPongs })
  }

  #remember(changes: Partial<Peculiarities>): void {
    this.#peculiarities = { ...(this.#peculiarities ?? nothingPeculiar), ...changes }
  }

  #helloTo(server: HostPort): string {
    const { host, port } = server
    if (host !== this.#helloServer.host || port !== this.#helloServer.port) {
      this.#helloServer = server
      this.#hello = encodeHello(this.#hostname ?? host, port)
    }
    return this.#hello
  }
}
