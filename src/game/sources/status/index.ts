import { hostname, oneOf, serverAddress, textPattern } from '../../../settings/kinds/index.ts'
import type { AbortSignalLike } from '../../../util/abortable.ts'
import { defaultPorts, formatHostPort, parseHost, type ServerAddress } from '../../../util/address.ts'
import type { Clock } from '../../../util/clock.ts'
import { matchesPattern } from '../../../util/text-pattern.ts'
import { SourceError } from '../../errors.ts'
import type { Fields } from '../../fields.ts'
import { systemNetwork } from '../../network.ts'
import type { ProxyProtocolVersion } from '../../protocol/status/proxy-header.ts'
import { portIn } from '../directory/server-properties.ts'
import { networkHints } from '../hints.ts'
import type { Reading, Source, SourceContext, SourceDescriptor } from '../source.ts'
import { createBedrockReader } from './bedrock-status.ts'
import { BedrockSuggestion } from './bedrock-suggestion.ts'
import { JavaReader } from './java-status.ts'
import { createNetherNetReader } from './nethernet.ts'
import { withProxyHeader } from './proxy-header.ts'
import { createRakNetReader } from './raknet.ts'

export interface StatusSettings {
  readonly address: ServerAddress
  /** Only Java: the host name in the handshake, if it differs from the host of the address. */
  readonly hostname?: string
  /** Only Java: the version of the PROXY protocol header that the server expects. */
  readonly proxyProtocol?: ProxyProtocolVersion
  /** A text or /pattern/ in the message of the day of a proxy that answers for a stopped server. */
  readonly asleepMotd?: string
}

type StatusOptions = Omit<StatusSettings, 'address'>

/** Reads the public status of a server: by Server List Ping (Java), or by RakNet or NetherNet (Bedrock). */
export class StatusSource implements Source {
  readonly name = 'status'
  readonly target: string
  readonly detectsSleep: boolean
  readonly #clock: Clock
  readonly #reader: Pick<JavaReader, 'read'>
  readonly #asleepMotd: string | undefined
  /** Until the server has replied once. */
  #suggestion: BedrockSuggestion | undefined

  constructor(address: ServerAddress, context: SourceContext, { hostname, proxyProtocol, asleepMotd }: StatusOptions = {}) {
    const target = formatHostPort(address)
    const plain = context.network ?? systemNetwork
    const network = proxyProtocol === undefined ? plain : withProxyHeader(plain, proxyProtocol)
    const phases = context.phases?.timer('status')
    this.target = target
    this.#clock = context.clock
    this.#asleepMotd = asleepMotd
    this.detectsSleep = asleepMotd !== undefined
    this.#reader =
      address.edition === 'bedrock'
        ? {
            read: createBedrockReader(target, {
              raknet: createRakNetReader(address, context, plain, phases),
              nethernet: createNetherNetReader(address, plain, context.measure),
            }),
          }
        : new JavaReader(address, context, network, phases, hostname)
    if (address.edition === 'java' && !context.isProbe && !plain.tcpOnly)
      this.#suggestion = new BedrockSuggestion(address, context.clock, plain)
  }

  async poll(signal: AbortSignalLike): Promise<Reading> {
    signal.throwIfAborted()
    const fields = await (this.#suggestion === undefined ? this.#reader.read(signal) : this.#readFirst(this.#suggestion, signal))
    if (this.#asleepMotd === undefined) return { source: 'status', at: this.#clock.now(), fields }
    if (matchesPattern(this.#asleepMotd, fields.motd ?? '')) {
      throw new SourceError('asleep', `${this.target}: a proxy answers for the server, which is stopped`)
    }
    return { source: 'status', at: this.#clock.now(), fields: { ...fields, asleep: false } }
  }

  async #readFirst(suggestion: BedrockSuggestion, signal: AbortSignalLike): Promise<Partial<Fields>> {
    try {
      const fields = await this.#reader.read(signal)
      this.#suggestion = undefined
      return fields
    } catch (error) {
      throw await suggestion.explain(error, signal)
    }
  }

  close(): void {}
}

/** A server in a local directory that listens on all addresses is reached on the loopback address. */
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
    hostname: {
      env: 'MC_HOSTNAME',
      file: 'hostname',
      kind: hostname,
      edition: 'java',
      otherwise: 'the host of the address',
      meaning: 'host name sent in the handshake, for a proxy that routes by it',
    },
    proxyProtocol: {
      env: 'MC_PROXY_PROTOCOL',
      file: 'proxyProtocol',
      kind: oneOf('v1', 'v2'),
      edition: 'java',
      otherwise: 'off',
      meaning: 'version of the PROXY protocol that the game port expects',
    },
    asleepMotd: {
      env: 'MC_ASLEEP_MOTD',
      file: 'asleepMotd',
      kind: textPattern,
      meaning: 'part of the message of the day, or a /pattern/, that a proxy shows while the server is stopped',
    },
  },
  fields: {
    edition: 10,
    transport: 10,
    version: 20,
    protocol: 20,
    software: 20,
    proxy: 10,
    acceptedVersions: 10,
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
    asleep: 10,
    rawStatus: 10,
  },
  requires: {
    secureChatEnforced: 'Java edition',
    proxy: 'a proxy that identifies itself',
    acceptedVersions: 'a proxy',
    asleep: 'MC_ASLEEP_MOTD',
    transport: 'Bedrock edition',
  },
  hints: {
    notConfigured: 'MC_SERVER',
    ...networkHints('is the server running, and is this the address that players use?'),
    closed: 'did a proxy in front of the server hang up, or is this another port, such as the RCON port (25575) or one for TLS?',
  },
  timeoutHints: {
    connected:
      'the connection is accepted, but the status is not sent: is the server hung, or a proxy waiting for one behind it?',
  },
  cost: 'none: the status is sent by the network thread, and costs no tick time',
  network: true,
  pushes: false,
  editions: ['java', 'bedrock'],
  locatesServer: true,
  discover({ properties }) {
    const ip = properties.get('server-ip')?.trim() || '127.0.0.1'
    const port = portIn(properties, 'server-port') ?? defaultPorts.java
    return { address: { edition: 'java', host: reachable(parseHost(ip) ?? ip), port } }
  },
  create: ({ address, ...options }, context) => new StatusSource(address, context, options),
}
