import { randomBytes, randomInt, X509Certificate } from 'node:crypto'
import type { ServerSettings } from '../game/server-settings.ts'
import type { ManagementSettings } from '../game/sources/management/settings.ts'
import { formatHostPort, type HostPort, type ServerAddress } from '../util/address.ts'
import { type Clock, systemClock } from '../util/clock.ts'
import { UsageError } from '../util/usage-error.ts'
import { eraNames, findEra } from './eras.ts'
import type { DemoIdentity, Software } from './identity.ts'
import type { Listener } from './listen.ts'
import { listenManagement } from './management.ts'
import { listenQuery } from './query.ts'
import { listenRcon } from './rcon.ts'
import type { ScenarioName } from './scenarios.ts'
import { listenStatus } from './status.ts'
import { createWorld } from './world.ts'

export type DemoProtocol = 'status' | 'rcon' | 'query' | 'management'

export interface DemoOptions {
  /** Default 127.0.0.1. */
  readonly host?: string
  /** 0 or absent for a free port. */
  readonly ports?: Partial<Record<DemoProtocol, number>>
  /** A version of `eraNames`; default 1.21.11. */
  readonly era?: string
  readonly software?: Software
  readonly scenario?: ScenarioName
  /** The same seed creates the same world; default 1. */
  readonly seed?: number
  /** Number of players at the start, at most 5,000; default 5. */
  readonly players?: number
  /** Default 20, or the number of players if it is larger. */
  readonly maxPlayers?: number
  /** Number of players whose names are hidden in the status; default 0. */
  readonly hiddenPlayers?: number
  readonly motd?: string
  /** Seconds without players until the server pauses, -1 for never; the default depends on era and software. */
  readonly pauseWhenEmpty?: number
  /** Whether numbers have a decimal comma. */
  readonly decimalComma?: boolean
  /** Default: random. */
  readonly rconPassword?: string
  /** Default: random, 40 letters and digits. */
  readonly managementSecret?: string
  /** PEM texts for the management protocol; default: no TLS. */
  readonly managementTls?: { readonly key: string; readonly cert: string }
  /** The form of notification parameters; real servers use both. Default `array`. */
  readonly notificationParams?: 'array' | 'object'
  /** Seconds between two status notifications; default 0 (none), as in the game. */
  readonly heartbeat?: number
  readonly clock?: Clock
  /** Called with each RCON command and management method. */
  readonly onRequest?: (protocol: DemoProtocol, request: string) => void
}

/** A small game server with the real protocols and a simulated world. */
export type DemoServer = Awaited<ReturnType<typeof startDemoServer>>

const playerLimit = 5_000

const alphanumerics = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** Like the secret that the game generates if server.properties contains none. */
const randomSecret = (): string => Array.from({ length: 40 }, () => alphanumerics[randomInt(alphanumerics.length)]).join('')

/** @throws UsageError for options that the era or the software does not support */
function identify(options: DemoOptions): DemoIdentity {
  const { era: version = '1.21.11', software = 'vanilla', scenario } = options
  const era = findEra(version)
  if (era === undefined) throw new UsageError(`there is no era "${version}"; expected one of ${eraNames.join(', ')}`)
  if (software === 'neoforge' && era.protocol < 764) throw new UsageError(`NeoForge does not exist for ${version}`)
  if ((scenario === 'frozen' || scenario === 'sprinting') && era.tick === undefined)
    throw new UsageError(`${version} has no /tick, so it cannot be ${scenario}`)
  if (scenario === 'paused' && !era.pauses) throw new UsageError(`${version} does not pause when it is empty`)
  return {
    era,
    software,
    motd: options.motd ?? 'Tickwarden demo server',
    difficulty: 'Normal',
    hiddenPlayers: era.hidesPlayers ? (options.hiddenPlayers ?? 0) : 0,
    decimalComma: options.decimalComma ?? false,
  }
}

function pauseAfter({ pauseWhenEmpty, scenario }: DemoOptions, { era, software }: DemoIdentity): number {
  if (pauseWhenEmpty !== undefined) return era.pauses ? pauseWhenEmpty : -1
  return era.pauses && (software !== 'paper' || scenario === 'paused') ? 60 : -1
}

