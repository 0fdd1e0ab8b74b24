import { isIP } from 'node:net'
import { SourceError, toSourceError } from '../errors.ts'
import { abortable, type Network, systemNetwork } from '../network.ts'
import { defaultPorts, formatHostPort, type HostPort, type ServerAddress } from '../protocol/address.ts'
import { ProtocolError } from '../protocol/error.ts'
import { orderSrv } from '../protocol/srv.ts'
import { parseStatusReply, type StatusReply } from '../protocol/status-reply.ts'
import { pingJava } from './java-ping.ts'
import { createPolls } from './polls.ts'
import type { Reading, Source, SourceContext } from './source.ts'
import { createSrvCache } from './srv-cache.ts'

/** More SRV targets than these are not tried in one poll. */
const maxTargets = 4
/** A server that sends no pong is not asked for one again for this many ms. */
const noPongFor = 600_000

/** The Server List Ping: what a server tells everybody who asks. */
export function createStatusSource(address: ServerAddress, context: SourceContext, network: Network = systemNetwork): Source {
  const { clock, random } = context
  const target = formatHostPort(address)
  const isName = isIP(address.host) === 0
  const hasSrv = isName && address.port === defaultPorts.java && address.host !== 'localhost'
  const srv = hasSrv ? createSrvCache(`_minecraft._tcp.${address.host}`, network, clock) : undefined
  const polls = createPolls(target)
  const keepFavicon = createFaviconKeeper()
  let pingAgainAt = Number.NEGATIVE_INFINITY

  /** Where the server may be, best first. */
  async function endpoints(signal: AbortSignal): Promise<readonly HostPort[]> {
    const records = srv ? await abortable(srv.records(), signal) : []
    const targets = orderSrv(records, random).slice(0, maxTargets)
    return targets.length > 0 ? targets.map(({ name, port }) => ({ host: name, port })) : [address]
  }

  async function ask({ host, port }: HostPort, signal: AbortSignal): Promise<Reading> {
    const family = isIP(host)
    const addresses = family > 0 ? [{ address: host, family }] : await abortable(network.lookup(host), signal)
    const asksPong = clock.now() >= pingAgainAt
    const name = formatHostPort({ host, port })
    const reply = await pingJava({
      socket: network.connect(addresses, port),
      host,
      port,
      target: name,
      clock,
      signal,
      ping: asksPong,
    })
    if (asksPong && !reply.ponged) pingAgainAt = clock.now() + noPongFor
    return {
      source: 'status',
      at: clock.now(),
      fields: {
        ...keepFavicon(parse(reply.json, name)),
        ...(reply.address !== undefined && { ip: reply.address }),
        port,
        latency: reply.latency / 1_000,
      },
    }
  }

  async function poll(signal: AbortSignal): Promise<Reading> {
    let failure: SourceError | undefined
    for (const endpoint of await endpoints(signal)) {
      try {
        return await ask(endpoint, signal)
      } catch (error) {
        failure = toSourceError(error, formatHostPort(endpoint))
        // Another target is only for one that cannot be reached.
        if (!['refused', 'unreachable', 'dns'].includes(failure.code)) break
      }
    }
    throw failure ?? new SourceError('internal', `${target}: nothing to ask`)
  }

  return {
    name: 'status',
    target,
    poll: (signal) => polls.run(signal, poll),
    close: polls.close,
  }
}

function parse(json: string, target: string): StatusReply {
  try {
    return parseStatusReply(json)
  } catch (error) {
    throw error instanceof ProtocolError ? new SourceError(error.code, `${target}: ${error.message}`) : error
  }
}

/** Hands out the same Buffer as long as the icon is the same, so that what is made from it can be kept. */
function createFaviconKeeper(): (reply: StatusReply) => StatusReply {
  let kept: Buffer | undefined
  return (reply) => {
    if (reply.favicon === undefined || kept === undefined || !kept.equals(reply.favicon)) {
      kept = reply.favicon
      return reply
    }
    return { ...reply, favicon: kept }
  }
}
