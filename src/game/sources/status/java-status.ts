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

/** More SRV targets than these are not tried in one poll. */
const maxTargets = 4
/** A server that sends no pong is not pinged again for this many ms, a legacy one gets no modern request, and none a TLS handshake. */
const rememberFor = 600_000
/** Pongs in a row that must be missing: a single one may only be late. */
const maxMissedPongs = 3
/** What servers from 1.7 on name as their protocol in a legacy reply, so that no old client fits. */
const modernInLegacy = 127
/**
 * Milliseconds for the legacy reply of a server that has closed the connection of a modern request for the second time: enough for
 * a slow line that loses a packet.
 */
const legacyGraceMs = 1_000

/**
 * The status of a Java server, found through SRV records; in the legacy way where the server speaks no other.
 * @param hostname the name in the handshake; default: the name that is connected to
 * @throws SourceError from the function returned
 */
export function createJavaReader(
  address: HostPort,
  { clock, random }: Pick<SourceContext, 'clock' | 'random'>,
  network: Network,
  phases: PhaseTimer | undefined,
  hostname?: string,
): (signal: AbortSignal) => Promise<Partial<Fields>> {
  const hasSrv = isIP(address.host) === 0 && address.port === defaultPorts.java && address.host !== 'localhost'
  const srvName = hasSrv ? `_minecraft._tcp.${address.host}` : undefined
  const readReply = createReplyReader()
  const own = [address]
  let hello = { ...address, bytes: encodeHello(hostname ?? address.host, address.port) }
  let missedPongs = 0
  let pingAgainAt = Number.NEGATIVE_INFINITY
  let legacyUntil = Number.NEGATIVE_INFINITY
  let isTls = false
  let tlsCheckedUntil = Number.NEGATIVE_INFINITY

  /** Where the server may be, best first. */
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
        socket: network.connect(addresses, port),
        hello: helloTo(host, port),
        decode: readReply,
        target,
        clock,
        phases,
        signal,
        ping: wantsPong,
      })
      phases?.end('read')
      if (wantsPong) missedPongs = reply.ponged ? 0 : missedPongs + 1
      if (missedPongs >= maxMissedPongs) {
        missedPongs = 0
        pingAgainAt = clock.now() + rememberFor
      }
      return {
        ...reply.reply,
        ...(reply.address !== undefined && { ip: reply.address }),
        port,
        latency: reply.latency / 1_000,
      }
    }

    /**
     * After a modern request was refused: a legacy server answers the other one, a server that has just started perhaps both, and
     * some proxies close the modern connection and never answer on the legacy one.
     */
    async function readBoth(refused: LegacyPeerError): Promise<Partial<Fields>> {
      const own = new AbortController()
      const follow = () => own.abort(signal.reason)
      signal.addEventListener('abort', follow, { once: true })
      let cancel = () => {}
      const legacy = readLegacy(own.signal).then(({ protocol, ...fields }) => {
        // One that speaks the modern way too: it closed the connection once, as a server that has just started may.
        if (protocol === modernInLegacy) return fields
        legacyUntil = clock.now() + rememberFor
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
        // A server that is neither failed in the modern way first.
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
        if (!signal.aborted) tlsCheckedUntil = clock.now() + rememberFor
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
        // Another target is only for one that cannot be reached.
        if (!['refused', 'unreachable', 'dns'].includes(failure.code)) break
      }
    }
    throw failure ?? new SourceError('internal', `${formatHostPort(address)}: no address to connect to`)
  }
}
