import type { Clock } from '../util/clock.ts'
import type { Era } from './eras.ts'
import type { World } from './world.ts'

export const softwareNames = ['vanilla', 'paper', 'forge', 'neoforge'] as const
export type Software = (typeof softwareNames)[number]

/** How the demo server presents itself, over every protocol. */
export interface DemoIdentity {
  readonly era: Era
  readonly software: Software
  readonly motd: string
  readonly difficulty: 'Peaceful' | 'Easy' | 'Normal' | 'Hard'
  /** Number of players whose names are hidden in the status, those who joined first; none before 1.18. */
  readonly hiddenPlayers: number
  /** Whether numbers have a decimal comma, depending on the locale of the JVM. */
  readonly decimalComma: boolean
}

/** What every protocol of the demo server serves. */
export interface Game {
  readonly world: World
  readonly identity: DemoIdentity
  readonly clock: Clock
}
