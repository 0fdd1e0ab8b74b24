import { randomBytes } from 'node:crypto'
import { type Clock, systemClock } from '../../clock.ts'
import type { HostPort, ServerAddress } from '../protocol/address.ts'
import type { ServerSettings } from '../server.ts'
import { createCommandLine } from './commands.ts'
import { eraNames, findEra } from './eras.ts'
import type { DemoIdentity, Software } from './identity.ts'
import { listenRcon } from './rcon.ts'
import type { ScenarioName } from './scenarios.ts'
import { listenStatus } from './status.ts'
import type { Listener } from './tcp.ts'
import { createWorld, type World } from './world.ts'

export type DemoProtocol = 'status' | 'rcon'

export interface DemoOptions {
  /** Default 127.0.0.1. */
  readonly host?: string
  /** 0 or absent: a free one. */
  readonly ports?: Partial<Record<DemoProtocol, number>>
  /** A version of `eraNames`; default 1.21.11. */
  readonly era?: string
  readonly software?: Software
  readonly scenario?: ScenarioName
  /** The same seed gives the same world; default 1. */
  readonly seed?: number
  /** Who is on at the start, at most 5,000; default 5. */
  readonly players?: number
  /** Default 20, or as many as are on. */
  readonly maxPlayers?: number
  readonly motd?: string
  /** Seconds without players until the server pauses, -1 never; default as the era and software have it. */
  readonly pauseWhenEmpty?: number
  /** Numbers with a comma, as from a Java in such a locale. */
  readonly decimalComma?: boolean
  /** Default: random. */
  readonly rconPassword?: string
  readonly clock?: Clock
  /** Told each RCON command that is run. */
  readonly onRequest?: (protocol: DemoProtocol, request: string) => void
}

/** A small game server that speaks the real protocols, with a simulated world behind it. */
export interface DemoServer {
  readonly address: ServerAddress
  readonly rcon: { readonly address: HostPort; readonly password: string }
  readonly identity: DemoIdentity
  readonly world: World
  /** Closes one protocol's port with all its connections, as if that part had died. */
  interrupt(protocol: DemoProtocol): Promise<void>
  /** Opens it again, on the same port. */
  resume(protocol: DemoProtocol): Promise<void>
  /** Ends everything within a second; may be called twice. */
  close(): Promise<void>
}

const mostPlayers = 5_000

/** What the era and the software cannot do is refused rather than half done. */
function identify(options: DemoOptions): DemoIdentity {
  const { era: version = '1.21.11', software = 'vanilla', scenario } = options
  const era = findEra(version)
  if (era === undefined) throw new RangeError(`there is no era "${version}"; expected one of ${eraNames.join(', ')}`)
  if (software === 'neoforge' && era.protocol < 764) throw new RangeError(`NeoForge does not exist for ${version}`)
  if ((scenario === 'frozen' || scenario === 'sprinting') && era.tick === undefined)
    throw new RangeError(`${version} has no /tick, so it cannot be ${scenario}`)
  if (scenario === 'paused' && !era.pauses) throw new RangeError(`${version} does not pause when it is empty`)
  return {
    era,
    software,
    motd: options.motd ?? 'Tickwarden demo server',
    difficulty: 'Normal',
    decimalComma: options.decimalComma ?? false,
  }
}

function pauseAfter({ pauseWhenEmpty, scenario }: DemoOptions, { era, software }: DemoIdentity): number {
  if (pauseWhenEmpty !== undefined) return era.pauses ? pauseWhenEmpty : -1
  return era.pauses && (software !== 'paper' || scenario === 'paused') ? 60 : -1
}

/**
 * Starts the server on its ports.
 * @throws RangeError for an era, software, scenario or number of players that does not exist or fit
 * @throws the system's error when a port cannot be had
 */
export async function startDemoServer(options: DemoOptions = {}): Promise<DemoServer> {
  const { host = '127.0.0.1', clock = systemClock, scenario = 'normal', seed = 1, players = 5, ports = {} } = options
  const identity = identify(options)
  if (!Number.isInteger(players) || players < 0 || players > mostPlayers)
    throw new RangeError(`players is ${players}; expected 0 to ${mostPlayers}`)
  const maxPlayers = options.maxPlayers ?? Math.max(20, players)
  if (maxPlayers < players) throw new RangeError(`players is ${players}, more than the ${maxPlayers} that fit`)
  const password = options.rconPassword ?? randomBytes(12).toString('base64url')
  const pauseWhenEmpty = pauseAfter(options, identity)
  const world = createWorld({ clock, seed, scenario, players, maxPlayers, pauseWhenEmpty })
  const commandLine = createCommandLine(world, identity)
  const onCommand = (command: string) => options.onRequest?.('rcon', command)

  const listen: Readonly<Record<DemoProtocol, (port: number) => Promise<Listener>>> = {
    status: (port) => listenStatus(host, port, world, identity, clock),
    rcon: (port) => listenRcon(host, port, { password, world, commandLine, onCommand }),
  }
  const listeners = new Map<DemoProtocol, Listener>()
  const known = new Map<DemoProtocol, number>()

  async function open(protocol: DemoProtocol, port: number): Promise<number> {
    const listener = await listen[protocol](port)
    listeners.set(protocol, listener)
    known.set(protocol, listener.port)
    return listener.port
  }

  async function interrupt(protocol: DemoProtocol): Promise<void> {
    const listener = listeners.get(protocol)
    listeners.delete(protocol)
    await listener?.close()
  }

  async function close(): Promise<void> {
    world.close()
    await Promise.all([...listeners.keys()].map(interrupt))
  }

  try {
    const address = { edition: 'java', host, port: await open('status', ports.status ?? 0) } as const
    const rcon = { address: { host, port: await open('rcon', ports.rcon ?? 0) }, password }
    return {
      address,
      rcon,
      identity,
      world,
      interrupt,
      async resume(protocol) {
        if (!listeners.has(protocol)) await open(protocol, known.get(protocol) ?? 0)
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** The settings under which Tickwarden watches the demo server, with every source that it speaks to. */
export function demoSettings(demo: DemoServer, name: string): ServerSettings {
  return { name, address: demo.address, rcon: demo.rcon }
}
