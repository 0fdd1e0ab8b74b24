/** The game modes by the number that the game has for each, from 0. */
export const gameModes = ['SURVIVAL', 'CREATIVE', 'ADVENTURE', 'SPECTATOR'] as const

export type GameMode = (typeof gameModes)[number]

/** The game mode of a name in any letter case; undefined for anything else. */
export const parseGameMode = (name: unknown): GameMode | undefined =>
  typeof name === 'string' ? gameModes.find((mode) => mode === name.toUpperCase()) : undefined
