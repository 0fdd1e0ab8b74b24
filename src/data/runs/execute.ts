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
const runLimit = 30 * 60_000
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
  /** ISO 8601. */
  readonly started: string
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

/** How a run ended. */
interface End {
  readonly result: RunResult
  /** Given where the script heeded neither its limit nor the abort: done when it does end after all. Never rejects. */
  readonly lingers?: Promise<unknown>
}

/** Runs the script to its end, its limit or the abort, whichever is first. */
async function runScript(order: RunOrder, log: Log): Promise<End> {
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
  let cancelGrace = () => {}
  const abandoned = new Promise<End>((resolve) => {
    const begin = () => {
      cancelGrace = clock.after(grace, () => resolve({ result: stopped(), lingers: over }))
    }
    if (stop.aborted) begin()
    else stop.addEventListener('abort', begin, { once: true })
  })
  try {
    return await Promise.race([over.then((result) => ({ result })), abandoned])
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
  const isThere = await openFolder(dataDir, dryRun)
  const [wall, start] = [clock.wall(), clock.now()]
  const lock = isThere ? await takeLock(dataDir, script.name, wall) : noLock
  if (lock === undefined) return 'already running'
  const redact = createRedactor(values)
  const log = redactedLog(order.log, redact)
  const started = new Date(wall).toISOString()
  log.info({ script: script.name, trigger }, `${script.name}: started`)

  async function run(): Promise<RunRecord> {
    const { result, lingers } = await runScript(order, log)
    const record: RunRecord = {
      script: script.name,
      trigger,
      started,
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
    // Before the lock is given back: who finds none finds the record.
    if (!dryRun) await addRun(dataDir, record, log)
    if (lingers === undefined) await release()
    else void lingers.then(release)
    return record
  }
  const release = () => lock.release().catch((error: unknown) => log.error({ err: error }, `${script.name}: lock not given back`))
  return { started, ended: run() }
}
