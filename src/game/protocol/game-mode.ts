/** The game modes, indexed by their number in the game. */
export const gameModes = ['SURVIVAL', 'CREATIVE', 'ADVENTURE', 'SPECTATOR'] as const

export type GameMode = (typeof gameModes)[number]

/** Parses the name of a game mode, case-insensitively; undefined for anything else. */
export const parseGameMode = (name: unknown): GameMode | undefined =>
  typeof name === 'string' ? gameModes.find((mode) => mode === name.toUpperCase()) : undefined
