import { resolve } from 'node:path'
import type { Config } from '../config/config.ts'
import { missingSettings, startRun } from '../data/runs/execute.ts'
import type { RunRecord } from '../data/runs/history.ts'
import { scripts as allScripts } from '../data/scripts/index.ts'
import { type Script, scriptSettings } from '../data/scripts/script.ts'
import { type Clock, systemClock } from '../util/clock.ts'
import type { Log } from '../util/log.ts'
import { UsageError } from '../util/usage-error.ts'
import { createRunDisplay, type Terminal } from './run-display.ts'

export interface UpdateOptions {
  readonly script: string
  readonly full: boolean
  readonly force: boolean | string
  readonly dryRun: boolean
}

export interface UpdateIo {
  readonly stdout: Terminal
  readonly stderr: Terminal
  /** Aborted by Ctrl+C or SIGTERM. */
  readonly signal: AbortSignal
  /** Log of the scripts; default: warnings and errors as lines on stderr. */
  readonly log?: Log
  readonly clock?: Clock
  readonly scripts?: readonly Script[]
}

/** Exit codes of `update`. */
export const exitCodes = { done: 0, failed: 1, partly: 3, notConfigured: 4 } as const

function exitCodeOf({ outcome }: RunRecord): number {
  if (outcome === 'done') return exitCodes.done
  if (outcome === 'partly') return exitCodes.partly
  return outcome === 'not_configured' ? exitCodes.notConfigured : exitCodes.failed
}

/**
 * `tickwarden update <script>`: runs one script and shows its progress.
 * @returns the exit code: 0 done, 1 failed (or already running), 3 partly done, 4 not configured
 */
export async function runUpdate(options: UpdateOptions, config: Pick<Config, 'data' | 'scripts'>, io: UpdateIo): Promise<number> {
  const { clock = systemClock, scripts = allScripts, stdout, stderr, signal } = io
  const script = scripts.find(({ name }) => name === options.script)
  if (script === undefined)
    throw new UsageError(`unknown script "${options.script}"; the scripts are ${scripts.map(({ name }) => name).join(', ')}`)
  const values = scriptSettings(config)
  const dataDir = values.dataDir === undefined ? undefined : resolve(values.dataDir)
  const missing = missingSettings(script, values, dataDir)
  if (missing.length > 0 || dataDir === undefined) {
    stderr.write(`${script.name}: not configured: set ${missing.join(', ')}\n`)
    return exitCodes.notConfigured
  }
  const display = createRunDisplay(script, stdout, stderr, clock)
  // Timers of the clock do not keep the process alive, but a run that waits for one must continue.
  const alive = setInterval(() => undefined, 60_000)
  try {
    const { full, force, dryRun } = options
    const log = io.log ?? display.log
    const run = await startRun({
      ...{ script, values, dataDir, clock, log, signal, full, force, dryRun },
      trigger: 'command',
      progress: display.progress,
    })
    if (typeof run === 'string') {
      stderr.write(`${script.name}: ${run}\n`)
      return exitCodes.failed
    }
    const record = await run.ended
    display.end(record, dryRun)
    return exitCodeOf(record)
  } catch (error) {
    stderr.write(`${script.name}: failed: ${(error as Error).message}\n`)
    return exitCodes.failed
  } finally {
    display.stop()
    clearInterval(alive)
  }
}
