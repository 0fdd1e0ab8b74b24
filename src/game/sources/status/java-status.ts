import type { LookupAddress } from 'node:dns'
import { isIP } from 'node:net'
import { type AbortSignalLike, withOwnSignal } from '../../../util/abortable.ts'
import { defaultPorts, formatHostPort, type HostPort } from '../../../util/address.ts'
import { type Clock, toSeconds } from '../../../util/clock.ts'
import { SourceError, type SourceErrorCode, toSourceError, withProgress } from '../../errors.ts'
import type { Fields } from '../../fields.ts'
import { findServers } from '../../names/find-servers.ts'
import { addressesOf, type Network } from '../../network.ts'
import type { PhaseTimer } from '../../phases.ts'
import type { StatusReply } from '../../protocol/status/status-reply.ts'
import type { SourceContext } from '../source.ts'
import { anyProtocol, encodeHello, type JavaPing, LegacyPeerError, pingJava } from './java-ping.ts'
import { isModern, loadLegacyLibrary, readLegacyStatus, wantsWhole } from './legacy-status.ts'
import { Peculiarities, rememberMs } from './peculiarities.ts'
import { ReplyReader } from './reply-reader.ts'

type Addresses = readonly LookupAddress[]

/** The protocol that the game sends since 1.7 in a legacy reply, which matches no old client. Proxies send their own. */
const modernInLegacy = 127
/**
 * The protocol of 1.8, which every proxy knows. Some, such as those made with Quarry, close the connection if they do not know the
 * protocol of the client.
 */
const knownProtocol = 47
/**
 * Milliseconds to wait for a legacy reply after the server has closed the second modern connection: enough for a slow line that
 * loses a packet.
 */
const legacyGraceMs = 1_000

/** Only after these errors the next target is tried. */
const unreachable: readonly SourceErrorCode[] = ['refused', 'unreachable', 'dns']

/** The server was reached and does not send what was expected. */
const replied: readonly SourceErrorCode[] = ['closed', 'malformed', 'too_large']

/**
 * Reads the status of a Java server, which is located by SRV records. Falls back to the legacy ping for old servers.
 * @param hostname the host name in the handshake; default: the host of the address
 */
