import type { Era } from './eras.ts'

export type Software = 'vanilla' | 'paper' | 'forge' | 'neoforge'

export const softwareNames: readonly Software[] = ['vanilla', 'paper', 'forge', 'neoforge']

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
