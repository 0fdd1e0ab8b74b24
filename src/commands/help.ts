import { UsageError } from '../util/usage-error.ts'
import type { Command, Example, Flag } from './command.ts'
import { commands, findCommand } from './definitions/index.ts'

const width = 26

const row = (left: string, right: string): string =>
  left.length >= width - 2 ? `  ${left}\n${' '.repeat(width + 2)}${right}` : `  ${left.padEnd(width)}${right}`

/** `--timeout <duration>` */
export function flagText({ name, value, isValueOptional }: Flag): string {
  if (value === undefined) return `--${name}`
  return isValueOptional ? `--${name} [${value}]` : `--${name} <${value}>`
}

/** The meaning with its default: `timeout [5s]`. */
export const meaningOf = ({ meaning, default: given }: Flag): string => `${meaning}${given === undefined ? '' : ` [${given}]`}`

/** `tickwarden status [options] <address...>` */
export function usageOf({ name, args = [], flags, settings, isRaw }: Command): string {
  const words = args.map(({ name, isOptional, isRepeated }) => {
    const text = `${name}${isRepeated ? '...' : ''}`
    return isOptional ? `[${text}]` : `<${text}>`
  })
  const options = isRaw || flags.length > 0 || settings !== undefined ? ['[options]'] : []
  return ['tickwarden', name, ...options, ...words].join(' ')
}

const exampleLines = (examples: readonly Example[]): readonly string[] =>
  examples.flatMap(({ line, meaning }) => [`  ${line}`, `      ${meaning}`])

/** The help of one command. */
export function commandHelp(command: Command): string {
  const { summary, args = [], flags, codes, examples, notes, settings } = command
  const choices = args.flatMap(({ name, choices }) => (choices === undefined ? [] : [row(name, choices.join(', '))]))
  return [
    `Usage: ${usageOf(command)}`,
    '',
    `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`,
    ...(choices.length > 0 ? ['', 'Arguments:', ...choices] : []),
    ...(flags.length > 0 ? ['', 'Options:', ...flags.map((flag) => row(flagText(flag), meaningOf(flag)))] : []),
    ...(notes === undefined ? [] : ['', notes]),
    ...(settings === undefined ? [] : ['', 'Settings are also flags: --help all lists them.']),
    '',
    'Examples:',
    ...exampleLines(examples),
    '',
    'Exit codes:',
    ...Object.entries(codes).map(([code, meaning]) => `  ${code}  ${meaning}`),
    '',
  ].join('\n')
}

async function programHelp(): Promise<string> {
  const { mainSettingsHelp } = await import('./settings-help.ts')
  return [
    'Usage: tickwarden [command] [options]',
    '       tickwarden ADDRESS',
    '',
    'Watches Minecraft servers from outside: JSON status API, Prometheus metrics, dashboards.',
    '',
    'Commands:',
    ...commands.map(({ name, summary }) => row(name, summary)),
    '',
    'Options:',
    row('-h, --help [topic]', 'print this help, or that of a command, topic or setting'),
    row('-v, --version', 'print the version'),
    '',
    mainSettingsHelp(),
    '',
    'Examples:',
    ...exampleLines([
      { line: 'tickwarden mc.example.org', meaning: 'read a server once' },
      { line: 'MC_SERVER=mc.example.org tickwarden', meaning: 'watch it, on http://127.0.0.1:8080' },
      { line: 'tickwarden --help rcon', meaning: 'the settings of RCON' },
    ]),
    '',
  ].join('\n')
}

/**
 * The help of the program, of a command, or of a topic of settings; `all` for every setting.
 * @throws UsageError if there is no such topic
 */
export async function helpText(topic: string): Promise<string> {
  if (topic === '') return await programHelp()
  // A name may be that of a command and of a topic of settings.
  const command = findCommand(topic)
  if (command !== undefined) return commandHelp(command)
  const { topicHelp, topics } = await import('./settings-help.ts')
  const text = topicHelp(topic)
  if (text !== undefined) return `${text}\n`
  const names = [...commands.map(({ name }) => name), 'all', 'sources', ...topics.map(({ name }) => name)]
  throw new UsageError(`there is no help about ${JSON.stringify(topic)}; the topics are ${[...new Set(names)].join(', ')}`)
}
