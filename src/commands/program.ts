import { setMaxListeners } from 'node:events'
import { parseServerAddress } from '../util/address.ts'
import { escapeControlsInLines } from '../util/escape-controls.ts'
import { UsageError } from '../util/usage-error.ts'
import type { Call, Command } from './command.ts'
import { commands, findCommand } from './definitions/index.ts'
import { parseArguments } from './parse-arguments.ts'

const advice = 'Use --help for a list of commands and options.'
const wrongUsage = 2
/** Milliseconds in which a process whose command has failed ends by itself. */
const maxEndMs = 1_000

/** Whether a word is an address, perhaps with a wrong port, rather than a misspelt command. */
const isAddress = (word: string): boolean =>
  word.includes('://') ||
  word === 'localhost' ||
  (/[.:]/.test(word) && parseServerAddress(word) !== undefined) ||
  /^[\w.-]+:\d+\/?$/.test(word)

/** Splits the command line into the name of the command and its arguments. */
async function route(argv: readonly string[]): Promise<readonly [name: string, args: readonly string[]]> {
  const [first = '', ...rest] = argv
  if (findCommand(first) !== undefined) return [first, rest]
  if (first === '' || first.startsWith('-')) return ['serve', argv]
  if (isAddress(first)) return ['status', argv]
  const { closestName } = await import('../settings/closest-name.ts')
  const names = commands.map(({ name }) => name)
  const [meant] = argv.flatMap((arg) => (arg.startsWith('-') ? [] : (closestName(arg.toLowerCase(), names, 2) ?? [])))
  const hint = meant === undefined ? `the commands are ${names.join(', ')}` : `did you mean ${meant}?`
  throw new UsageError(`unknown command, or a value without a flag; ${hint}`)
}

const helpFlag = /^(?:-h|--help(?:=(.*))?)$/

/** The topic of `--help`, `-h` or `help`; undefined if no help was requested, '' without a topic. */
function helpTopic(args: readonly string[]): string | undefined {
  const at = args.findIndex((arg) => helpFlag.test(arg))
  const end = args.indexOf('--')
  if (at < 0 || (end >= 0 && end < at)) return undefined
  const next = args[at + 1]
  return helpFlag.exec(args[at] ?? '')?.[1] ?? (next === undefined || next.startsWith('-') ? '' : next)
}

function print(text: string): number {
  process.stdout.write(text)
  return 0
}

function stopSignal(): AbortSignal {
  const stop = new AbortController()
  for (const [name, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    // Not once(): a library that releases its locks at the end would take the process for one without a handler, and end it.
    process.on(name, () => {
      if (stop.signal.aborted) process.exit(code)
      stop.abort(new Error(`stopped by ${name}`))
    })
  }
  // Each of many servers may have a listener.
  setMaxListeners(0, stop.signal)
  return stop.signal
}

async function execute(command: Command, args: readonly string[]): Promise<number | undefined> {
  if (command.isRaw) return await command.run({ command, commands, args, flags: {}, settings: {}, stop: stopSignal() })
  const parsed = await parseArguments(command, args)
  // The service handles signals itself.
  const stop = command.name === 'serve' ? new AbortController().signal : stopSignal()
  const call: Call = { ...parsed, command, commands, stop }
  const code = await command.run(call)
  // Something abandoned may still keep the process alive.
  if (stop.aborted) setImmediate(() => process.exit(code))
  return code
}

async function dispatch(argv: readonly string[]): Promise<number | undefined> {
  const [first] = argv
  if (first === '-v' || first === '--version') return print(`${(await import('../util/package.ts')).version}\n`)
  if (first === 'help') return print(await (await import('./help.ts')).helpText(argv[1] ?? ''))
  const [name, args] = await route(argv)
  const command = findCommand(name)
  if (command === undefined) throw new RangeError(`no command ${name}`)
  const topic = command.isRaw ? undefined : helpTopic(args)
  if (topic === undefined) return await execute(command, args)
  const isProgram = name === 'serve' && first !== 'serve'
  return print(await (await import('./help.ts')).helpText(topic || (isProgram ? '' : name)))
}

/**
 * Runs one command line. Errors are printed to the standard error.
 * @returns the exit code; undefined if the process ends by itself
 */
export async function runProgram(argv: readonly string[]): Promise<number | undefined> {
  try {
    return await dispatch(argv)
  } catch (error) {
    // A message may quote an argument or a reply with the control sequences of a terminal.
    const message = escapeControlsInLines((error as Error).message)
    const isUsage = error instanceof UsageError
    console.error(isUsage && !message.includes('\n') ? `error: ${message}\n${advice}` : message)
    return isUsage ? wrongUsage : 1
  }
}

/** Runs the command line of this process, and sets its exit code. */
export async function runProcess(): Promise<void> {
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      // A reader such as `head` that has seen enough is no error.
      if (error.code === 'EPIPE') process.exit()
      console.error(`The output cannot be written: ${error.message}`)
      process.exit(1)
    })
  process.exitCode = await runProgram(process.argv.slice(2))
  // Only if something still keeps a process running whose command has failed.
  if (process.exitCode) setTimeout(() => process.exit(), maxEndMs).unref()
}
