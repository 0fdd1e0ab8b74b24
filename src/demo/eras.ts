/** The differences between the releases of the game. Texts are those of the English language files. */
export interface Era {
  readonly version: string
  readonly protocol: number
  /** Number of the world format, which `version` prints. */
  readonly data: number
  /** The reply to `list`. One line, since RCON joins the messages of a command without a separator. */
  list(online: number, max: number, players: string): string
  time(ticks: number): string
  /** Whether `time query` supports clocks and timelines. */
  readonly clocks: boolean
  /** The reply to an unknown command. */
  unknown(command: string): string
  /** The reply to arguments that are not valid from the character at `cursor`. */
  wrongArgument(command: string, cursor: number): string
  /** Absent if there is no `/tick`. */
  readonly tick?: { readonly running: string; readonly sample: string }
  /** Whether `difficulty` without arguments reports the difficulty. */
  readonly reportsDifficulty: boolean
  /** Absent if there is no `/version`. */
  readonly pack?: { readonly resource: string; readonly data: string; readonly built: string }
  /** Whether the status contains `enforcesSecureChat`. */
  readonly secureChat: boolean
  /** Whether the MOTD in the status is a string instead of a text component. */
  readonly plainDescription: boolean
  /** Whether an empty server pauses. */
  readonly pauses: boolean
  readonly queryEncoding: 'latin1' | 'utf8'
  /** Version of the management API; absent if there is none. */
  readonly management?: '1.0.0' | '2.0.0' | '3.0.0'
}

/** Formats the command with a marker at the error, as the game prints it below a syntax error. */
function context(command: string, cursor: number): string {
  const before = cursor > 10 ? `...${command.slice(cursor - 10, cursor)}` : command.slice(0, cursor)
  return `${before}${command.slice(cursor)}<--[HERE]`
}

const v1_12_2: Era = {
  version: '1.12.2',
  protocol: 340,
  data: 1343,
  list: (online, max, players) => `There are ${online}/${max} players online:${players}`,
  time: (ticks) => `Time is ${ticks}`,
  clocks: false,
  unknown: () => 'Unknown command. Try /help for a list of commands',
  wrongArgument: (command) =>
    command.startsWith('time') ? 'Usage: /time <set|add|query> <value>' : `Usage: /${command.split(' ')[0]}`,
  reportsDifficulty: false,
  secureChat: false,
  plainDescription: false,
  pauses: false,
  queryEncoding: 'latin1',
}

const v1_13_2: Era = {
  ...v1_12_2,
  version: '1.13.2',
  protocol: 404,
  data: 1631,
  list: (online, max, players) => `There are ${online} of a max ${max} players online: ${players}`,
  time: (ticks) => `The time is ${ticks}`,
  unknown: (command) => `Unknown command${context(command, 0)}`,
  wrongArgument: (command, cursor) => `Incorrect argument for command${context(command, cursor)}`,
  reportsDifficulty: true,
}

const v1_14_4: Era = { ...v1_13_2, version: '1.14.4', protocol: 498, data: 1976 }

const v1_16_5: Era = {
  ...v1_14_4,
  version: '1.16.5',
  protocol: 754,
  data: 2586,
  list: (online, max, players) => `There are ${online} of a max of ${max} players online: ${players}`,
  unknown: (command) => `Unknown or incomplete command, see below for error${context(command, 0)}`,
}

const v1_20_2: Era = { ...v1_16_5, version: '1.20.2', protocol: 764, data: 3578, secureChat: true }

const v1_20_4: Era = {
  ...v1_20_2,
  version: '1.20.4',
  protocol: 765,
  data: 3700,
  tick: { running: 'The game runs normally', sample: ', sample: ' },
  plainDescription: true,
}

const v1_21_1: Era = {
  ...v1_20_4,
  version: '1.21.1',
  protocol: 767,
  data: 3955,
  tick: { running: 'The game is running normally', sample: ', sample: ' },
}

const v1_21_8: Era = {
  ...v1_21_1,
  version: '1.21.8',
  protocol: 772,
  data: 4440,
  pauses: true,
  pack: { resource: '64', data: '81', built: 'Thu Jul 17 12:04:02 UTC 2025' },
}

const v1_21_10: Era = {
  ...v1_21_8,
  version: '1.21.10',
  protocol: 773,
  data: 4556,
  unknown: (command) => `Unknown or incomplete command. See below for error${context(command, 0)}`,
  tick: { running: 'The game is running normally', sample: '. Sample: ' },
  pack: { resource: '69.0', data: '88.0', built: 'Tue Oct 07 09:14:11 UTC 2025' },
  management: '1.0.0',
}

const v1_21_11: Era = {
  ...v1_21_10,
  version: '1.21.11',
  protocol: 774,
  data: 4671,
  pack: { resource: '75.0', data: '94.1', built: 'Tue Dec 09 12:20:59 UTC 2025' },
  queryEncoding: 'utf8',
  management: '2.0.0',
}

const v26_1: Era = {
  ...v1_21_11,
  version: '26.1',
  protocol: 775,
  data: 4786,
  clocks: true,
  pack: { resource: '84.0', data: '101.1', built: 'Tue Mar 24 12:00:00 UTC 2026' },
  management: '3.0.0',
}

const v26_3: Era = { ...v26_1, version: '26.3', protocol: 777, data: 5023 }

/** Oldest first. */
export const eras: readonly Era[] = [
  v1_12_2,
  v1_13_2,
  v1_14_4,
  v1_16_5,
  v1_20_2,
  v1_20_4,
  v1_21_1,
  v1_21_8,
  v1_21_10,
  v1_21_11,
  v26_1,
  v26_3,
]

export const eraNames: readonly string[] = eras.map(({ version }) => version)

export const findEra = (version: string): Era | undefined => eras.find((era) => era.version === version)
