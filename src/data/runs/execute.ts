import type { Clock } from '../../clock.ts'
import { type SettingValues, settings } from '../../config/settings.ts'
import type { Log } from '../../log.ts'
import { type Counts, noCounts, type Progress, type RunResult, type Script } from '../scripts/script.ts'
import { UpstreamError } from '../scripts/upstream.ts'
import { openFolder } from './folder.ts'
import { addRun, firstErrors, type RunRecord, type Trigger } from './history.ts'
import { type RunLock, takeLock } from './lock.ts'
import { createRedactor, redactedLog } from './redact.ts'

/** Longest run, milliseconds. */
export const runLimit = 30 * 60_000
/** What a script gets to end after it has been told to, milliseconds: less than the service has to close. */
const grace = 3000

export interface RunOrder {
  readonly script: Script
  readonly values: SettingValues
  /** Absolute. */
  readonly dataDir: string
  readonly trigger: Trigger
  readonly clock: Clock
  readonly log: Log
  readonly progress: Progress
  /** Aborted when the service stops, or the person at the terminal wants no more. */
  readonly signal: AbortSignal
  readonly full: boolean
  readonly dryRun: boolean
  readonly force: boolean
}

/** A run under way; `ended` never rejects. */
export interface Run {
  readonly ended: Promise<RunRecord>
}

/** The environment names of what must be set before the script can run; empty: it can. */
export const missingOf = (script: Script, values: SettingValues): readonly string[] => [
  ...(values.dataDir === undefined ? [settings.dataDir.env] : []),
  ...script.missingSettings(values).map((name) => settings[name].env),
]

// Copied: a script that was given up on may still be counting.
const failure = (error: string, reached: Counts): RunResult => ({ outcome: 'failed', counts: { ...reached }, errors: [error] })

function resultOf(error: unknown, reached: Counts): RunResult {
  const result = failure(error instanceof Error ? error.message : String(error), reached)
  if (!(error instanceof UpstreamError) || error.retryAt === undefined) return result
  return { ...result, outcome: 'rate_limited', retryAt: error.retryAt }
}

/** Runs the script to its end, its limit or the abort, whichever is first; the lock is kept until the script is over. */
async function runScript(order: RunOrder, log: Log, release: () => Promise<void>): Promise<RunResult> {
  const { script, clock, signal } = order
  const limit = new AbortController()
  const cancelLimit = clock.after(runLimit, () => limit.abort())
  const stop = AbortSignal.any([signal, limit.signal])
  const counts = { ...noCounts }
  const stopped = () => failure(limit.signal.aborted ? `stopped at its limit of ${runLimit / 60_000} minutes` : 'stopped', counts)

  const over = script.run({ ...order, signal: stop, log, counts }).catch((error: unknown) => {
    if (stop.aborted) return stopped()
    log.error({ err: error, script: script.name }, `${script.name}: the run failed`)
    return resultOf(error, counts)
  })
  const released = over.then(release)
  let cancelGrace = () => {}
  const abandoned = new Promise<RunResult>((resolve) => {
    const begin = () => {
      cancelGrace = clock.after(grace, () => resolve(stopped()))
    }
    if (stop.aborted) begin()
    else stop.addEventListener('abort', begin, { once: true })
  })
  try {
    return await Promise.race([released.then(() => over), abandoned])
  } finally {
    cancelLimit()
    cancelGrace()
  }
}

/** In a folder that is not there no other run is under way, and a dry run does not make one. */
const noLock: RunLock = { async release() {} }

/**
 * Starts a run, unless one of the same script is under way, in this process or another one on the same folder.
 * @throws DataDirError where the folder cannot be made or written to
 */
export async function startRun(order: RunOrder): Promise<Run | 'already running'> {
  const { script, values, dataDir, trigger, clock, dryRun } = order
  const lock = (await openFolder(dataDir, dryRun)) ? await takeLock(dataDir, script.name) : noLock
  if (lock === undefined) return 'already running'
  const redact = createRedactor(values)
  const log = redactedLog(order.log, redact)
  const [started, start] = [clock.wall(), clock.now()]
  log.info({ script: script.name, trigger }, `${script.name}: started`)

  async function run(release: () => Promise<void>): Promise<RunRecord> {
    const result = await runScript(order, log, release)
    const record: RunRecord = {
      script: script.name,
      trigger,
      started: new Date(started).toISOString(),
      ended: new Date(clock.wall()).toISOString(),
      duration: Math.round(clock.now() - start) / 1000,
      outcome: result.outcome,
      counts: result.counts,
      errors: firstErrors(result.errors).map(redact),
      ...(result.retryAt !== undefined && { retryAt: new Date(result.retryAt).toISOString() }),
    }
    const level = record.outcome === 'done' ? 'info' : 'warn'
    log[level](
      { script: script.name, outcome: record.outcome, ...record.counts, error: record.errors[0] },
      `${script.name}: ended`,
    )
    if (!dryRun) await addRun(dataDir, record, log)
    return record
  }
  const release = () => lock.release().catch((error: unknown) => log.error({ err: error }, `${script.name}: lock not given back`))
  return { ended: run(release) }
}
