/**
 * Every command that is sent to a game server. All of them are read-only in every version of the game: none takes an argument that
 * changes the world.
 */
export const rconCommands = Object.freeze([
  'tick query',
  'time query gametime',
  'time query daytime',
  'time query day',
  'time query time',
  'time query day repetition',
  'minecraft:time query gametime',
  'minecraft:time query daytime',
  'minecraft:time query day',
  'minecraft:time query time',
  'minecraft:time query day repetition',
  'list uuids',
  'minecraft:list uuids',
  'list',
  'tps',
  'spigot:tps',
  'mspt',
  'forge tps',
  'neoforge tps',
  'difficulty',
  'version',
] as const)

export type RconCommand = (typeof rconCommands)[number]

const known: ReadonlySet<string> = new Set(rconCommands)

/** A check at run time, so that no other command is sent even if a caller bypasses the type. */
export const isRconCommand = (command: string): command is RconCommand => known.has(command)
