import { serverAddress } from '../../../config/kinds.ts'
import { systemNetwork } from '../../network.ts'
import { defaultPorts, formatHostPort, type ServerAddress } from '../../protocol/address.ts'
import { portIn } from '../../protocol/server-properties.ts'
import { networkHints } from '../hints.ts'
import type { Source, SourceContext, SourceDescriptor } from '../source.ts'
import { createBedrockReader } from './bedrock-status.ts'
import { createJavaReader } from './java-status.ts'
import { createNetherNetReader } from './nethernet.ts'
import { createRakNetReader } from './raknet.ts'

/** The status that a server gives to everyone: by the Server List Ping of Java servers, by RakNet or NetherNet of Bedrock ones. */
export function createStatusSource(address: ServerAddress, context: SourceContext): Source {
  const { clock, network = systemNetwork } = context
  const target = formatHostPort(address)
  const phases = context.phases?.timer('status')
  const read =
    address.edition === 'bedrock'
      ? createBedrockReader({
          raknet: createRakNetReader(address, context, network, phases),
          nethernet: createNetherNetReader(address, network),
        })
      : createJavaReader(address, context, network, phases)

  return {
    name: 'status',
    target,
    async poll(signal) {
      signal.throwIfAborted()
      const fields = await read(signal)
      return { source: 'status', at: clock.now(), fields }
    },
    close() {},
  }
}

export interface StatusSettings {
  readonly address: ServerAddress
}

/** A server that listens on every address is reached on this machine. */
const reachable = (ip: string): string => (ip === '0.0.0.0' ? '127.0.0.1' : ip === '::' ? '::1' : ip)

export const status: SourceDescriptor<'status', StatusSettings> = {
  name: 'status',
  title: 'Status',
  settings: {
    address: {
      env: 'MC_SERVER',
      file: 'address',
      kind: serverAddress,
      required: true,
      otherwise: 'a built-in demo server',
      meaning: 'address of the game server: host, host:port or bedrock://host:port',
    },
  },
  fields: {
    edition: 10,
    transport: 10,
    version: 20,
    protocol: 20,
    software: 20,
    loader: 20,
    loaderVersion: 20,
    motd: 20,
    formattedMotd: 10,
    favicon: 10,
    playersOnline: 40,
    playersMax: 40,
    players: 40,
    secureChatEnforced: 10,
    defaultGameMode: 30,
    ip: 20,
    port: 10,
    latency: 10,
  },
  requires: { secureChatEnforced: 'Java edition', transport: 'Bedrock edition' },
  hints: {
    notConfigured: 'MC_SERVER',
    ...networkHints('is the server running, and is this the address that players use?'),
    closed: 'did a proxy in front of the server hang up, or is this another port, such as the RCON port (25575) or one for TLS?',
  },
  cost: 'none: the status is sent by the network thread, and costs no tick time',
  network: true,
  pushes: false,
  editions: ['java', 'bedrock'],
  locatesServer: true,
  discover: ({ properties }) => ({
    address: {
      edition: 'java',
      host: reachable(properties.get('server-ip')?.trim() || '127.0.0.1'),
      port: portIn(properties, 'server-port') ?? defaultPorts.java,
    },
  }),
  create: ({ address }, context) => createStatusSource(address, context),
}