export class JavaReader {
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
    { clock, random, isProbe, measure }: Pick<SourceContext, 'clock' | 'random' | 'isProbe' | 'measure'>,
    network: Network,
    phases: PhaseTimer | undefined,
    hostname?: string,
  ) {
    const hasSrv = isIP(address.host) === 0 && address.port === defaultPorts.java && address.host !== 'localhost'
    this.#address = address
    this.#clock = clock
    this.#random = random
    this.#network = network
    this.#phases = phases
    this.#hostname = hostname
    this.#srvName = hasSrv ? `_minecraft._tcp.${address.host}` : undefined
    this.#replies = new ReplyReader(isProbe, measure)
    this.#helloServer = address
    this.#hello = encodeHello(hostname ?? address.host, address.port)
  }

  /** @throws SourceError */
  read(signal: AbortSignalLike): Promise<Partial<Fields>> {
    this.#phases?.start()
    return this.#srvName === undefined ? this.#readFrom(this.#address, signal) : this.#readLocated(this.#srvName, signal)
  }

  /** Reads the first of the servers in the SRV records that can be reached. */
  async #readLocated(srvName: string, signal: AbortSignalLike): Promise<Partial<Fields>> {
    const options = { network: this.#network, clock: this.#clock, random: this.#random, signal }
    const found = await findServers(srvName, options)
    let failure: SourceError | undefined
    for (const server of found.length > 0 ? found : [this.#address]) {
      try {
        return await this.#readFrom(server, signal)
      } catch (error) {
        failure = toSourceError(error, formatHostPort(server))
        if (!unreachable.includes(failure.code)) break
      }
    }
    this.#network.doubt(srvName)
    throw failure ?? new SourceError('internal', `${formatHostPort(this.#address)}: no address to connect to`)
  }

  /** Short, because the state of an async function takes memory for each of its variables. */
  async #readFrom(server: HostPort, signal: AbortSignalLike): Promise<Partial<Fields>> {
    let addresses: Addresses = []
    this.#located(server)
    try {
      addresses = await addressesOf(server.host, this.#network, signal)
      this.#phases?.end('resolve')
      if (this.#isLegacy()) {
        this.#phases?.start()
        const isWhole = this.#peculiarities?.isSentWhole === true
        const fields = await this.#readLegacy(server, addresses, signal, isWhole).catch((error: unknown) => {
          if (!replied.includes(toSourceError(error, '').code)) throw error
        })
        if (fields !== undefined && !isModern(fields)) return fields
        // The server was updated, or replaced by one that has no legacy reply.
        this.#addPeculiarities().legacyUntil = Number.NEGATIVE_INFINITY
        this.#phases?.start()
      }
      const protocol = this.#protocol()
      return this.#toFields(server, await this.#ping(server, addresses, signal, this.#phases, protocol), protocol)
    } catch (error) {
      if (error instanceof LegacyPeerError) return await this.#readRefused(server, addresses, signal, error)
      throw this.#failed(server, error)
    }
  }

  #isLegacy(): boolean {
    return this.#peculiarities !== undefined && this.#clock.now() < this.#peculiarities.legacyUntil
  }

  /** Returns the protocol number that the server has answered before. */
  #protocol(): number {
    const isKnown = this.#peculiarities !== undefined && this.#clock.now() < this.#peculiarities.knownProtocolUntil
    return isKnown ? knownProtocol : anyProtocol
  }

  #failed(server: HostPort, error: unknown): SourceError {
    if (this.#peculiarities !== undefined) {
      this.#peculiarities.legacyUntil = Number.NEGATIVE_INFINITY
      this.#peculiarities.knownProtocolUntil = Number.NEGATIVE_INFINITY
    }
    this.#phases?.start()
    return toSourceError(error, formatHostPort(server))
  }

  #ping(
    server: HostPort,
    addresses: Addresses,
    signal: AbortSignalLike,
    phases: PhaseTimer | undefined,
    protocol: number,
  ): Promise<JavaPing<StatusReply>> {
    const { host, port } = server
    return pingJava({
      network: this.#network,
      addresses,
      hello: protocol === anyProtocol ? this.#hello : encodeHello(this.#hostname ?? host, port, protocol),
      decoder: this.#replies,
      server,
      clock: this.#clock,
      phases,
      signal,
      ping: this.#peculiarities === undefined || this.#clock.now() >= this.#peculiarities.pingAgainAt,
    })
  }

  #toFields({ port }: HostPort, { reply, address, latency, hasPong }: JavaPing<StatusReply>, protocol: number): Partial<Fields> {
    if (hasPong === false) this.#addPeculiarities().pongMissed(this.#clock.now())
    else if (hasPong) this.#peculiarities?.pongReceived()
    const own = { port, latency: toSeconds(latency) }
    const fields = Object.assign({}, reply, address === undefined ? own : { ip: address, ...own })
    // Such proxies return the protocol of the client as their own.
    return protocol === knownProtocol && reply.protocol === protocol ? withoutVersion(fields) : fields
  }

  async #readLegacy(server: HostPort, addresses: Addresses, signal: AbortSignalLike, isWhole: boolean): Promise<Partial<Fields>> {
    const phases = this.#phases
    const now = () => this.#clock.now()
    const hostname = isWhole ? (this.#hostname ?? server.host) : undefined
    const fields = await readLegacyStatus({ network: this.#network, addresses, server, hostname, signal, now, phases })
    phases?.end('read')
    if (!isModern(fields)) this.#addPeculiarities().isSentWhole = wantsWhole(fields)
    return fields
  }

  /** Called after a modern request failed with `error`: the server may be a legacy one, or one that speaks TLS. */
  async #readRefused(
    server: HostPort,
    addresses: Addresses,
    signal: AbortSignalLike,
    error: LegacyPeerError,
  ): Promise<Partial<Fields>> {
    try {
      return await this.#readAny(server, addresses, signal, error)
    } catch (failure) {
      const isTls = failure === error && error.code === 'closed' && (await this.#isTlsServer(server, addresses, signal))
      const what = `${formatHostPort(server)}: this looks like a TLS server; set the port that players use`
      throw this.#failed(server, isTls ? new SourceError('malformed', what) : failure)
    }
  }

  /**
   * Sends all requests, since a server that has just started may answer each of them, and some proxies close the modern connection and
   * never answer the legacy one. The modern request has the other protocol number. Of the legacy ones, each server answers one at once.
   */
  async #readAny(
    server: HostPort,
    addresses: Addresses,
    signal: AbortSignalLike,
    refused: LegacyPeerError,
  ): Promise<Partial<Fields>> {
    const other = this.#protocol() === anyProtocol ? knownProtocol : anyProtocol
    let cancel = () => {}
    const legacy = async (own: AbortSignal, isWhole: boolean) => {
      const fields = await this.#readLegacy(server, addresses, own, isWhole)
      // A modern server may close a connection, for example because it has just started.
      if (!isModern(fields)) this.#addPeculiarities().legacyUntil = this.#clock.now() + rememberMs
      const { protocol, ...others } = fields
      return protocol === modernInLegacy ? others : fields
    }
    const modern = async (own: AbortController) => {
      try {
        const reply = await this.#ping(server, addresses, own.signal, undefined, other)
        this.#addPeculiarities().knownProtocolUntil =
          other === knownProtocol ? this.#clock.now() + rememberMs : Number.NEGATIVE_INFINITY
        return this.#toFields(server, reply, other)
      } catch (error) {
        // Loading the library may take longer than the server.
        await loadLegacyLibrary()
        if (!own.signal.aborted) cancel = this.#clock.after(legacyGraceMs, () => own.abort(refused))
        throw error
      }
    }
    this.#phases?.start()
    try {
      return await withOwnSignal(signal, (own) => Promise.any([legacy(own.signal, false), legacy(own.signal, true), modern(own)]))
    } catch {
      // If all fail, the first error is reported.
      throw signal.aborted ? withProgress(toSourceError(signal.reason, formatHostPort(server)), 'connected') : refused
    } finally {
      cancel()
    }
  }

  async #isTlsServer({ port }: HostPort, addresses: Addresses, signal: AbortSignalLike): Promise<boolean> {
    const server = this.#addPeculiarities()
    if (this.#clock.now() >= server.tlsCheckedUntil) {
      // Loads TLS, which few servers need.
      const { speaksTls } = await import('./speaks-tls.ts')
      const socket = await this.#network.connect(addresses, port, signal).catch(() => undefined)
      server.isTls = socket !== undefined && (await speaksTls(socket, this.#clock, signal))
      if (!signal.aborted) server.tlsCheckedUntil = this.#clock.now() + rememberMs
    }
    return server.isTls
  }

  #addPeculiarities(): Peculiarities {
    this.#peculiarities ??= new Peculiarities()
    return this.#peculiarities
  }

  /** Forgets how the previous server differs from most others, if SRV records name another one. */
  #located(server: HostPort): void {
    const { host, port } = server
    if (host === this.#helloServer.host && port === this.#helloServer.port) return
    this.#helloServer = server
    this.#hello = encodeHello(this.#hostname ?? host, port)
    this.#peculiarities = undefined
  }
}

const withoutVersion = ({ version: _version, protocol: _protocol, ...fields }: Partial<Fields>): Partial<Fields> => fields
