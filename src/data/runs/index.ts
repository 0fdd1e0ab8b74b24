import type { Clock } from '../../util/clock.ts'
import type { Log } from '../../util/log.ts'
import type { ScriptMetrics } from '../../util/part-metrics.ts'
import { noCounts, noProgress, type Outcome, outcomes, type Script, type ScriptSettings } from '../scripts/script.ts'
import { missingSettings, type Refusal, type Run, startRun } from './execute.ts'
import { DataDirError } from './folder.ts'
import { isLocked } from './lock.ts'
import { hideFolders } from './paths.ts'
import { isSuccess, type RunRecord, type Trigger } from './run-record.ts'
import { createScriptStates, type KnownState } from './script-states.ts'
import { SharedLockError, type SharedLocks } from './shared-lock.ts'
import { type TooSoon, tooSoon } from './too-soon.ts'

export type StartReply =
  | { readonly state: 'started' | Refusal }
  | { readonly state: 'not configured'; readonly missing: readonly string[] }
  /** The reason contains no path; the log does. */
  | { readonly state: 'no folder'; readonly reason: string }
  /** Unknown whether another replica runs it. */
  | { readonly state: 'no shared state'; readonly reason: string }
  | { readonly state: 'stopping' | 'error' }
  | ({ readonly state: 'too soon' } & TooSoon)

export interface ScriptStatus extends Omit<KnownState, 'lock'> {
  readonly script: string
  /** Route that starts it. */
  readonly route: string
  readonly state: 'idle' | 'running' | 'succeeded' | 'failed'
  /** Start of the run in progress, if known. ISO 8601. */
  readonly runningSince: string | undefined
  /** Environment names of required settings that are not set. */
  readonly missing: readonly string[]
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

export type Runs = ReturnType<typeof createRuns>

/** Runs the update scripts, each at most once at a time, and reports their state. */
export function createRuns({ scripts, values, dataDir, pauseMs, clock, log, onEnd, sharedLocks }: RunsOptions) {
  const stop = new AbortController()
  /** The runs of this process. */
  const running = new Map<string, { readonly started: string; readonly over: Promise<void> }>()
  const starting = new Map<string, Promise<StartReply>>()
  const states = createScriptStates({ scripts, values, dataDir, log })
  /** Ended runs of this process; every outcome from the start, for rate() in Prometheus. */
  const counts = new Map(
    scripts.map(({ name }) => [name, Object.fromEntries(outcomes.map((outcome) => [outcome, 0])) as Record<Outcome, number>]),
  )
  void states.refresh()

  const isRunning = (name: string): boolean => running.has(name) || states.of(name).lock !== undefined

  function addEnd(record: RunRecord): void {
    states.addEnd(record)
    const ofScript = counts.get(record.script)
    if (ofScript !== undefined) ofScript[record.outcome]++
  }

  async function follow(script: Script, run: Run): Promise<void> {
    const { name } = script
    addEnd(await run.ended)
    await onEnd?.(script).catch((error: unknown) => log.error({ err: error }, `${name}: error after the run`))
    states.released(name)
    void states.refresh()
  }

  async function start(script: Script, trigger: Trigger, due: number | undefined): Promise<StartReply> {
    const { name } = script
    const missing = missingSettings(script, values, dataDir)
    if (missing.length > 0 || dataDir === undefined) return { state: 'not configured', missing }
    await states.refresh()
    if (await isLocked(dataDir, name)) return { state: 'already running' }
    const early = tooSoon(states.of(name), pauseMs, clock.wall())
    if (early !== undefined) return { state: 'too soon', ...early }
    const order = { script, values, dataDir, trigger, clock, log, progress: noProgress, signal: stop.signal, sharedLocks, due }
    const run = await startRun({ ...order, full: false, dryRun: false, force: false })
    if (typeof run === 'string') return { state: run }
    running.set(name, { started: run.started, over: follow(script, run).finally(() => running.delete(name)) })
    return { state: 'started' }
  }

  /** A run that could not start, for example on a full disk, has failed. */
  function recordFailure(name: string, trigger: Trigger, reason: string): void {
    const now = new Date(clock.wall()).toISOString()
    const record: RunRecord = {
      ...{ script: name, trigger, started: now, ended: now, duration: 0, outcome: 'failed', counts: noCounts },
      errors: [`not started: ${reason}`],
    }
    addEnd(record)
  }

  async function refused(name: string, trigger: Trigger, error: unknown): Promise<StartReply> {
    if (error instanceof DataDirError) {
      log.error({ script: name }, `${name}: not started: ${error.message}`)
      recordFailure(name, trigger, error.publicMessage)
      return { state: 'no folder', reason: error.publicMessage }
    }
    if (error instanceof SharedLockError) {
      log.warn({ script: name }, `${name}: not started: ${error.message}`)
      return { state: 'no shared state', reason: error.message }
    }
    log.error({ script: name, err: error }, `${name}: not started`)
    recordFailure(name, trigger, hideFolders(error instanceof Error ? error.message : String(error)))
    return { state: 'error' }
  }

  return {
    /**
     * Never rejects.
     * @param due scheduled time, Unix milliseconds; undefined if the run was requested
     */
    async start(name: string, trigger: Trigger, due?: number): Promise<StartReply> {
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
    async status(): Promise<readonly ScriptStatus[]> {
      await states.refresh()
      return scripts.map((script) => {
        const { name, route } = script
        const { lock, last, interrupted: killed, ...known } = states.of(name)
        const interrupted = isRunning(name) ? undefined : killed
        const ended = last === undefined ? 'idle' : isSuccess(last) ? 'succeeded' : 'failed'
        return {
          script: name,
          route,
          state: isRunning(name) ? 'running' : interrupted === undefined ? ended : 'failed',
          runningSince: running.get(name)?.started ?? lock?.started,
          missing: missingSettings(script, values, dataDir),
          ...{ last, interrupted, ...known },
        }
      })
    },
    metrics(): readonly ScriptMetrics[] {
      // For the next scrape: this one must not wait for files.
      void states.refresh()
      return scripts.map(({ name }) => {
        const { last, lastSuccess, own } = states.of(name)
        const expires = own?.authorisationExpires
        return {
          script: name,
          running: isRunning(name),
          runs: counts.get(name) ?? {},
          ...(lastSuccess !== undefined && { lastSuccess: Date.parse(lastSuccess) / 1000 }),
          ...(last !== undefined && { duration: last.duration }),
          ...(expires !== undefined && { authorisationExpires: expires / 1000 }),
        }
      })
    },
    /** Aborts the runs in progress and waits for them. */
    async close() {
      stop.abort()
      await Promise.allSettled(starting.values())
      await Promise.allSettled([...running.values()].map(({ over }) => over))
    },
  }
}
