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
import { clampRetryAt } from '../scripts/waits.ts'
import { openFolder } from './folder.ts'
import { addRun, addStart } from './history.ts'
import { type RunLock, takeLock } from './lock.ts'
import { hideFolders } from './paths.ts'
import { firstErrors, RunRecord, type Trigger } from './run-record.ts'
import { failure, messageOf, runScript } from './run-script.ts'
import { type SharedLock, type SharedLocks, takeTurn } from './shared-lock.ts'

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

/** A dry run on a folder that is missing or read-only needs no lock: no other run can write there either. */
const noLock: RunLock = { lost: new AbortController().signal, async release() {} }

/** Why a run does not start. `already done`: another replica has done the scheduled run. */
export type Refusal = 'already running' | 'already done'

interface Turn {
  readonly lock: SharedLock
  readonly confirm: NonNullable<RunContext['confirm']>
}

/** Takes the lock shared by all replicas; undefined if there are none. @throws SharedLockError */
async function takeSharedTurn(order: RunRequest, now: number, lock: RunLock): Promise<Turn | Refusal | undefined> {
  const { sharedLocks, script, due, dryRun } = order
  if (sharedLocks === undefined || dryRun) return undefined
  try {
    const turn = await takeTurn(sharedLocks, script.name, due, now)
    if (typeof turn === 'string') await lock.release()
    return turn
  } catch (error) {
    await lock.release()
    throw error
  }
}

/**
 * Starts a run, unless the same script is already running, in this process or another one that uses the folder.
 * @throws DataDirError if the folder cannot be created or written to
 * @throws SharedLockError if the shared state of the replicas is unavailable
 */
export async function startRun(order: RunRequest): Promise<Run | Refusal> {
  const { script, dataDir, trigger, clock, dryRun } = order
  const { name } = script
  const isWritable = await openFolder(dataDir, dryRun)
  const [wall, start] = [clock.wall(), clock.now()]
  const started = new Date(wall).toISOString()
  const acquired = isWritable ? await takeLock(dataDir, name) : noLock
  if (acquired === undefined) return 'already running'
  const lock = acquired
  const taken = await takeSharedTurn(order, wall, lock)
  if (typeof taken === 'string') return taken
  const turn = taken
  const mask = maskOfMessages(order.values)
  const log = maskedLog(order.log, mask)
  log.info({ script: name, trigger }, `${name}: started`)
  // Only the holder of the lock changes the records of the script.
  if (!dryRun) await addStart(dataDir, { script: name, trigger, started }, log)

  function recordOf({ outcome, counts, errors, retryAt }: RunResult): RunRecord {
    const ended = clock.wall()
    const record = {
      script: name,
      trigger,
      started,
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
  async function run(): Promise<RunRecord> {
    const signal = AbortSignal.any([order.signal, lock.lost, ...(turn ? [turn.lock.lost] : [])])
    const { result, stillRunning } = await runScript({ ...order, signal, ...(turn && { confirm: turn.confirm }) }, log)
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
  return { started, ended: run() }
}
