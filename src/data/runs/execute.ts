import { basename } from 'node:path'
import { maskedLog } from '../../secrets/masked-log.ts'
import { escapeControls } from '../../util/escape-controls.ts'
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
import { addRun, firstErrors, type RunRecord, type StartedRun, type Trigger } from './history.ts'
import { takeLock } from './lock.ts'
import { type SharedLocks, takeTurn } from './shared-lock.ts'

/** Maximum duration of a run, milliseconds. */
const maxRunMs = 30 * 60_000

/** What a run gets; its signal is aborted when the service stops or the user at the terminal interrupts it. */
export interface RunRequest extends Omit<RunContext, 'counts' | 'confirm'> {
  readonly script: Script
  readonly trigger: Trigger
  /** Locks shared with other replicas; undefined if there are none. */
  readonly sharedLocks?: SharedLocks | undefined
  /** Scheduled time, Unix milliseconds; undefined if the run was requested. */
  readonly due?: number | undefined
}

export interface Run {
  readonly begun: StartedRun
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

/** Runs the script until it ends, which it does soon after the time limit or an abort. Never rejects. */
async function runScript(script: Script, context: RunContext): Promise<RunResult> {
  const { clock, log, signal } = context
  const limit = new AbortController()
  const cancelLimit = clock.after(maxRunMs, () => limit.abort())
  const stop = AbortSignal.any([signal, limit.signal])
  try {
    return await script.run({ ...context, signal: stop })
  } catch (error) {
    if (limit.signal.aborted) return { outcome: 'failed', errors: [`stopped at the time limit of ${maxRunMs / 60_000} minutes`] }
    if (stop.aborted) return { outcome: 'failed', errors: ['stopped'] }
    log.error({ err: error, script: script.name }, `${script.name}: the run failed`)
    const errors = [messageOf(error)]
    if (!(error instanceof UpstreamError) || error.retryAt === undefined) return { outcome: 'failed', errors }
    return { outcome: 'rate_limited', errors, retryAt: error.retryAt }
  } finally {
    cancelLimit()
    // Closes the upstreams of the script.
    limit.abort()
  }
}

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
  // A dry run on a folder that is missing or read-only needs no lock: no other run can write there either.
  const lock = isWritable ? await takeLock(dataDir, name) : undefined
  if (isWritable && lock === undefined) return 'already running'
  const turn =
    sharedLocks === undefined || dryRun
      ? undefined
      : await takeTurn(sharedLocks, name, due, wall).catch(async (error: unknown) => {
          await lock?.release()
          throw error
        })
  if (typeof turn === 'string') {
    await lock?.release()
    return turn
  }
  const mask = maskOfMessages(order.values)
  const log = maskedLog(order.log, mask)
  log.info({ script: name, trigger }, `${name}: started`)
  const begun = { script: name, trigger, started: new Date(wall).toISOString() }
  // Only the holder of the lock changes the records of the script.
  if (!dryRun) await addRun(dataDir, begun, log)

  const run = async (): Promise<RunRecord> => {
    const signal = AbortSignal.any([order.signal, ...[lock, turn].flatMap((held) => held?.lost ?? [])])
    const counts = { ...noCounts }
    const context = { ...order, log, signal, counts, confirm: turn?.confirm }
    const { outcome, errors, retryAt } = await runScript(script, context)
    const ended = clock.wall()
    const record = {
      ...begun,
      ended: new Date(ended).toISOString(),
      duration: Math.round(clock.now() - start) / 1000,
      ...{ outcome, counts },
      errors: firstErrors(errors).map((error) => escapeControls(hideFolders(mask(error)))),
      ...(retryAt !== undefined && { retryAt: new Date(clampRetryAt(retryAt, ended)).toISOString() }),
    }
    log[outcome === 'done' ? 'info' : 'warn']({ script: name, outcome, ...counts, error: record.errors[0] }, `${name}: ended`)
    // Before the lock is released, so that the next holder finds the record.
    if (!dryRun) await addRun(dataDir, record, log)
    await turn?.release()
    await lock?.release()
    return record
  }
  return { begun, ended: run() }
}
