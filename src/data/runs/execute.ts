import { basename } from 'node:path'
import { maskedLog } from '../../secrets/masked-log.ts'
import { escapeControls } from '../../util/escape-controls.ts'
import { problemOf } from '../../util/schema.ts'
import { maskOfMessages } from '../scripts/mask-upstream.ts'
import {
  noCounts,
  type RunContext,
  type RunResult,
  type Script,
  type ScriptSettings,
  scriptSettingTable,
} from '../scripts/script.ts'
import { UpstreamError } from '../scripts/upstream-error.ts'
import { clampRetryAt } from '../scripts/waits.ts'
import { openFolder } from './folder.ts'
import { addRun, addStart, firstErrors, RunRecord, type Trigger } from './history.ts'
import { type RunLock, takeLock } from './lock.ts'
import { type SharedLocks, takeTurn } from './shared-lock.ts'

/** Maximum duration of a run, milliseconds. */
const maxRunMs = 30 * 60_000
/** Time for a script to end after its signal is aborted, milliseconds. Shorter than the shutdown timeout of the service. */
const graceMs = 3000

/** What a run gets; its signal is aborted when the service stops or the user at the terminal interrupts it. */
export interface RunRequest extends Omit<RunContext, 'counts' | 'confirm'> {
  readonly script: Script
  readonly trigger: Trigger
  /** Locks shared with other replicas; undefined if there are none. */
  readonly sharedLocks?: SharedLocks | undefined
  /** Scheduled time, Unix milliseconds; undefined if the run was requested. */
  readonly due?: number | undefined
}

/** A run in progress. */
export interface Run {
  /** ISO 8601. */
  readonly started: string
  /** Never rejects. */
  readonly ended: Promise<RunRecord>
}

/** Environment names of the settings that the script requires and that are not set. Empty: it can run. */
export const missingSettings = (script: Script, values: ScriptSettings, dataDir: string | undefined): readonly string[] => [
  ...(dataDir === undefined ? [scriptSettingTable.dataDir.env] : []),
  ...script.missingSettings(values).map((name) => scriptSettingTable[name].env),
]

/** Reduces each quoted absolute path, as in file system errors, to its file name, because replies must not expose local folders. */
export const hideFolders = (text: string): string =>
  text.replaceAll(/'((?:\/|[A-Za-z]:\\)[^']*)'/g, (_match, path: string) => `'${basename(path.replaceAll('\\', '/'))}'`)

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const failure = (error: string, counts: RunResult['counts']): RunResult => ({ outcome: 'failed', counts, errors: [error] })

/** How a run ended. */
interface End {
  readonly result: RunResult
  /** Set if the script ignored the abort: resolves when it does end. Never rejects. */
  readonly stillRunning?: Promise<unknown>
}

/** Runs the script until it ends, exceeds the time limit or is aborted. Never rejects. */
async function runScript(script: Script, context: Omit<RunContext, 'counts'>): Promise<End> {
  const { clock, log, signal } = context
  const limit = new AbortController()
  const cancelLimit = clock.after(maxRunMs, () => limit.abort())
  const stop = AbortSignal.any([signal, limit.signal])
  const ended = new AbortController()
  const counts = { ...noCounts }
  // The counts are copied: an abandoned script may still change them.
  const stopped = () =>
    failure(limit.signal.aborted ? `stopped at the time limit of ${maxRunMs / 60_000} minutes` : 'stopped', { ...counts })

  // Async, so that a synchronous throw becomes a rejection.
  const start = async () => script.run({ ...context, signal: AbortSignal.any([stop, ended.signal]), counts })
  const over = start().catch((error: unknown): RunResult => {
    if (stop.aborted) return stopped()
    log.error({ err: error, script: script.name }, `${script.name}: the run failed`)
    const result = failure(messageOf(error), counts)
    if (!(error instanceof UpstreamError) || error.retryAt === undefined) return result
    return { ...result, outcome: 'rate_limited', retryAt: error.retryAt }
  })
  let cancelGrace = () => {}
  const abandoned = new Promise<End>((resolve) => {
    const begin = () => {
      cancelGrace = clock.after(graceMs, () => resolve({ result: stopped(), stillRunning: over }))
    }
    if (stop.aborted) begin()
    else stop.addEventListener('abort', begin, { once: true })
  })
  try {
    return await Promise.race([over.then((result) => ({ result })), abandoned])
  } finally {
    cancelLimit()
    cancelGrace()
    ended.abort()
  }
}

