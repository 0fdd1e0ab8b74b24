import { randomBytes, X509Certificate } from 'node:crypto'
import type { ServerSettings } from '../game/server-settings.ts'
import type { ManagementSettings } from '../game/sources/management/settings.ts'
import { formatHostPort, type HostPort, type ServerAddress } from '../util/address.ts'
import { systemClock } from '../util/clock.ts'
import { UsageError } from '../util/usage-error.ts'
import { eraNames, findEra } from './eras.ts'
import type { DemoIdentity, DemoOptions, DemoProtocol } from './identity.ts'
import type { Listener } from './listen.ts'
import { listenManagement } from './management.ts'
import { listenQuery } from './query.ts'
import { listenRcon } from './rcon.ts'
import { listenStatus } from './status.ts'
import { createWorld } from './world.ts'

export type { DemoOptions, DemoProtocol } from './identity.ts'

/** A small game server with the real protocols and a simulated world. */
export type DemoServer = Awaited<ReturnType<typeof startDemoServer>>

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
    decimalComma: options.decimalComma ?? false,
  }
}

/**
 * Starts the server. Its encoders are independent of `game/protocol`: tests would not notice an error that both sides share.
 * @throws UsageError for an era, software or scenario that is not valid or supported
 * @throws the system error if a port is not available
 */
export async function startDemoServer(options: DemoOptions = {}) {
  const { host = '127.0.0.1', clock = systemClock, scenario = 'normal', seed = 1, players = 5, ports = {} } = options
  const identity = identify(options)
  const maxPlayers = options.maxPlayers ?? Math.max(20, players)
  const password = options.rconPassword ?? randomBytes(12).toString('base64url')
  // 40 letters and digits, as the game requires.
  const secret = options.managementSecret ?? randomBytes(20).toString('hex')
  const { era, software } = identity
  const pauseWhenEmpty = era.pauses && (software !== 'paper' || scenario === 'paused') ? 60 : -1
  const world = createWorld({ clock, seed, scenario, players, maxPlayers, pauseWhenEmpty })
  const game = { world, identity, clock }

  const listeners = new Map<DemoProtocol, Listener>()
  const openedPorts = new Map<DemoProtocol, number>()

  async function listen(protocol: DemoProtocol, port: number): Promise<Listener | undefined> {
    if (protocol === 'status') return listenStatus(host, port, game)
    if (protocol === 'rcon') return listenRcon(host, port, game, password, options.onCommand)
    if (protocol === 'query') return listenQuery(host, port, game, openedPorts.get('status') ?? 0)
    return listenManagement(host, port, game, secret, options)
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
    await Promise.all(open.map((listener) => listener.close()))
  }

  try {
    const address: ServerAddress = { edition: 'java', ...(await open('status')) }
    const rcon = { address: await open('rcon'), password }
    const query = await open('query')
    const opened = await open('management')
    /** Undefined if the era has no management protocol (before 1.21.9). */
    const management = era.management && managementSettings(opened, secret, options.managementTls?.cert)
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
