import type { Clock } from '../util/clock.ts'
import type { Era } from './eras.ts'
import type { ScenarioName } from './scenarios.ts'
import type { World } from './world.ts'

export const softwareNames = ['vanilla', 'paper', 'forge', 'neoforge'] as const
export type Software = (typeof softwareNames)[number]

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
  readonly motd?: string
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
  readonly clock?: Clock
  /** Called with each RCON command. */
  readonly onCommand?: (command: string) => void
}

/** How the demo server presents itself, over every protocol. */
export interface DemoIdentity {
  readonly era: Era
  readonly software: Software
  readonly motd: string
  /** Whether numbers have a decimal comma, depending on the locale of the JVM. */
  readonly decimalComma: boolean
}

/** What every protocol of the demo server serves. */
export interface Game {
  readonly world: World
  readonly identity: DemoIdentity
  readonly clock: Clock
}
