import { isIP } from 'node:net'
import { abortable } from '../../../abortable.ts'
import { SourceError, toSourceError } from '../../errors.ts'
import type { Fields } from '../../fields.ts'
import { findSrvRecords } from '../../names/srv-records.ts'
import { addressesOf, type Network } from '../../network.ts'
import type { PhaseTimer } from '../../phases.ts'
import { defaultPorts, formatHostPort, type HostPort } from '../../protocol/address.ts'
import { orderSrv } from '../../protocol/srv.ts'
import type { SourceContext } from '../source.ts'
import { encodeHello, LegacyPeerError, pingJava } from './java-ping.ts'
import { readLegacyStatus } from './legacy-status.ts'
import { createReplyReader } from './reply-reader.ts'

/** More SRV targets than these are not tried in one poll. */
const maxTargets = 4
/** A server that sends no pong is not asked for one again for this many ms, and a legacy one not for a modern status. */
const rememberFor = 600_000
/** What servers from 1.7 on name as their protocol in a legacy reply, so that no old client fits. */
const modernInLegacy = 127

/**
 * The status of a Java server, found through SRV records; in the legacy way where the server speaks no other.
 * @throws SourceError from the function returned
 */
export function createJavaReader(
  address: HostPort,
  { clock, random, replyReaders }: Pick<SourceContext, 'clock' | 'random' | 'replyReaders'>,
  network: Network,
  phases: PhaseTimer | undefined,
): (signal: AbortSignal) => Promise<Partial<Fields>> {
  const hasSrv = isIP(address.host) === 0 && address.port === defaultPorts.java && address.host !== 'localhost'
  const srvName = hasSrv ? `_minecraft._tcp.${address.host}` : undefined
  const replies = replyReaders?.(formatHostPort(address)) ?? createReplyReader()
  const own = [address]
  let hello = { ...address, bytes: encodeHello(address.host, address.port) }
  let pingAgainAt = Number.NEGATIVE_INFINITY
  let legacyUntil = Number.NEGATIVE_INFINITY

  /** Where the server may be, best first. */
  async function endpoints(signal: AbortSignal): Promise<readonly HostPort[]> {
    if (srvName === undefined) return own
    const targets = orderSrv(await abortable(findSrvRecords(srvName, network, clock), signal), random).slice(0, maxTargets)
    return targets.length > 0 ? targets.map(({ name, port }) => ({ host: name, port })) : own
  }

  function helloTo(host: string, port: number): Buffer {
    if (host !== hello.host || port !== hello.port) hello = { host, port, bytes: encodeHello(host, port) }
    return hello.bytes
  }

  async function ask({ host, port }: HostPort, signal: AbortSignal): Promise<Partial<Fields>> {
    const addresses = await addressesOf(host, network, signal)
    phases?.end('resolve')
    const target = formatHostPort({ host, port })
    const askLegacy = async () => {
      phases?.start()
      const fields = await readLegacyStatus(network.connect(addresses, port), { target, signal, now: clock.now, phases })
      phases?.end('read')
      return { ...fields, port }
    }
    if (clock.now() < legacyUntil) return await askLegacy()
    const wantsPong = clock.now() >= pingAgainAt
    try {
      const socket = network.connect(addresses, port)
      const reply = await pingJava({
        socket,
        hello: helloTo(host, port),
        decode: replies.decode,
        target,
        clock,
        phases,
        signal,
        ping: wantsPong,
      })
      phases?.end('read')
      if (wantsPong && !reply.ponged) pingAgainAt = clock.now() + rememberFor
      return {
        ...replies.read(reply.json, target),
        ...(reply.address !== undefined && { ip: reply.address }),
        port,
        latency: reply.latency / 1_000,
      }
    } catch (error) {
      if (!(error instanceof LegacyPeerError)) throw error
      // A server that is neither failed in the modern way first.
      const { protocol, ...fields } = await askLegacy().catch(() => Promise.reject(signal.aborted ? signal.reason : error))
      // One that speaks the modern way too: it hung up on us once, as a server that has just started may.
      if (protocol === modernInLegacy) return fields
      legacyUntil = clock.now() + rememberFor
      return { ...fields, ...(protocol !== undefined && { protocol }) }
    }
  }

  return async (signal) => {
    let failure: SourceError | undefined
    phases?.start()
    for (const endpoint of await endpoints(signal)) {
      try {
        return await ask(endpoint, signal)
      } catch (error) {
        legacyUntil = Number.NEGATIVE_INFINITY
        phases?.start()
        failure = toSourceError(error, formatHostPort(endpoint))
        // Another target is only for one that cannot be reached.
        if (!['refused', 'unreachable', 'dns'].includes(failure.code)) break
      }
    }
    throw failure ?? new SourceError('internal', `${formatHostPort(address)}: nothing to ask`)
  }
}
