import { resolve } from 'node:path'
import type { Clock } from '../../clock.ts'
import type { ScriptName } from '../../config/kinds.ts'
import type { SettingValues } from '../../config/settings.ts'
import type { ScriptFigures } from '../../figures.ts'
import type { Log } from '../../log.ts'
import { noProgress, type Outcome, outcomes, type Script } from '../scripts/script.ts'
import { missingOf, type Run, startRun } from './execute.ts'
import { DataDirError } from './folder.ts'
import { isSuccess, type RunRecord, readHistory, type Trigger } from './history.ts'
import { type Holder, holderOf } from './lock.ts'

export type StartReply =
  | { readonly state: 'started' | 'already running' }
  | { readonly state: 'not configured'; readonly missing: readonly string[] }
  /** DATA_DIR is no folder to work in. */
  | { readonly state: 'no folder'; readonly reason: string }
  /** Whole seconds. */
  | { readonly state: 'too soon'; readonly since: number; readonly wait: number }

export interface ScriptStatus {
  readonly script: ScriptName
  readonly state: 'idle' | 'running' | 'succeeded' | 'failed'
  /** Of the run under way, where it is known: when it started, ISO 8601. */
  readonly runningSince: string | undefined
  /** What must be set before it can run. */
  readonly missing: readonly string[]
  /** The last that has ended. */
  readonly last: RunRecord | undefined
  readonly lastSuccess: string | undefined
}

/** The update scripts of this service: each idle, running, succeeded or failed, and never running twice. */
export interface Runs {
  readonly names: readonly ScriptName[]
  start(name: ScriptName, trigger: Trigger): Promise<StartReply>
  status(): Promise<readonly ScriptStatus[]>
  figures(): readonly ScriptFigures[]
  /** Stops what is running and waits for its end. */
  close(): Promise<void>
}

export interface RunsOptions {
  readonly scripts: readonly Script[]
  readonly values: SettingValues
  readonly clock: Clock
  readonly log: Log
  /** Called when a run has ended, before it no longer counts as running. */
  readonly onEnd?: (run: RunRecord) => Promise<void>
}

export function createRuns({ scripts, values, clock, log, onEnd }: RunsOptions): Runs {
  const dataDir = values.dataDir === undefined ? undefined : resolve(values.dataDir)
  const stop = new AbortController()
  /** The runs of this process. */
  const running = new Map<ScriptName, { readonly started: string; readonly over: Promise<void> }>()
  /** Who held the lock at the last look: another process on the folder, or a run here that outlasts its end. */
  const holders = new Map<ScriptName, Holder>()
  const last = new Map<ScriptName, RunRecord>()
  const lastSuccess = new Map<ScriptName, string>()
  const ended = new Map<ScriptName, Map<Outcome, number>>(
    scripts.map(({ name }) => [name, new Map(outcomes.map((outcome) => [outcome, 0]))]),
  )

  /** Another process on the folder has runs too. */
  async function learn(): Promise<void> {
    if (dataDir === undefined) return
    // First: a run goes on record before it gives back its lock.
    for (const { name } of scripts) {
      const holder = await holderOf(dataDir, name)
      if (holder === undefined) holders.delete(name)
      else holders.set(name, holder)
    }
    const history = await readHistory(dataDir)
    for (const { name } of scripts) {
      const newest = history.runs.findLast(({ script }) => script === name)
      if (newest !== undefined && newest.ended >= (last.get(name)?.ended ?? '')) last.set(name, newest)
      const success = history.lastSuccess[name]
      if (success !== undefined && success >= (lastSuccess.get(name) ?? '')) lastSuccess.set(name, success)
    }
  }
  let learning: Promise<void> | undefined = learn()
  const learnAgain = () => {
    learning ??= learn().finally(() => {
      learning = undefined
    })
    return learning
  }
  void learning.finally(() => {
    learning = undefined
  })

  async function follow(name: ScriptName, run: Run): Promise<void> {
    const record = await run.ended
    last.set(name, record)
    if (isSuccess(record)) lastSuccess.set(name, record.ended)
    const counts = ended.get(name)
    counts?.set(record.outcome, (counts.get(record.outcome) ?? 0) + 1)
    await onEnd?.(record).catch((error: unknown) => log.error({ err: error }, `${name}: after its end`))
    holders.delete(name)
    void learnAgain()
  }

  function tooSoon(name: ScriptName): StartReply | undefined {
    const record = last.get(name)
    if (record === undefined) return undefined
    const [now, before] = [clock.wall(), Date.parse(record.ended)]
    const until = Math.max(before + (values.runPause ?? 0), record.retryAt === undefined ? 0 : Date.parse(record.retryAt))
    // A clock that was set back must not make anybody wait.
    if (now >= until || now < before) return undefined
    return { state: 'too soon', since: Math.floor((now - before) / 1000), wait: Math.ceil((until - now) / 1000) }
  }

  async function start(script: Script, trigger: Trigger): Promise<StartReply> {
    const { name } = script
    const missing = missingOf(script, values)
    if (missing.length > 0 || dataDir === undefined) return { state: 'not configured', missing }
    await learnAgain()
    if ((await holderOf(dataDir, name)) !== undefined) return { state: 'already running' }
    const early = tooSoon(name)
    if (early !== undefined) return early
    const order = { script, values, dataDir, trigger, clock, log, progress: noProgress, signal: stop.signal }
    const run = await startRun({ ...order, full: false, dryRun: false, force: false }).catch((error: unknown) => {
      if (error instanceof DataDirError) return error
      throw error
    })
    if (run instanceof DataDirError) {
      log.error({ script: name }, `${name}: not started: ${run.message}`)
      return { state: 'no folder', reason: run.message }
    }
    if (run === 'already running') return { state: run }
    running.set(name, { started: run.started, over: follow(name, run).finally(() => running.delete(name)) })
    return { state: 'started' }
  }

  const starting = new Map<ScriptName, Promise<StartReply>>()

  return {
    names: scripts.map(({ name }) => name),
    async start(name, trigger) {
      const script = scripts.find((one) => one.name === name)
      if (script === undefined) throw new Error(`no script ${name}`)
      if (running.has(name) || starting.has(name) || stop.signal.aborted) return { state: 'already running' }
      const reply = start(script, trigger).finally(() => starting.delete(name))
      starting.set(name, reply)
      return reply
    },
    async status() {
      await learnAgain()
      return scripts.map((script): ScriptStatus => {
        const { name } = script
        const record = last.get(name)
        const busy = running.has(name) || holders.has(name)
        const ended = record === undefined ? 'idle' : isSuccess(record) ? 'succeeded' : 'failed'
        return {
          script: name,
          state: busy ? 'running' : ended,
          runningSince: running.get(name)?.started ?? holders.get(name)?.taken,
          missing: missingOf(script, values),
          last: record,
          lastSuccess: lastSuccess.get(name),
        }
      })
    },
    figures() {
      // For the next time: a scrape does not wait for a file.
      void learnAgain()
      return scripts.map(({ name }) => {
        const [record, success] = [last.get(name), lastSuccess.get(name)]
        return {
          script: name,
          running: running.has(name) || holders.has(name),
          runs: Object.fromEntries(ended.get(name) ?? []),
          ...(success !== undefined && { lastSuccess: Date.parse(success) / 1000 }),
          ...(record !== undefined && { duration: record.duration }),
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
