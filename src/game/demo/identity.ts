import type { Era } from './eras.ts'

export type Software = 'vanilla' | 'paper' | 'forge' | 'neoforge'

export const softwareNames: readonly Software[] = ['vanilla', 'paper', 'forge', 'neoforge']

/** What the demo server says it is, over every protocol. */
export interface DemoIdentity {
  readonly era: Era
  readonly software: Software
  readonly motd: string
  readonly difficulty: 'Peaceful' | 'Easy' | 'Normal' | 'Hard'
  /** How many of the players keep their names out of the status, those who are on for longest; none before 1.18. */
  readonly hiddenPlayers: number
  /** Numbers with a comma, as a server writes them whose Java runs in such a locale. */
  readonly decimalComma: boolean
}
