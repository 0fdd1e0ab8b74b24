import { Value } from 'typebox/value'
import type { Clock } from '../../clock.ts'
import { settings } from '../../config/settings.ts'
import { escapeControls } from '../../escape-controls.ts'
import type { Log } from '../../log.ts'
import {
  type Counts,
  noCounts,
  type Progress,
  type RunContext,
  type RunResult,
  type Script,
  type ScriptSettings,
} from '../scripts/script.ts'
import { UpstreamError } from '../scripts/upstream.ts'
import { clampRetryAt } from '../scripts/waits.ts'
import { openFolder } from './folder.ts'
import { addRun, addStart, firstErrors, RunRecord, type Trigger } from './history.ts'
import { type RunLock, takeLock } from './lock.ts'
import { hideFolders } from './paths.ts'
import { createRedactor, redactedLog } from './redact.ts'
import { type SharedLock, type SharedLocks, takeTurn } from './shared-lock.ts'

/** Longest run, milliseconds. */
const maxRunMs = 30 * 60_000
/** Time that a script gets to end after its signal was aborted, milliseconds: less than the service has to close. */
const graceMs = 3000

export interface RunOrder {
  readonly script: Script
  readonly values: ScriptSettings
  /** Absolute. */
  readonly dataDir: string
  readonly trigger: Trigger
  readonly clock: Clock
  readonly log: Log
  readonly progress: Progress
  /** Aborted when the service stops or the user at the terminal interrupts it. */
  readonly signal: AbortSignal
  readonly full: boolean
  readonly dryRun: boolean
  readonly force: boolean
  /** Of replicas that may run the script too. */
  readonly sharedLocks?: SharedLocks | undefined
  /** Unix milliseconds for which the run is scheduled; undefined where it is asked for. */
  readonly due?: number | undefined
}

/** A run under way. */
export interface Run {
  /** ISO 8601. */
  readonly started: string
  /** Never rejects. */
  readonly ended: Promise<RunRecord>
}

/** The environment names of what must be set before the script can run. Empty: it can run. */
export const missingSettings = (script: Script, values: ScriptSettings, dataDir: string | undefined): readonly string[] => [
  ...(dataDir === undefined ? [settings.dataDir.env] : []),
  ...script.missingSettings(values).map((name) => settings[name].env),
]

// The counts are copied: a script that was abandoned may still change them.
const failure = (error: string, reached: Counts): RunResult => ({ outcome: 'failed', counts: { ...reached }, errors: [error] })

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

function resultOf(error: unknown, reached: Counts): RunResult {
  const result = failure(messageOf(error), reached)
  if (!(error instanceof UpstreamError) || error.retryAt === undefined) return result
  return { ...result, outcome: 'rate_limited', retryAt: error.retryAt }
}

/** How a run ended. */
interface End {
  readonly result: RunResult
  /** If the script heeded neither its limit nor the abort: resolves when it does end. Never rejects. */
  readonly lingers?: Promise<unknown>
}

