import closeWithGrace from 'close-with-grace'
import { Argument, Command, Option } from 'commander'
import { pino } from 'pino'
import { type Config, ConfigError, type ConfigInput, loadConfig } from '../config/config.ts'
import { allSettings } from '../config/settings.ts'
import { scripts } from '../data/scripts/index.ts'
import { musicServices } from '../data/scripts/liked-songs/services.ts'
import { flagOf } from '../settings/setting.ts'
import { version } from '../util/package.ts'
import { UsageError } from '../util/usage-error.ts'
import { commandLineError } from './command-line-error.ts'
import { demoFlags, toDemoOptions } from './demo-options.ts'
import { ListenError } from './listen.ts'
import { settingsHelp } from './settings-help.ts'

/** Exit codes: 0 success, 1 failure, 2 wrong settings or arguments; `update` adds 3 partly done and 4 not configured. */
const wrongUsage = 2
/** Milliseconds in which a process whose start has failed ends by itself. */
const maxEndMs = 1_000

function withSettings(command: Command): Command {
  command.addOption(new Option('--config <file>', 'settings file (TICKWARDEN_CONFIG)'))
  for (const setting of allSettings) {
    // `--data-only` alone means true.
    const value = setting.kind.example === 'true' ? '[value]' : '<value>'
    command.addOption(new Option(`${flagOf(setting)} ${value}`, setting.meaning).preset('true').hideHelp())
  }
  return command.addHelpText('after', settingsHelp)
}

/** Creates a function that reads the settings of a command. It takes the path of the config file, if known. */
function loaderOf(
  command: Command,
  { flags: given = {}, ...input }: Pick<ConfigInput, 'watches' | 'flags'> = {},
): (path?: string) => Config {
  const options: Readonly<Record<string, string | undefined>> = command.optsWithGlobals()
  const flags = Object.fromEntries(
    command.options
      .filter(({ long }) => long !== '--config')
      .map((option) => [option.name().toUpperCase().replaceAll('-', '_'), options[option.attributeName()]]),
  )
  return (path) => {
    const file = path ?? options.config
    return loadConfig({ ...input, flags: { ...flags, ...given }, ...(file !== undefined && { file }) })
  }
}

/** Reads the settings of a command; prints every wrong one and exits if there are any. */
function configOf(command: Command, input: Pick<ConfigInput, 'watches' | 'flags'> = {}): Config {
  try {
    return loaderOf(command, input)()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const count = error.problems.length === 1 ? 'One setting is' : `${error.problems.length} settings are`
    console.error(`${count} wrong:\n${error.problems.map((problem) => `  - ${problem}`).join('\n')}\n--help lists all settings.`)
    process.exit(wrongUsage)
  }
}

async function createLogger(config: Config) {
  const options = { level: config.log.logLevel }
  if (!process.stdout.isTTY) return pino(options)
  const { default: pretty } = await import('pino-pretty')
  return pino(options, pretty({ ignore: 'pid,hostname', translateTime: 'SYS:HH:MM:ss' }))
}

async function runServe(command: Command): Promise<void> {
  const config = configOf(command)
  const load = loaderOf(command)
  const logger = await createLogger(config)
  try {
    const { serve } = await import('./serve.ts')
    const service = await serve(config, logger, () => load(config.file))
    process.on('SIGHUP', () => {
      logger.info('SIGHUP: reading the configuration again')
      void service.reload()
    })
    closeWithGrace({ delay: 5000, logger: false, skip: ['SIGHUP'] }, async ({ err, signal }) => {
      if (err) logger.fatal({ err }, 'unexpected error, shutting down')
      else logger.info(`${signal ?? 'stop requested'}: shutting down`)
      await service.close()
    })
  } catch (error) {
    const { message } = error as Error
    const text = error instanceof ListenError ? message : `The service could not start: ${message}`
    // Printed even if LOG_LEVEL is silent.
    if (logger.isLevelEnabled('fatal')) logger.fatal(text)
    else console.error(text)
    process.exitCode = 1
    // Only if something still keeps the process running.
    setTimeout(() => process.exit(), maxEndMs).unref()
  }
}

/** Aborted at the first Ctrl+C or SIGTERM; a second one ends the process immediately. */
function stopSignal(): AbortSignal {
  const stop = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort(new Error(name)))
  return stop.signal
}

/** Sets the exit code; prints the message of an error instead of throwing it. */
async function runCommand(action: () => Promise<number>): Promise<void> {
  try {
    process.exitCode = await action()
  } catch (error) {
    console.error((error as Error).message)
    process.exitCode = error instanceof UsageError ? wrongUsage : 1
  }
}

// Commands are imported when they run: loading the whole service takes most of a second.
const program = new Command('tickwarden')
  .description('Watches Minecraft servers from outside: JSON status API, Prometheus metrics, dashboards.')
  .version(version)
  .showHelpAfterError('Use --help for a list of commands and options.')
  .configureOutput({ outputError: (text, write) => write(commandLineError(text, process.argv.slice(2))) })
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : wrongUsage))

withSettings(program.command('serve', { isDefault: true }).description('run the service (default command)')).action(
  (_options, command: Command) => runServe(command),
)

const demo = program.command('demo').description('run only a demo game server, to try out dashboards or for tests')
for (const { flag, meaning } of demoFlags) demo.option(flag, meaning)
demo.action((values) =>
  runCommand(async () => {
    const { runDemo } = await import('./demo.ts')
    await runDemo(toDemoOptions(values), stopSignal(), console.log)
    return 0
  }),
)

withSettings(program.command('update').description('run an update script and show its progress'))
  .addArgument(new Argument('<script>').choices(scripts.map(({ name }) => name)))
  .option('--full', 'read everything again, not only changes')
  .option('--force [part]', 'publish the result even if it looks broken; of kcomebacks one month, such as 2024-02')
  .option('--dry-run', 'read from the upstreams, but change nothing')
  .action((script, { full = false, force = false, dryRun = false }, command: Command) =>
    runCommand(async () => {
      const { runUpdate } = await import('./update.ts')
      const [options, signal] = [{ script, full, force, dryRun }, stopSignal()]
      const code = await runUpdate(options, configOf(command, { watches: false }), {
        stdout: process.stdout,
        stderr: process.stderr,
        signal,
      })
      // An abandoned script may still have a timer that keeps the process alive.
      if (signal.aborted) process.exit(code)
      return code
    }),
  )

withSettings(program.command('record').description('write the replies of a server to a folder, without names and secrets'))
  .argument('<address>', 'address of the game server, as for MC_SERVER')
  .option('--output <folder>', 'folder to write to', 'recording')
  .action((address: string, { output }: { readonly output: string }, command: Command) =>
    runCommand(async () => {
      const { runRecord } = await import('./record.ts')
      const config = configOf(command, { flags: { MC_SERVER: address } })
      return await runRecord(config, { folder: output, print: console.log, signal: stopSignal() })
    }),
  )

withSettings(program.command('authorise').description('get the Spotify refresh token or the Last.fm session key for likedsongs'))
  .addArgument(new Argument('<service>').choices(musicServices))
  .action((service, _options, command: Command) =>
    runCommand(async () => {
      const { runAuthorise } = await import('./authorise.ts')
      const { createPrompt } = await import('./prompt.ts')
      const { readLine, close } = createPrompt(process.stdin, process.stdout)
      try {
        return await runAuthorise(service, configOf(command, { watches: false }), {
          print: console.log,
          readLine,
          signal: stopSignal(),
        })
      } finally {
        close()
      }
    }),
  )

program.addHelpText('after', settingsHelp)

await program.parseAsync()
