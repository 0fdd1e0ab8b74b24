import { resolve } from 'node:path'
import type { Config } from '../config/config.ts'
import { missingSettings, type RunRequest, startRun } from '../data/runs/execute.ts'
import { scripts } from '../data/scripts/index.ts'
import { scriptSettings } from '../data/scripts/script.ts'
import { type Clock, systemClock } from '../util/clock.ts'
import { UsageError } from '../util/usage-error.ts'
import { createRunDisplay, type Terminal } from './run-display.ts'

export interface UpdateOptions extends Pick<RunRequest, 'full' | 'force' | 'dryRun'> {
  readonly script: string
}

export interface UpdateIo {
  readonly stdout: Terminal
  readonly stderr: Terminal
  /** Aborted by Ctrl+C or SIGTERM. */
  readonly signal: AbortSignal
  readonly clock?: Clock
}

/** Exit codes by outcome; 1 for any other. */
const exitCodes: Readonly<Record<string, number>> = { done: 0, partly: 3, not_configured: 4 }

/**
 * `tickwarden update <script>`: runs one script and shows its progress.
 * @returns the exit code: 0 done, 1 failed (or already running), 3 partly done, 4 not configured
 */
export async function runUpdate(options: UpdateOptions, config: Pick<Config, 'data' | 'scripts'>, io: UpdateIo): Promise<number> {
  const { clock = systemClock, stdout, stderr, signal } = io
  const script = scripts.find(({ name }) => name === options.script)
  if (script === undefined)
    throw new UsageError(`unknown script "${options.script}"; the scripts are ${scripts.map(({ name }) => name).join(', ')}`)
  const values = scriptSettings(config)
  const dataDir = values.dataDir === undefined ? undefined : resolve(values.dataDir)
  const missing = missingSettings(script, values, dataDir)
  if (missing.length > 0 || dataDir === undefined) {
    stderr.write(`${script.name}: not configured: set ${missing.join(', ')}\n`)
    return 4
  }
  const display = createRunDisplay(script, stdout, stderr, clock)
  // Timers of the clock do not keep the process alive, but a run that waits for one must continue.
  const alive = setInterval(() => undefined, 60_000)
  try {
    const { full, force, dryRun } = options
    const run = await startRun({
      ...{ script, values, dataDir, clock, signal, full, force, dryRun },
      ...{ trigger: 'command', progress: display.progress, log: display.log },
    })
    if (typeof run === 'string') {
      stderr.write(`${script.name}: ${run}\n`)
      return 1
    }
    const record = await run.ended
    display.end(record, dryRun)
    return exitCodes[record.outcome] ?? 1
  } catch (error) {
    stderr.write(`${script.name}: failed: ${(error as Error).message}\n`)
    return 1
  } finally {
    display.stop()
    clearInterval(alive)
  }
}
