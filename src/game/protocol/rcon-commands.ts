/**
 * Every command that is ever sent to a game server. Each only reads: none takes an argument that changes the world,
 * and none changes anything when an older game knows another form of it.
 */
export const rconCommands = Object.freeze([
  'tick query',
  'time query gametime',
  'time query daytime',
  'time query day',
  'time query time',
  'time query day repetition',
  'list uuids',
  'minecraft:list uuids',
  'list',
  'tps',
  'mspt',
  'forge tps',
  'neoforge tps',
  'difficulty',
  'version',
] as const)

export type RconCommand = (typeof rconCommands)[number]

const known: ReadonlySet<string> = new Set(rconCommands)

/** Distrusts the type: what is not in the list stays unsent even where a caller got around the compiler. */
export const isRconCommand = (command: string): command is RconCommand => known.has(command)
