import type { Clock } from '../../clock.ts'
import type { Log } from '../../log.ts'
import type { ScriptMetrics } from '../../part-metrics.ts'
import {
  noCounts,
  noProgress,
  type Outcome,
  outcomes,
  type Script,
  type ScriptSettings,
  type ScriptState,
} from '../scripts/script.ts'
import { clampRetryAt } from '../scripts/waits.ts'
import { missingSettings, type Refusal, type Run, startRun } from './execute.ts'
import { DataDirError } from './folder.ts'
import { addRun, isSuccess, type RunRecord, readHistory, type StartedRun, type Trigger } from './history.ts'
import { type Holder, holderOf } from './lock.ts'
import { hideFolders } from './paths.ts'
import { SharedLockError, type SharedLocks } from './shared-lock.ts'

export type StartReply =
  | { readonly state: 'started' | Refusal }
  | { readonly state: 'not configured'; readonly missing: readonly string[] }
  /** The reason contains no path; the log does. */
  | { readonly state: 'no folder'; readonly reason: string }
  /** Unknown whether another replica runs it. */
  | { readonly state: 'no shared state'; readonly reason: string }
  | { readonly state: 'stopping' | 'error' }
  /** Whole seconds. */
  | { readonly state: 'too soon'; readonly since: number; readonly wait: number }

export interface ScriptStatus {
  readonly script: string
  /** Route that starts it. */
  readonly route: string
  readonly state: 'idle' | 'running' | 'succeeded' | 'failed'
  /** Start of the run in progress, if known. ISO 8601. */
  readonly runningSince: string | undefined
  /** Environment names of required settings that are not set. */
  readonly missing: readonly string[]
  /** The last run that has ended. */
  readonly last: RunRecord | undefined
  /** A later run whose process was killed; only its start is known. */
  readonly interrupted: StartedRun | undefined
  readonly lastSuccess: string | undefined
  /** Undefined if the script has no state, or it could not be read. */
  readonly own: ScriptState | undefined
}

/** Runs the update scripts, each at most once at a time, and reports their state. */
export interface Runs {
  /**
   * Never rejects.
   * @param due scheduled time, Unix milliseconds; undefined if the run was requested
   */
  start(name: string, trigger: Trigger, due?: number): Promise<StartReply>
  status(): Promise<readonly ScriptStatus[]>
  metrics(): readonly ScriptMetrics[]
  /** Aborts the runs in progress and waits for them. */
  close(): Promise<void>
}

export interface RunsOptions {
  readonly scripts: readonly Script[]
  readonly values: ScriptSettings
  /** Absolute; undefined if DATA_DIR is not set. */
  readonly dataDir: string | undefined
  /** Minimum time between two runs of a script, milliseconds. */
  readonly pauseMs: number
  readonly clock: Clock
  readonly log: Log
  /** Called when a run has ended, before its state changes from `running`. */
  readonly onEnd?: (script: Script) => Promise<void>
  /** Locks shared with other replicas; undefined if there are none. */
  readonly sharedLocks?: SharedLocks | undefined
}

const isDiskFull = (error: unknown): boolean => {
  const { code } = (error ?? {}) as NodeJS.ErrnoException
  return code === 'ENOSPC' || code === 'EDQUOT'
}

