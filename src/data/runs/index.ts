import { oneAtATime } from '../../util/one-at-a-time.ts'
import type { ScriptMetrics } from '../../util/part-metrics.ts'
import { noCounts, noProgress, outcomes, type Script } from '../scripts/script.ts'
import { clampRetryAt } from '../scripts/waits.ts'
import { hideFolders, messageOf, missingSettings, type Refusal, type Run, type RunRequest, startRun } from './execute.ts'
import { DataDirError } from './folder.ts'
import { isSuccess, type RunRecord, type Trigger } from './history.ts'
import { type RecordedState, readStates, type ScriptsOptions } from './script-states.ts'
import { SharedLockError } from './shared-lock.ts'

export type StartReply =
  | { readonly state: 'started' | Refusal }
  | { readonly state: 'not configured'; readonly missing: readonly string[] }
  /** The reason contains no path; the log does. `no shared state`: unknown whether another replica runs it. */
  | { readonly state: 'no folder' | 'no shared state'; readonly reason: string }
  | { readonly state: 'stopping' | 'error' }
  /** Whole seconds since the last run, and until the next one may start. */
  | { readonly state: 'too soon'; readonly since: number; readonly wait: number }

type EndState = 'idle' | 'succeeded' | 'failed'
export type ScriptStatus = Awaited<ReturnType<Runs['status']>>[number]

interface RunsOptions extends ScriptsOptions, Pick<RunRequest, 'clock' | 'sharedLocks'> {
  /** Minimum time between two runs of a script, milliseconds. */
  readonly pauseMs: number
  /** Called when a run has ended, before its state changes from `running`. */
  readonly onEnd?: (script: Script) => Promise<void>
}

export type Runs = ReturnType<typeof createRuns>

const later = (a: RunRecord | undefined, b: RunRecord | undefined): RunRecord | undefined =>
  a === undefined || (b !== undefined && b.ended > a.ended) ? b : a

/** Runs the update scripts, each at most once at a time, and reports their state. */
export function createRuns(options: RunsOptions) {
  const { scripts, values, dataDir, pauseMs, clock, log, onEnd, sharedLocks } = options
  const stop = new AbortController()
  const running = new Map<string, Run & { readonly over: Promise<void> }>()
  const starting = new Map<string, Promise<StartReply>>()
  /** As of the last refresh. */
  let recorded: ReadonlyMap<string, RecordedState> = new Map()
  /** The last run of each script that has ended in this process, and the last that succeeded: they may not have been recorded. */
  const ended = new Map<string, Pick<RecordedState, 'last' | 'lastSuccess'>>()
  /** Ended runs of this process, by script and outcome. */
  const counts = new Map<string, number>()

  /** Reads after the call, not what a reading in progress has found: a run that has just ended must not look like a running one. */
  const refresh = oneAtATime(async () => {
    if (dataDir !== undefined) recorded = await readStates(options, dataDir, recorded)
  })
  void refresh()

  function statusOf(script: Script) {
    const { name, route } = script
    const found: RecordedState = recorded.get(name) ?? { isRunning: false }
    const mine = ended.get(name)
    const last = later(found.last, mine?.last)
    const run = running.get(name)
    // If it was the last to end, its end could not be recorded.
    const started = run?.begun ?? (found.started?.started === last?.started ? undefined : found.started)
    const endState: EndState = last === undefined ? 'idle' : isSuccess(last) ? 'succeeded' : 'failed'
    const state: EndState | 'running' =
      run !== undefined || found.isRunning ? 'running' : started === undefined ? endState : 'failed'
    const lastTime = (state === 'running' ? undefined : started?.started) ?? last?.ended
    return {
      ...{ script: name, route, state, last, own: found.own },
      /** The run in progress, if it is known; else a later run than `last` whose process was killed. */
      started,
      missing: missingSettings(script, values, dataDir),
      /** ISO 8601. */
      lastSuccess: [found.lastSuccess, mine?.lastSuccess]
        .flatMap((time) => time ?? [])
        .sort()
        .at(-1),
      /** When the last run ended, or if its process was killed, when it started. Unix milliseconds. */
      lastTime: lastTime === undefined ? undefined : Date.parse(lastTime),
    }
  }

  function addEnd(last: RunRecord): void {
    const { script, outcome } = last
    ended.set(script, { last, lastSuccess: isSuccess(last) ? last.ended : ended.get(script)?.lastSuccess })
    counts.set(`${script} ${outcome}`, (counts.get(`${script} ${outcome}`) ?? 0) + 1)
  }

  async function follow(script: Script, run: Run): Promise<void> {
    const { name } = script
    addEnd(await run.ended)
    await onEnd?.(script).catch((error: unknown) => log.error({ err: error }, `${name}: error after the run`))
    running.delete(name)
    await refresh()
  }

  /** Whether the last run, which may have been interrupted, was too recent for another one. */
  function findTooSoon({ started, last, lastTime: before }: ReturnType<typeof statusOf>): StartReply | undefined {
    if (before === undefined) return undefined
    const now = clock.wall()
    const given = started === undefined ? last?.retryAt : undefined
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
    await refresh()
    const status = statusOf(script)
    if (status.state === 'running') return { state: 'already running' }
    const early = findTooSoon(status)
    if (early !== undefined) return early
    const order = { script, values, dataDir, trigger, clock, log, progress: noProgress, signal: stop.signal, sharedLocks, due }
    const run = await startRun({ ...order, full: false, dryRun: false, force: false })
    if (typeof run === 'string') return { state: run }
    running.set(name, { ...run, over: follow(script, run) })
    return { state: 'started' }
  }

  function refused(name: string, trigger: Trigger, error: unknown): StartReply {
    if (error instanceof SharedLockError) {
      log.warn({ script: name }, `${name}: not started: ${error.message}`)
      return { state: 'no shared state', reason: error.message }
    }
    const isFolder = error instanceof DataDirError
    if (isFolder) log.error({ script: name }, `${name}: not started: ${error.message}`)
    else log.error({ script: name, err: error }, `${name}: not started`)
    const reason = isFolder ? error.publicMessage : hideFolders(messageOf(error))
    // A run that could not start, for example on a full disk, has failed.
    const now = new Date(clock.wall()).toISOString()
    const run = { script: name, trigger, started: now, ended: now, duration: 0 }
    addEnd({ ...run, outcome: 'failed', counts: noCounts, errors: [`not started: ${reason}`] })
    return isFolder ? { state: 'no folder', reason } : { state: 'error' }
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
    async status() {
      await refresh()
      return scripts.map(statusOf)
    },
    metrics(): readonly ScriptMetrics[] {
      // For the next scrape: this one must not wait for files.
      void refresh()
      return scripts.map((script) => {
        const { state, last, lastSuccess, own } = statusOf(script)
        const expires = own?.authorisationExpires
        return {
          script: script.name,
          running: state === 'running',
          // Every outcome from the start, for rate() in Prometheus.
          runs: Object.fromEntries(outcomes.map((outcome) => [outcome, counts.get(`${script.name} ${outcome}`) ?? 0])),
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
