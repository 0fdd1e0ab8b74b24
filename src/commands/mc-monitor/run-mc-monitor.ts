import { environment } from '../../config/config.ts'
import { version } from '../../util/package.ts'
import { type McMonitorCommand, mcMonitorCommands, topFlags } from './commands.ts'
import { EnvironmentError, FlagError, goUsage, parseGoFlags } from './flags.ts'

const row = (name: string, summary: string): string => `\t${name.padEnd(16)} ${summary}\n`
const rowsOf = (group: McMonitorCommand['group']): string =>
  mcMonitorCommands
    .filter((command) => command.group === group)
    .map(({ name, summary }) => row(name, summary))
    .join('')

const usage = `Usage: mc-monitor <flags> <subcommand> <subcommand args>

Subcommands:
${row('flags', 'print the flags before a command, or those of a command')}${row('help', 'print this help, or the flags of a command')}${row('version', 'print the version')}
Subcommands for monitoring:
${rowsOf('monitoring')}
Subcommands for status:
${rowsOf('status')}
`

const find = (name: string): McMonitorCommand | undefined => mcMonitorCommands.find((command) => command.name === name)

/** Commands that print a text. */
function describe(name: string, topic: string | undefined): string | undefined {
  if (name === 'version') return `${version} commit= date=\n`
  const command = topic === undefined ? undefined : find(topic)
  if (name === 'help') return topic === undefined ? usage : command && goUsage(command.flags)
  if (name === 'flags') return topic === undefined ? goUsage(topFlags) : command && goUsage(command.flags)
  return undefined
}

/**
 * `tickwarden mc-monitor`: the commands of mc-monitor.
 * @returns the exit code: 1 if a server cannot be read or a variable is wrong, 2 for wrong flags
 */
export async function runMcMonitor(args: readonly string[], stop: AbortSignal): Promise<number> {
  const env = environment()
  let help = usage
  try {
    const [name = '', ...others] = parseGoFlags(topFlags, args, env).rest
    const text = describe(name, others[0])
    if (text !== undefined) {
      process.stdout.write(text)
      return 0
    }
    const command = find(name)
    if (command === undefined) throw new FlagError('')
    help = goUsage(command.flags)
    return await command.run(parseGoFlags(command.flags, others, env).values, stop)
  } catch (error) {
    const { message } = error as Error
    if (error instanceof FlagError) process.stderr.write(`${message === '' ? '' : `${message}\n`}${help}`)
    else process.stderr.write(`${error instanceof EnvironmentError ? '' : 'mc-monitor: '}${message}\n`)
    return error instanceof FlagError ? 2 : 1
  }
}