/** Runs the script to its end, its limit or the abort, whichever comes first. Never rejects. */
async function runScript(order: RunOrder, log: Log): Promise<End> {
  const { script, clock, signal } = order
  const limit = new AbortController()
  const cancelLimit = clock.after(maxRunMs, () => limit.abort())
  const stop = AbortSignal.any([signal, limit.signal])
  const counts = { ...noCounts }
  const stopped = () => failure(limit.signal.aborted ? `stopped at its limit of ${maxRunMs / 60_000} minutes` : 'stopped', counts)

  // In a function of its own, which turns a throw into a rejection.
  const start = async () => script.run({ ...order, signal: stop, log, counts })
  const over = start().catch((error: unknown) => {
    if (stop.aborted) return stopped()
    log.error({ err: error, script: script.name }, `${script.name}: the run failed`)
    return resultOf(error, counts)
  })
  let cancelGrace = () => {}
  const abandoned = new Promise<End>((resolve) => {
    const begin = () => {
      cancelGrace = clock.after(graceMs, () => resolve({ result: stopped(), lingers: over }))
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

/** A dry run neither creates a folder nor needs a lock in one that it cannot write to: no other run can either. */
const noLock: RunLock = { async release() {} }

/** Why a run does not start; `already done`: another replica has run what was due. */
export type Refusal = 'already running' | 'already done'

interface Turn {
  readonly lock: SharedLock
  readonly limits: Pick<RunContext, 'signal' | 'confirm'>
}

/** The turn among all replicas; undefined where there is only this one. @throws SharedLockError */
async function takeSharedTurn(order: RunOrder, now: number, lock: RunLock): Promise<Turn | Refusal | undefined> {
  const { sharedLocks, script, due, signal, dryRun } = order
  if (sharedLocks === undefined || dryRun) return undefined
  try {
    const turn = await takeTurn(sharedLocks, script.name, due, now)
    if (typeof turn !== 'string')
      return { lock: turn.lock, limits: { signal: AbortSignal.any([signal, turn.lock.lost]), confirm: turn.confirm } }
    await lock.release()
    return turn
  } catch (error) {
    await lock.release()
    throw error
  }
}

/**
 * Starts a run, unless one of the same script is under way, in this process or another one on the same folder.
 * @throws DataDirError if the folder cannot be created or written to
 * @throws SharedLockError if the state that replicas share cannot be used
 */
export async function startRun(order: RunOrder): Promise<Run | Refusal> {
  const { script, dataDir, trigger, clock, dryRun } = order
  const { name } = script
  const isWritable = await openFolder(dataDir, dryRun)
  const [wall, start] = [clock.wall(), clock.now()]
  const started = new Date(wall).toISOString()
  const acquired = isWritable ? await takeLock({ folder: dataDir, name, clock, taken: started }) : noLock
  if (acquired === undefined) return 'already running'
  const lock = acquired
  const taken = await takeSharedTurn(order, wall, lock)
  if (typeof taken === 'string') return taken
  const turn = taken
  const redact = createRedactor(order.values)
  const log = redactedLog(order.log, redact)
  log.info({ script: name, trigger }, `${name}: started`)
  // After the lock was taken: only its holder changes what is recorded of the script.
  if (!dryRun) await addStart(dataDir, { script: name, trigger, started }, log)

  function recordOf({ outcome, counts, errors, retryAt }: RunResult): RunRecord {
    const ended = clock.wall()
    return Value.Parse(RunRecord, {
      script: name,
      trigger,
      started,
      ended: new Date(ended).toISOString(),
      duration: Math.round(clock.now() - start) / 1000,
      outcome,
      counts,
      errors: firstErrors(errors).map((error) => escapeControls(hideFolders(redact(error)))),
      ...(retryAt !== undefined && { retryAt: new Date(clampRetryAt(retryAt, ended)).toISOString() }),
    })
  }
  async function run(): Promise<RunRecord> {
    const { result, lingers } = await runScript(turn === undefined ? order : { ...order, ...turn.limits }, log)
    let record: RunRecord
    try {
      record = recordOf(result)
    } catch (error) {
      // A script that returns something else than a result must not end the service.
      log.error({ err: error, script: name }, `${name}: its result cannot be recorded`)
      record = recordOf(failure(`the result of the run cannot be recorded: ${messageOf(error)}`, noCounts))
    }
    const level = record.outcome === 'done' ? 'info' : 'warn'
    log[level]({ script: name, outcome: record.outcome, ...record.counts, error: record.errors[0] }, `${name}: ended`)
    // Before the lock is released: whoever finds it free finds the record.
    if (!dryRun) await addRun(dataDir, record, log)
    const release = async () => {
      await turn?.lock.release()
      await lock.release()
    }
    if (lingers === undefined) await release()
    else void lingers.then(release)
    return record
  }
  return { started, ended: run() }
}