/** A dry run on a folder that is missing or read-only needs no lock: no other run can write there either. */
const noLock: RunLock = { lost: new AbortController().signal, async release() {} }

/** Why a run does not start. `already done`: another replica has done the scheduled run. */
export type Refusal = 'already running' | 'already done'

/**
 * Starts a run, unless the same script is already running, in this process or another one that uses the folder.
 * @throws DataDirError if the folder cannot be created or written to
 * @throws SharedLockError if the shared state of the replicas is unavailable
 */
export async function startRun(order: RunRequest): Promise<Run | Refusal> {
  const { script, dataDir, trigger, clock, dryRun, sharedLocks, due } = order
  const { name } = script
  const isWritable = await openFolder(dataDir, dryRun)
  const [wall, start] = [clock.wall(), clock.now()]
  const lock = isWritable ? await takeLock(dataDir, name) : noLock
  if (lock === undefined) return 'already running'
  const turn =
    sharedLocks === undefined || dryRun
      ? undefined
      : await takeTurn(sharedLocks, name, due, wall).catch(async (error: unknown) => {
          await lock.release()
          throw error
        })
  if (typeof turn === 'string') {
    await lock.release()
    return turn
  }
  const mask = maskOfMessages(order.values)
  const log = maskedLog(order.log, mask)
  log.info({ script: name, trigger }, `${name}: started`)
  const begun = { script: name, trigger, started: new Date(wall).toISOString() }
  // Only the holder of the lock changes the records of the script.
  if (!dryRun) await addStart(dataDir, begun, log)

  const recordOf = ({ outcome, counts, errors, retryAt }: RunResult): RunRecord => {
    const ended = clock.wall()
    const record = {
      ...begun,
      ended: new Date(ended).toISOString(),
      duration: Math.round(clock.now() - start) / 1000,
      outcome,
      counts,
      errors: firstErrors(errors).map((error) => escapeControls(hideFolders(mask(error)))),
      ...(retryAt !== undefined && { retryAt: new Date(clampRetryAt(retryAt, ended)).toISOString() }),
    }
    const problem = problemOf(RunRecord, record)
    if (problem !== undefined) throw new TypeError(problem)
    return record
  }
  const run = async (): Promise<RunRecord> => {
    const signal = AbortSignal.any([order.signal, lock.lost, ...(turn ? [turn.lock.lost] : [])])
    const { result, stillRunning } = await runScript(script, { ...order, log, signal, confirm: turn?.confirm })
    let record: RunRecord
    try {
      record = recordOf(result)
    } catch (error) {
      // A script that returns an invalid result must not crash the service.
      log.error({ err: error, script: name }, `${name}: the result cannot be recorded`)
      record = recordOf(failure(`the result of the run cannot be recorded: ${messageOf(error)}`, noCounts))
    }
    const level = record.outcome === 'done' ? 'info' : 'warn'
    log[level]({ script: name, outcome: record.outcome, ...record.counts, error: record.errors[0] }, `${name}: ended`)
    // Before the lock is released, so that the next holder finds the record.
    if (!dryRun) await addRun(dataDir, record, log)
    const release = async () => {
      await turn?.lock.release()
      await lock.release()
    }
    if (stillRunning === undefined) await release()
    else void stillRunning.then(release)
    return record
  }
  return { started: begun.started, ended: run() }
}
