import { stat, writeFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { StatusSettings } from '../../game/sources/status/index.ts'
import { stateOf } from '../../live/state.ts'
import { duration, integer } from '../../settings/kinds/index.ts'
import { formatHostPort } from '../../util/address.ts'
import { escapeControls } from '../../util/escape-controls.ts'
import { writeAtomic } from '../../util/files.ts'
import { UsageError } from '../../util/usage-error.ts'
import { type Call, flagValue } from '../command.ts'
import type { CardStyle } from './card.ts'
import { type Look, look, parseTarget, requireReady, type Target } from './look.ts'
import { telegrafLine } from './telegraf.ts'

/** Where the results go. */
export interface StatusIo {
  readonly stdout: Pick<NodeJS.WriteStream, 'write'> & Partial<Pick<NodeJS.WriteStream, 'isTTY' | 'getColorDepth' | 'columns'>>
  readonly stderr: Pick<NodeJS.WriteStream, 'write'>
}

type Options = Awaited<ReturnType<typeof parseOptions>>

/** The settings of the status that are given as flags. What the status alone tells does not need the modules of the other sources. */
async function parseSettings({ settings }: Call, targets: readonly Target[]): Promise<Omit<Partial<StatusSettings>, 'address'>> {
  if (Object.keys(settings).length === 0) return {}
  const { settingsFor } = await import('./full-look.ts')
  const [server] = targets.map(({ addresses: [address] }) => settingsFor(address, settings))
  const { address: _, ...status } = server?.sources.status ?? {}
  return status
}

const maxRetries = 1_000_000

async function parseOptions(call: Call) {
  const { args, flags, settings } = call
  const formats = (['json', 'players', 'prometheus', 'telegraf'] as const).filter((name) => flags[name])
  if (formats.length > 1) throw new UsageError(`--${formats.join(' and --')} exclude each other`)
  if (flags.interval !== undefined && !flags.watch) throw new UsageError('--interval has no effect without --watch')
  const targets = args.map((text) => {
    const target = parseTarget(text)
    if (target === undefined)
      throw new UsageError(
        `${JSON.stringify(text)} is not an address; expected host or host:port, an IPv6 address in brackets, optionally after java:// or bedrock://`,
      )
    return target
  })
  const { output } = flags
  return {
    targets,
    format: formats[0] ?? ('card' as const),
    timeoutMs: flagValue(call, 'timeout', duration('50ms', '10m')),
    retries: flagValue(call, 'retry', integer(0, maxRetries)),
    retryMs: flagValue(call, 'retry-interval', duration('10ms', '1d')),
    watchMs: flags.watch ? flagValue(call, 'interval', duration('100ms', '1d')) : undefined,
    output: typeof output === 'string' ? output : undefined,
    status: await parseSettings(call, targets),
    /** Whether other sources are read, too. */
    isFull: Object.keys(settings).length > 0,
  }
}

/** One line on the standard error. */
function failureLine({ target, address, failure }: Look): string {
  const message = failure?.message ?? 'unknown error'
  const prefix = `${formatHostPort(address)}: `
  return escapeControls(`${target.text} is down: ${message.startsWith(prefix) ? message.slice(prefix.length) : message}`)
}

function jsonLine({ target, snapshot, failure }: Look): string {
  const error = failure && { error: failure.code, message: failure.message }
  return JSON.stringify({ address: target.text, ...stateOf(snapshot), error: null, ...error })
}

/** Reads one server, again while it is down. */
async function attempt(target: Target, { timeoutMs, retries, retryMs, status, isFull }: Options, call: Call): Promise<Look> {
  const { flags, settings, stop } = call
  for (let tried = 0; ; tried++) {
    const started = performance.now()
    const found = await look(target, { ...status, timeoutMs, signal: stop })
    const remainingMs = timeoutMs - (performance.now() - started)
    const result =
      isFull && remainingMs >= 50 ? await (await import('./full-look.ts')).fullLook(found, settings, remainingMs, stop) : found
    const wanted = flags.ready ? requireReady(result) : result
    if (wanted.failure === undefined || tried >= retries) return wanted
    await delay(retryMs, undefined, { signal: stop })
  }
}

async function format(kind: Options['format'], results: readonly Look[], style: CardStyle): Promise<string> {
  if (kind === 'prometheus') return (await import('./prometheus.ts')).prometheusText(results)
  const texts = results.map(async (result) => {
    const { snapshot, failure } = result
    if (kind === 'json') return `${jsonLine(result)}\n`
    if (kind === 'telegraf') return `${telegrafLine(result)}\n`
    if (failure !== undefined) return ''
    if (kind === 'players') {
      const online = snapshot.fields.playersOnline?.value
      return online === undefined ? '' : `${online}\n`
    }
    return await (await import('./card.ts')).card(result, style)
  })
  return (await Promise.all(texts)).join('')
}

/** Replaces a file as a whole. What is no file, such as a pipe or a device, is written to. @throws Error of the system */
async function writeOutput(path: string, text: string): Promise<void> {
  const found = await stat(path).catch(() => undefined)
  await (found === undefined || found.isFile() ? writeAtomic(path, text) : writeFile(path, text))
}

/** Reads every server once, and prints each result as it arrives. @returns whether all are up */
async function runOnce(options: Options, call: Call, { stdout, stderr }: StatusIo): Promise<boolean> {
  const isWhole = options.format === 'prometheus' || options.output !== undefined
  const colors = stdout.isTTY === true && options.output === undefined ? (stdout.getColorDepth?.() ?? 1) : 1
  const style = { colors, columns: stdout.columns ?? 80 }
  const results = await Promise.all(
    options.targets.map(async (target) => {
      const result = await attempt(target, options, call)
      if (!isWhole) stdout.write(await format(options.format, [result], style))
      // In the other formats the failure is part of the output.
      if (result.failure !== undefined && !['json', 'telegraf'].includes(options.format)) stderr.write(`${failureLine(result)}\n`)
      return result
    }),
  )
  if (isWhole) {
    const text = await format(options.format, results, style)
    if (options.output === undefined) stdout.write(text)
    else {
      await writeOutput(options.output, text).catch((error: NodeJS.ErrnoException) => {
        throw new Error(`--output: ${options.output} cannot be written (${error.code ?? error.message})`, { cause: error })
      })
    }
  }
  return results.every(({ failure }) => failure === undefined)
}

const clearScreen = '\x1b[H\x1b[2J'

/**
 * `tickwarden status`: reads servers and prints their state.
 * @returns 0 if every server is up, otherwise 1
 * @throws UsageError
 */
export async function runStatus(call: Call, io: StatusIo = process): Promise<number> {
  const options = await parseOptions(call)
  let isUp = false
  try {
    for (;;) {
      if (options.watchMs !== undefined && options.format === 'card' && io.stdout.isTTY) io.stdout.write(clearScreen)
      isUp = await runOnce(options, call, io)
      if (options.watchMs === undefined) break
      await delay(options.watchMs, undefined, { signal: call.stop })
    }
  } catch (error) {
    if (!call.stop.aborted) throw error
    if (options.watchMs === undefined) isUp = false
  }
  return isUp ? 0 : 1
}
