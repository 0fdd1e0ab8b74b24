import { randomInt } from 'node:crypto'
import type { LookupAddress } from 'node:dns'
import { hostPort } from '../../../settings/kinds/index.ts'
import type { AbortSignalLike } from '../../../util/abortable.ts'
import { defaultPorts, formatHostPort, type HostPort } from '../../../util/address.ts'
import { toSourceError } from '../../errors.ts'
import type { Fields } from '../../fields.ts'
import { createHappyEyeballs } from '../../names/happy-eyeballs.ts'
import { systemNetwork } from '../../network.ts'
import {
  decodeChallenge,
  decodeFullStat,
  encodeChallenge,
  encodeFullStat,
  type FullStat,
  isReply,
  toSession,
} from '../../protocol/query.ts'
import { parseVersionName } from '../../protocol/status/version-name.ts'
import { stripFormatting } from '../../protocol/text.ts'
import { isOn, portIn } from '../directory/server-properties.ts'
import { networkHints } from '../hints.ts'
import { type Source, type SourceContext, type SourceDescriptor, unmeasured } from '../source.ts'
import { exchange, withUdpSocket } from '../udp.ts'

/**
 * The query protocol (UDP): the full list of names, plugins and map. Each poll uses a new socket and requests a new token, which is
 * valid only for that socket's address and port.
 */
export function createQuerySource(address: HostPort, context: SourceContext): Source {
  const { clock, network = systemNetwork, measure = unmeasured } = context
  const { host, port } = address
  const target = formatHostPort(address)
  const phases = context.phases?.timer('query')
  const raceAddresses = createHappyEyeballs({ host, target, network, clock, phases })

  function read(address: LookupAddress, signal: AbortSignalLike): Promise<Partial<Fields>> {
    return withUdpSocket(address, port, signal, async (socket) => {
      const session = toSession(randomInt(2 ** 31))
      const request = (bytes: Buffer, type: 0 | 9) =>
        exchange(socket, {
          encodeRequest: () => bytes,
          isReply: (datagram) => isReply(datagram, type, session),
          clock,
          signal,
        })
      const challenge = await request(encodeChallenge(session), 9)
      phases?.end('first_byte')
      const reply = await request(encodeFullStat(session, decodeChallenge(challenge)), 0)
      return measure(() => toFields(decodeFullStat(reply)))
    })
  }

  return {
    name: 'query',
    target,
    async poll(signal) {
      try {
        signal.throwIfAborted()
        phases?.start()
        const fields = await raceAddresses(read, signal)
        phases?.end('read')
        return { source: 'query', at: clock.now(), fields }
      } catch (error) {
        throw toSourceError(error, target)
      }
    },
    close() {},
  }
}

/** The version of a Bedrock server: `v1.18.30`, `Geyser (git-master-abc1234) 1.21.130`. */
const bedrockVersion = /(?:^|[ v])(\d{1,3}(?:\.\d{1,4}){1,3})$/

function toFields({ edition, motd, version, software, plugins, map, online, max, names, complete }: FullStat): Partial<Fields> {
  const gameVersion = edition === 'bedrock' ? bedrockVersion.exec(version ?? '')?.[1] : parseVersionName(version ?? '').version
  return {
    ...(edition && { edition }),
    ...(motd !== undefined && { motd: stripFormatting(motd.replaceAll('\0', ' ')) }),
    ...(gameVersion !== undefined && { version: gameVersion }),
    ...(software !== undefined && { software }),
    ...(plugins && { plugins }),
    ...(map !== undefined && { map, levelName: map }),
    ...(online !== undefined && { playersOnline: online }),
    ...(max !== undefined && { playersMax: max }),
    // If the list is truncated or some players are hidden, it is only a sample.
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
  udpOnly: true,
  pushes: false,
  editions: ['java'],
  discover({ properties }, _given, server) {
    if (!server || !isOn(properties, 'enable-query')) return {}
    const port = portIn(properties, 'query.port') ?? portIn(properties, 'server-port') ?? defaultPorts.query
    return { address: { host: server.host, port } }
  },
  whyUndiscovered: () => 'enable-query is not true',
  create: ({ address }, context) => createQuerySource(address, context),
}