export function createRuns({ scripts, values, dataDir, pauseMs, clock, log, onEnd, sharedLocks }: RunsOptions): Runs {
  const stop = new AbortController()
  /** The runs of this process. */
  const running = new Map<string, { readonly started: string; readonly over: Promise<void> }>()
  /** Lock holders at the last read: other processes that use the folder, or a script of this process that ignored its abort. */
  const holders = new Map<string, Partial<Holder>>()
  const last = new Map<string, RunRecord>()
  const interrupted = new Map<string, StartedRun>()
  const lastSuccess = new Map<string, string>()
  const states = new Map<string, ScriptState>()
  const ended = new Map<string, Map<Outcome, number>>(
    scripts.map(({ name }) => [name, new Map(outcomes.map((outcome) => [outcome, 0]))]),
  )

  /** Reads the lock files and records: other processes that use the folder run scripts too. */
  async function readState(folder: string): Promise<void> {
    // Locks before records: a run is recorded before its lock is released.
    for (const { name } of scripts) {
      const holder = await holderOf({ folder, name, clock })
      if (holder === undefined) holders.delete(name)
      else holders.set(name, holder)
    }
    const history = await readHistory(folder)
    for (const { name } of scripts) {
      const newest = history.runs.findLast(({ script }) => script === name)
      if (newest !== undefined && newest.ended >= (last.get(name)?.ended ?? '')) last.set(name, newest)
      const success = history.lastSuccess[name]
      if (success !== undefined && success >= (lastSuccess.get(name) ?? '')) lastSuccess.set(name, success)
    }
    for (const { name } of scripts) {
      const run = await findInterrupted(folder, name, history.started)
      if (run === undefined) interrupted.delete(name)
      else interrupted.set(name, run)
    }
    for (const script of scripts) await readOwnState(script, folder)
  }

  /** The run that is recorded as started, but whose lock no process holds. */
  async function findInterrupted(
    folder: string,
    name: string,
    started: readonly StartedRun[] = [],
  ): Promise<StartedRun | undefined> {
    const run = started.find(({ script }) => script === name)
    if (run === undefined || holders.has(name) || (await holderOf({ folder, name, clock })) !== undefined) return undefined
    // Read again: the run may have been recorded and its lock released since the file was read.
    const { started: now = [] } = await readHistory(folder)
    return now.find((one) => one.script === name && one.started === run.started)
  }

  async function readOwnState(script: Script, folder: string): Promise<void> {
    try {
      const state = await script.readState?.(values, folder)
      if (state !== undefined) states.set(script.name, state)
    } catch (error) {
      states.delete(script.name)
      log.warn({ script: script.name, err: error }, `${script.name}: the state cannot be read`)
    }
  }
  let reading: Promise<void> | undefined
  const refresh = (): Promise<void> => {
    if (dataDir === undefined) return Promise.resolve()
    reading ??= readState(dataDir).finally(() => {
      reading = undefined
    })
    return reading
  }
  void refresh()

  function recordEnd(record: RunRecord): void {
    const { script: name } = record
    last.set(name, record)
    if (isSuccess(record)) lastSuccess.set(name, record.ended)
    const counts = ended.get(name)
    counts?.set(record.outcome, (counts.get(record.outcome) ?? 0) + 1)
  }

  async function follow(script: Script, run: Run): Promise<void> {
    const { name } = script
    recordEnd(await run.ended)
    await onEnd?.(script).catch((error: unknown) => log.error({ err: error }, `${name}: error after the run`))
    holders.delete(name)
    void refresh()
  }

  function tooSoon(name: string): StartReply | undefined {
    const killed = interrupted.get(name)
    const record = killed === undefined ? last.get(name) : undefined
    const lastTime = killed?.started ?? record?.ended
    if (lastTime === undefined) return undefined
    const [now, before] = [clock.wall(), Date.parse(lastTime)]
    // Clamped: the file may be edited by hand or written by an older version.
    const retryAt = record?.retryAt === undefined ? before : clampRetryAt(Date.parse(record.retryAt), before)
    const until = Math.max(before + pauseMs, retryAt)
    // Do not wait if the clock was set back.
    if (!(now >= before && now < until)) return undefined
    return { state: 'too soon', since: Math.floor((now - before) / 1000), wait: Math.ceil((until - now) / 1000) }
  }

  async function start(script: Script, trigger: Trigger, due: number | undefined): Promise<StartReply> {
    const { name } = script
    const missing = missingSettings(script, values, dataDir)
    if (missing.length > 0 || dataDir === undefined) return { state: 'not configured', missing }
    await refresh()
    if ((await holderOf({ folder: dataDir, name, clock })) !== undefined) return { state: 'already running' }
    const early = tooSoon(name)
    if (early !== undefined) return early
    const order = { script, values, dataDir, trigger, clock, log, progress: noProgress, signal: stop.signal, sharedLocks, due }
    const run = await startRun({ ...order, full: false, dryRun: false, force: false })
    if (typeof run === 'string') return { state: run }
    running.set(name, { started: run.started, over: follow(script, run).finally(() => running.delete(name)) })
    return { state: 'started' }
  }

  /** Records a run that could not start, for example on a full disk, as failed. */
  async function recordFailure(name: string, trigger: Trigger, reason: string, cause: unknown): Promise<void> {
    const now = new Date(clock.wall()).toISOString()
    const record: RunRecord = {
      ...{ script: name, trigger, started: now, ended: now, duration: 0, outcome: 'failed', counts: noCounts },
      errors: [`not started: ${reason}`],
    }
    recordEnd(record)
    // Only on a full disk: in a read-only folder the retries would take seconds and fail.
    if (dataDir !== undefined && isDiskFull(cause)) await addRun(dataDir, record, log)
  }

  async function refused(name: string, trigger: Trigger, error: unknown): Promise<StartReply> {
    if (error instanceof DataDirError) {
      log.error({ script: name }, `${name}: not started: ${error.message}`)
      await recordFailure(name, trigger, error.publicMessage, error.cause)
      return { state: 'no folder', reason: error.publicMessage }
    }
    if (error instanceof SharedLockError) {
      log.warn({ script: name }, `${name}: not started: ${error.message}`)
      return { state: 'no shared state', reason: error.message }
    }
    log.error({ script: name, err: error }, `${name}: not started`)
    await recordFailure(name, trigger, hideFolders(error instanceof Error ? error.message : String(error)), error)
    return { state: 'error' }
  }

  const starting = new Map<string, Promise<StartReply>>()

  return {
    async start(name, trigger, due) {
      const script = scripts.find((one) => one.name === name)
      if (script === undefined) throw new Error(`no script ${name}`)
      if (stop.signal.aborted) return { state: 'stopping' }
      if (running.has(name) || starting.has(name)) return { state: 'already running' }
      const reply = start(script, trigger, due)
        .catch((error: unknown) => refused(name, trigger, error))
        .finally(() => starting.delete(name))
      starting.set(name, reply)
      return reply
    },
    async status() {
      await refresh()
      return scripts.map((script): ScriptStatus => {
        const { name, route } = script
        const record = last.get(name)
        const isRunning = running.has(name) || holders.has(name)
        const killed = isRunning ? undefined : interrupted.get(name)
        const ended = record === undefined ? 'idle' : isSuccess(record) ? 'succeeded' : 'failed'
        return {
          script: name,
          route,
          state: isRunning ? 'running' : killed === undefined ? ended : 'failed',
          runningSince: running.get(name)?.started ?? holders.get(name)?.taken,
          missing: missingSettings(script, values, dataDir),
          last: record,
          interrupted: killed,
          lastSuccess: lastSuccess.get(name),
          own: states.get(name),
        }
      })
    },
    metrics() {
      // For the next scrape: this one must not wait for files.
      void refresh()
      return scripts.map(({ name }) => {
        const [record, success] = [last.get(name), lastSuccess.get(name)]
        const expires = states.get(name)?.authorisationExpires
        return {
          script: name,
          running: running.has(name) || holders.has(name),
          runs: Object.fromEntries(ended.get(name) ?? []),
          ...(success !== undefined && { lastSuccess: Date.parse(success) / 1000 }),
          ...(record !== undefined && { duration: record.duration }),
          ...(expires !== undefined && { authorisationExpires: expires / 1000 }),
        }
      })
    },
    async close() {
      stop.abort()
      await Promise.allSettled(starting.values())
      await Promise.allSettled([...running.values()].map(({ over }) => over))
    },
  }
}
