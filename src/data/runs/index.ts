import type { ScriptMetrics } from '../../util/part-metrics.ts'
import { noCounts, noProgress, type Outcome, outcomes, type Script } from '../scripts/script.ts'
import { clampRetryAt } from '../scripts/waits.ts'
import { hideFolders, messageOf, missingSettings, type Refusal, type Run, type RunRequest, startRun } from './execute.ts'
import { DataDirError } from './folder.ts'
import { isSuccess, type RunRecord, type Trigger } from './history.ts'
import { isLocked } from './lock.ts'
import { createScriptStates, type KnownState, type ScriptsOptions } from './script-states.ts'
import { SharedLockError } from './shared-lock.ts'

export type StartReply =
  | { readonly state: 'started' | Refusal }
  | { readonly state: 'not configured'; readonly missing: readonly string[] }
  /** The reason contains no path; the log does. `no shared state`: unknown whether another replica runs it. */
  | { readonly state: 'no folder' | 'no shared state'; readonly reason: string }
  | { readonly state: 'stopping' | 'error' }
  /** Whole seconds since the last run, and until the next one may start. */
  | { readonly state: 'too soon'; readonly since: number; readonly wait: number }

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

interface RunsOptions extends ScriptsOptions, Pick<RunRequest, 'clock' | 'sharedLocks'> {
  /** Minimum time between two runs of a script, milliseconds. */
  readonly pauseMs: number
  /** Called when a run has ended, before its state changes from `running`. */
  readonly onEnd?: (script: Script) => Promise<void>
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

  /** Whether the last run, which may have been interrupted, was too recent for another one. */
  function findTooSoon(name: string): StartReply | undefined {
    const { last, interrupted } = states.of(name)
    const lastTime = interrupted?.started ?? last?.ended
    if (lastTime === undefined) return undefined
    const [now, before] = [clock.wall(), Date.parse(lastTime)]
    const given = interrupted === undefined ? last?.retryAt : undefined
    // Clamped: the file may be edited by hand or written by an older version.
    const retryAt = given === undefined ? before : clampRetryAt(Date.parse(given), before)
    const until = Math.max(before + pauseMs, retryAt)
    // Do not wait if the clock was set back.
    if (!(now >= before && now < until)) return undefined
    return { state: 'too soon', since: Math.floor((now - before) / 1000), wait: Math.ceil((until - now) / 1000) }
  }

  async function start(script: Script, trigger: Trigger, due: number | undefined): Promise<StartReply> {
    const { name } = script
    const missing = missingSettings(script, values, dataDir)
    if (missing.length > 0 || dataDir === undefined) return { state: 'not configured', missing }
    await states.refresh()
    if (await isLocked(dataDir, name)) return { state: 'already running' }
    const early = findTooSoon(name)
    if (early !== undefined) return early
    const order = { script, values, dataDir, trigger, clock, log, progress: noProgress, signal: stop.signal, sharedLocks, due }
    const run = await startRun({ ...order, full: false, dryRun: false, force: false })
    if (typeof run === 'string') return { state: run }
    running.set(name, { started: run.started, over: follow(script, run).finally(() => running.delete(name)) })
    return { state: 'started' }
  }

  /** A run that could not start, for example on a full disk, has failed. */
  function recordFailure(name: string, trigger: Trigger, reason: string): void {
    const now = new Date(clock.wall()).toISOString()
    const run = { script: name, trigger, started: now, ended: now, duration: 0 }
    addEnd({ ...run, outcome: 'failed', counts: noCounts, errors: [`not started: ${reason}`] })
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
    recordFailure(name, trigger, hideFolders(messageOf(error)))
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
