import { randomInt } from 'node:crypto'
import { createSocket, type Socket } from 'node:dgram'
import type { LookupAddress } from 'node:dns'
import { abortable } from '../../../abortable.ts'
import type { Clock } from '../../../clock.ts'
import { hostPort } from '../../../config/kinds.ts'
import { toSourceError } from '../../errors.ts'
import type { Fields } from '../../fields.ts'
import { createAnyAddress } from '../../names/connect-any-address.ts'
import { systemNetwork } from '../../network.ts'
import { defaultPorts, formatHostPort, type HostPort } from '../../protocol/address.ts'
import { ProtocolError } from '../../protocol/error.ts'
import {
  decodeChallenge,
  decodeFullStat,
  encodeChallenge,
  encodeFullStat,
  type FullStat,
  isReply,
  toSession,
} from '../../protocol/query.ts'
import { isOn, portIn } from '../../protocol/server-properties.ts'
import { stripFormatting } from '../../protocol/text.ts'
import { parseVersionName } from '../../protocol/version-name.ts'
import { networkHints } from '../hints.ts'
import type { Source, SourceContext, SourceDescriptor } from '../source.ts'

/** A datagram may be lost: without a reply it is sent again after this many ms. */
const resendAfter = 500
/** A peer that answers with so many datagrams that are no reply is not worth waiting for. */
const mostStrangers = 200

/**
 * The query protocol (UDP): the full list of names, plugins and map. Each poll asks for a token of its own: the game gives it to
 * one address and port, and a socket that is closed after the poll leaves nothing behind.
 */
export function createQuerySource(address: HostPort, context: SourceContext): Source {
  const { clock, network = systemNetwork } = context
  const { host, port } = address
  const target = formatHostPort(address)
  const anyAddress = createAnyAddress({ host, target, network, clock })

  async function read({ address, family }: LookupAddress, signal: AbortSignal): Promise<FullStat> {
    signal.throwIfAborted()
    const socket = createSocket(family === 6 ? 'udp6' : 'udp4')
    try {
      await connect(socket, address, port, signal)
      const session = toSession(randomInt(2 ** 31))
      const challenge = await exchange(
        socket,
        encodeChallenge(session),
        (datagram) => isReply(datagram, 9, session),
        clock,
        signal,
      )
      const request = encodeFullStat(session, decodeChallenge(challenge))
      return decodeFullStat(await exchange(socket, request, (datagram) => isReply(datagram, 0, session), clock, signal))
    } finally {
      socket.close()
    }
  }

  return {
    name: 'query',
    target,
    async poll(signal) {
      try {
        signal.throwIfAborted()
        const fields = toFields(await anyAddress(read, signal))
        return { source: 'query', at: clock.now(), fields }
      } catch (error) {
        throw signal.aborted ? signal.reason : toSourceError(error, target)
      }
    },
    close() {},
  }
}

/** A connected socket takes datagrams of its peer only, and is told when the port is closed. */
function connect(socket: Socket, address: string, port: number, signal: AbortSignal): Promise<void> {
  const connected = new Promise<void>((resolve, reject) => {
    socket.once('error', reject)
    // Not by a callback: it is called on a failure too, instead of the event.
    socket.once('connect', () => {
      socket.off('error', reject)
      resolve()
    })
    socket.connect(port, address)
  })
  return abortable(connected, signal)
}

/** Sends the request, again while no reply comes, and waits for the reply. */
async function exchange(
  socket: Socket,
  request: Buffer,
  isMine: (datagram: Buffer) => boolean,
  clock: Clock,
  signal: AbortSignal,
): Promise<Buffer> {
  let cancel = () => {}
  let strangers = 0
  const reply = new Promise<Buffer>((resolve, reject) => {
    const send = () => {
      socket.send(request, (error) => error && reject(error))
      cancel = clock.after(resendAfter, send)
    }
    socket.on('error', reject)
    socket.on('message', (datagram) => {
      if (isMine(datagram)) resolve(datagram)
      else if (++strangers > mostStrangers) reject(new ProtocolError('malformed', 'datagrams that are no reply'))
    })
    send()
  })
  try {
    return await abortable(reply, signal)
  } finally {
    cancel()
    socket.removeAllListeners()
    socket.on('error', () => {})
  }
}

function toFields({ motd, version, software, plugins, map, online, max, names, complete }: FullStat): Partial<Fields> {
  const parsed = version === undefined ? undefined : parseVersionName(version)
  return {
    edition: 'java',
    ...(motd !== undefined && { motd: stripFormatting(motd) }),
    ...(parsed?.version !== undefined && { version: parsed.version }),
    ...(software !== undefined && { software }),
    ...(plugins && { plugins }),
    ...(map !== undefined && { map, levelName: map }),
    ...(online !== undefined && { playersOnline: online }),
    ...(max !== undefined && { playersMax: max }),
    // A list that is cut short, or that hides some of the players, is no better than a sample.
    ...(complete && { players: { players: names.map((name) => ({ name })), complete: names.length >= (online ?? 0) } }),
  }
}

export interface QuerySettings {
  readonly address: HostPort
}

export const query: SourceDescriptor<'query', QuerySettings> = {
  name: 'query',
  title: 'Query',
  settings: {
    address: {
      env: 'MC_QUERY',
      file: 'query',
      kind: hostPort(defaultPorts.query),
      required: true,
      otherwise: 'off',
      meaning: 'UDP query address',
    },
  },
  fields: {
    edition: 30,
    version: 40,
    software: 40,
    motd: 30,
    playersOnline: 30,
    playersMax: 30,
    players: 30,
    plugins: 10,
    map: 10,
    levelName: 20,
  },
  hints: {
    notConfigured: 'enable-query=true and MC_QUERY',
    ...networkHints('are enable-query=true and this query.port in its server.properties, and does UDP get through?'),
  },
  cost: 'two datagrams per poll; the server renews the answer every 5 s',
  network: true,
  pushes: false,
  editions: ['java'],
  discover({ properties }, _given, server) {
    if (!server || !isOn(properties, 'enable-query')) return {}
    const port = portIn(properties, 'query.port') ?? portIn(properties, 'server-port') ?? defaultPorts.query
    return { address: { host: server.host, port } }
  },
  create: ({ address }, context) => createQuerySource(address, context),
}
