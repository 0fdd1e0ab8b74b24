import { isIP } from 'node:net'
import { abortable } from '../../../abortable.ts'
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
import { createReplyReader } from './reply-reader.ts'
import { speaksTls } from './speaks-tls.ts'

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

/**
 * Reads the status of a Java server, which is located by SRV records. Falls back to the legacy ping for old servers.
 * @param hostname the host name in the handshake; default: the host of the address
 * @returns a function that throws SourceError
 */
export function createJavaReader(
  address: HostPort,
  { clock, random, isProbe }: Pick<SourceContext, 'clock' | 'random' | 'isProbe'>,
  network: Network,
  phases: PhaseTimer | undefined,
  hostname?: string,
): (signal: AbortSignal) => Promise<Partial<Fields>> {
  const hasSrv = isIP(address.host) === 0 && address.port === defaultPorts.java && address.host !== 'localhost'
  const srvName = hasSrv ? `_minecraft._tcp.${address.host}` : undefined
  const readReply = createReplyReader(isProbe)
  const own = [address]
  let hello = { ...address, bytes: encodeHello(hostname ?? address.host, address.port) }
  let missedPongs = 0
  let pingAgainAt = Number.NEGATIVE_INFINITY
  let legacyUntil = Number.NEGATIVE_INFINITY
  let isTls = false
  let tlsCheckedUntil = Number.NEGATIVE_INFINITY

  /** Returns the addresses to try, best first. */
  async function endpoints(signal: AbortSignal): Promise<readonly HostPort[]> {
    if (srvName === undefined) return own
    const targets = orderSrv(await abortable(findSrvRecords(srvName, network, clock), signal), random).slice(0, maxTargets)
    return targets.length > 0 ? targets.map(({ name, port }) => ({ host: name, port })) : own
  }

  function helloTo(host: string, port: number): Buffer {
    if (host !== hello.host || port !== hello.port) hello = { host, port, bytes: encodeHello(hostname ?? host, port) }
    return hello.bytes
  }

  async function readFrom({ host, port }: HostPort, signal: AbortSignal): Promise<Partial<Fields>> {
    const addresses = await addressesOf(host, network, signal)
    phases?.end('resolve')
    const target = formatHostPort({ host, port })

    async function readLegacy(signal: AbortSignal): Promise<Partial<Fields>> {
      phases?.start()
      const fields = await readLegacyStatus(() => network.connect(addresses, port), { target, signal, now: clock.now, phases })
      phases?.end('read')
      return { ...fields, port }
    }

    async function readModern(signal: AbortSignal, phases?: PhaseTimer): Promise<Partial<Fields>> {
      const wantsPong = clock.now() >= pingAgainAt
      const reply = await pingJava({
        socket: network.connect(addresses, port, { usesChunksAtOnce: true }),
        hello: helloTo(host, port),
        decode: readReply,
        target,
        clock,
        phases,
        signal,
        ping: wantsPong,
      })
      phases?.end('read')
      if (wantsPong) missedPongs = reply.hasPong ? 0 : missedPongs + 1
      if (missedPongs >= maxMissedPongs) {
        missedPongs = 0
        pingAgainAt = clock.now() + rememberMs
      }
      // Not by a spread: V8 gives each object that begins with one a hidden class of its own, which takes 500 bytes.
      const own = { port, latency: reply.latency / 1_000 }
      return Object.assign({}, reply.reply, reply.address === undefined ? own : { ip: reply.address, ...own })
    }

    /**
     * Called after a modern request failed. Sends both requests, since a server that has just started may answer either, and some
     * proxies close the modern connection and never answer the legacy one.
     */
    async function readBoth(refused: LegacyPeerError): Promise<Partial<Fields>> {
      const own = new AbortController()
      const follow = () => own.abort(signal.reason)
      signal.addEventListener('abort', follow, { once: true })
      let cancel = () => {}
      const legacy = readLegacy(own.signal).then(({ protocol, ...fields }) => {
        // A modern server, which closed the connection once, for example because it has just started.
        if (protocol === modernInLegacy) return fields
        legacyUntil = clock.now() + rememberMs
        return { ...fields, ...(protocol !== undefined && { protocol }) }
      })
      const modern = readModern(own.signal).catch(async (error: unknown) => {
        // Loading the library may take longer than the server.
        await loadLegacyLibrary()
        if (!own.signal.aborted) cancel = clock.after(legacyGraceMs, () => own.abort(refused))
        throw error
      })
      try {
        return await Promise.any([legacy, modern])
      } catch {
        // If both fail, the first error is reported.
        throw signal.aborted ? withProgress(toSourceError(signal.reason, target), 'connected') : refused
      } finally {
        cancel()
        signal.removeEventListener('abort', follow)
        own.abort(refused)
      }
    }

    async function isTlsServer(): Promise<boolean> {
      if (clock.now() >= tlsCheckedUntil) {
        isTls = await speaksTls(network.connect(addresses, port), clock, signal)
        if (!signal.aborted) tlsCheckedUntil = clock.now() + rememberMs
      }
      return isTls
    }

    if (clock.now() < legacyUntil) return await readLegacy(signal)
    try {
      return await readModern(signal, phases)
    } catch (error) {
      if (!(error instanceof LegacyPeerError)) throw error
      try {
        return await readBoth(error)
      } catch (failure) {
        if (failure !== error || error.code !== 'closed' || !(await isTlsServer())) throw failure
        throw new SourceError('malformed', `${target}: this looks like a TLS server; set the port that players use`)
      }
    }
  }

  return async (signal) => {
    let failure: SourceError | undefined
    phases?.start()
    for (const endpoint of await endpoints(signal)) {
      try {
        return await readFrom(endpoint, signal)
      } catch (error) {
        legacyUntil = Number.NEGATIVE_INFINITY
        phases?.start()
        failure = toSourceError(error, formatHostPort(endpoint))
        // The next target is only tried if this one cannot be reached.
        if (!['refused', 'unreachable', 'dns'].includes(failure.code)) break
      }
    }
    throw failure ?? new SourceError('internal', `${formatHostPort(address)}: no address to connect to`)
  }
}