/**
 * Starts the server. Its encoders are independent of `game/protocol`: tests would not notice an error that both sides share.
 * @throws UsageError for an era, software, scenario or number of players that is not valid or supported
 * @throws the system error if a port is not available
 */
export async function startDemoServer(options: DemoOptions = {}) {
  const { host = '127.0.0.1', clock = systemClock, scenario = 'normal', seed = 1, players = 5, ports = {} } = options
  const identity = identify(options)
  if (!Number.isInteger(players) || players < 0 || players > playerLimit)
    throw new UsageError(`players is ${players}; expected 0 to ${playerLimit}`)
  const maxPlayers = options.maxPlayers ?? Math.max(20, players)
  if (maxPlayers < players) throw new UsageError(`players is ${players}, more than the ${maxPlayers} that fit`)
  const password = options.rconPassword ?? randomBytes(12).toString('base64url')
  const secret = options.managementSecret ?? randomSecret()
  const { managementTls: tls, heartbeat = 0, notificationParams = 'array' } = options
  const pauseWhenEmpty = pauseAfter(options, identity)
  const world = createWorld({ clock, seed, scenario, players, maxPlayers, pauseWhenEmpty })
  const game = { world, identity, clock }
  const { management: api } = identity.era

  const listeners = new Map<DemoProtocol, Listener>()
  const openedPorts = new Map<DemoProtocol, number>()

  async function listen(protocol: DemoProtocol, port: number): Promise<Listener | undefined> {
    const onRequest = (request: string) => options.onRequest?.(protocol, request)
    if (protocol === 'status') return listenStatus(host, port, game)
    if (protocol === 'rcon') return listenRcon(host, port, game, password, onRequest)
    if (protocol === 'query') return listenQuery(host, port, game, openedPorts.get('status') ?? 0)
    if (api === undefined) return undefined
    return listenManagement(host, port, game, { api, secret, heartbeat, notificationParams, tls, onRequest })
  }

  async function open(protocol: DemoProtocol, port = ports[protocol] ?? 0): Promise<HostPort> {
    const listener = await listen(protocol, port)
    if (listener === undefined) return { host, port: 0 }
    listeners.set(protocol, listener)
    openedPorts.set(protocol, listener.port)
    return { host, port: listener.port }
  }

  async function interrupt(protocol: DemoProtocol): Promise<void> {
    const listener = listeners.get(protocol)
    listeners.delete(protocol)
    await listener?.close()
  }

  async function close(): Promise<void> {
    world.close()
    const open = [...listeners.values()]
    listeners.clear()
    await Promise.all(open.map((listener) => (listener.stop ?? listener.close)()))
  }

  try {
    const address: ServerAddress = { edition: 'java', ...(await open('status')) }
    const rcon = { address: await open('rcon'), password }
    const query = await open('query')
    const opened = await open('management')
    /** Undefined if the era has no management protocol (before 1.21.9). */
    const management = api && managementSettings(opened, secret, tls?.cert)
    return {
      ...{ address, rcon, query, management, identity, world },
      /** Closes the port and all connections of one protocol. */
      interrupt,
      /** Opens the same port again. */
      async resume(protocol: DemoProtocol): Promise<void> {
        if (!listeners.has(protocol)) await open(protocol, openedPorts.get(protocol))
      },
      /** Closes all ports within a second. May be called more than once. */
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

function managementSettings(address: HostPort, secret: string, cert: string | undefined): ManagementSettings {
  if (cert === undefined) return { url: `ws://${formatHostPort(address)}`, secret }
  const fingerprint = new X509Certificate(cert).fingerprint256.replaceAll(':', '').toLowerCase()
  return { url: `wss://${formatHostPort(address)}`, secret, fingerprint }
}

/** The name of the demo server that is watched if no server is configured. */
export const demoServerName = 'demo'

/** Returns the settings for watching the demo server with all its sources. */
export function demoSettings(demo: DemoServer, name: string): ServerSettings {
  const { address, rcon, query, management } = demo
  return { name, sources: { status: { address }, rcon, query: { address: query }, ...(management && { management }) } }
}
