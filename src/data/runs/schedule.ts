import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Cron } from 'croner'
import type { Clock } from '../../clock.ts'
import type { ScriptName } from '../../config/kinds.ts'
import type { SettingValues } from '../../config/settings.ts'
import type { Log } from '../../log.ts'
import type { Script } from '../scripts/script.ts'
import type { Store } from '../store.ts'
import { missingOf } from './execute.ts'
import { longestSilence } from './lock.ts'
import type { Runs, StartReply } from './runs.ts'

export interface Schedule {
  /** Unix milliseconds of the next run; undefined where none is planned. */
  next(name: ScriptName): number | undefined
  stop(): void
}

export interface ScheduleOptions {
  readonly runs: Pick<Runs, 'start' | 'status'>
  readonly scripts: readonly Script[]
  readonly values: SettingValues
  readonly clock: Clock
  readonly log: Log
  readonly store: Pick<Store, 'looked' | 'snapshots' | 'status'>
}

const daily = '0 3 * * *'
/** Services that start their daily run at the same minute would all ask the upstreams at once. Milliseconds. */
const jitter = 15 * 60_000
/** A run that was missed is made up for when the data is older than this. */
const oldest = 25 * 3_600_000
/** After a failure a restart of the service is no reason to try again at once. */
const leastPause = 3_600_000
/** Timers hold no longer. */
const longestTimer = 24 * 3_600_000

/** Whether somebody has set the script up: without a word in UPDATE_SCHEDULE only then it runs by itself. */
function isSetUp({ name }: Script, values: SettingValues): boolean {
  if (name === 'kcomebacks') return values.redditClientId !== undefined
  if (name === 'likedsongs') return true
  return values.projectsConfig !== undefined || existsSync(join(resolve(values.dataDir ?? ''), 'projects.config.json'))
}

const nextTime = (cron: string, after: number): number | undefined =>
  new Cron(cron, { paused: true, timezone: 'UTC' }).nextRun(new Date(after))?.getTime()

/** Runs each script by UPDATE_SCHEDULE, and makes up for a run that was missed while the service was down. */
export function startSchedule({ runs, scripts, values, clock, log, store }: ScheduleOptions): Schedule {
  const planned = new Map<ScriptName, number>()
  const cancels = new Map<ScriptName, () => void>()
  const catchUps = new Map<ScriptName, () => void>()
  let stopped = false

  const start = (name: ScriptName, trigger: 'schedule' | 'catch-up'): Promise<StartReply['state'] | undefined> =>
    runs.start(name, trigger).then(
      ({ state }) => {
        if (state !== 'started') log.info({ script: name, state }, `${name}: not started by the ${trigger}: ${state}`)
        return state
      },
      (error: unknown) => {
        log.error({ err: error, script: name }, `${name}: could not be started`)
        return undefined
      },
    )

  function wait(name: ScriptName, at: number, then: () => void): void {
    if (stopped) return
    const left = at - clock.wall()
    cancels.set(
      name,
      left <= longestTimer ? clock.after(Math.max(0, left), then) : clock.after(longestTimer, () => wait(name, at, then)),
    )
  }

  function plan(name: ScriptName, cron: string, spread: number): void {
    const due = nextTime(cron, clock.wall())
    if (due === undefined) {
      planned.delete(name)
      return
    }
    const at = due + Math.floor(Math.random() * spread)
    planned.set(name, at)
    wait(name, at, () => {
      void start(name, 'schedule')
      plan(name, cron, spread)
    })
  }

  /** Unix milliseconds of the newest data that the script has brought, 0: none; undefined: it is not known. */
  async function newestOf(name: ScriptName): Promise<number | undefined> {
    if (name === 'likedsongs') {
      const status = (await runs.status()).find(({ script }) => script === name)
      return status?.lastSuccess === undefined ? 0 : Date.parse(status.lastSuccess)
    }
    await store.looked(name)
    const status = store.status().find(({ database }) => database === name)
    // A copy from before says nothing of what is there by now.
    if (status?.kind === 'url' && status.state !== 'ready') return undefined
    return (store.snapshots().find(({ database }) => database === name)?.lastUpdate ?? 0) * 1000
  }

  /** @returns whether another look makes sense soon */
  async function catchUp(name: ScriptName, cron: string): Promise<boolean> {
    const newest = await newestOf(name)
    if (newest === undefined) return true
    const now = clock.wall()
    if (now - newest <= oldest || (nextTime(cron, newest) ?? now) > now) return false
    const last = (await runs.status()).find(({ script }) => script === name)?.last
    if (stopped || (last !== undefined && now - Date.parse(last.ended) < leastPause)) return false
    const state = await start(name, 'catch-up')
    if (state === 'started') {
      log.info({ script: name }, `${name}: its data is older than 25 hours, a run that was missed is made up for`)
    }
    // The lock may be one that the service left behind on the machine where it was before.
    return state === 'already running'
  }

  async function keepCatchingUp(name: ScriptName, cron: string): Promise<void> {
    if (!(await catchUp(name, cron)) || stopped) return
    catchUps.set(
      name,
      clock.after(longestSilence, () => beginCatchUp(name, cron)),
    )
  }

  function beginCatchUp(name: ScriptName, cron: string): void {
    keepCatchingUp(name, cron).catch((error: unknown) => log.error({ err: error, script: name }, `${name}: no catch-up`))
  }

  for (const script of scripts) {
    const { name } = script
    const given = values.updateSchedule?.[name]
    if (given === 'off' || missingOf(script, values).length > 0) continue
    if (given === undefined && !isSetUp(script, values)) continue
    plan(name, given ?? daily, given === undefined ? jitter : 0)
    beginCatchUp(name, given ?? daily)
  }

  return {
    next: (name) => planned.get(name),
    stop() {
      stopped = true
      for (const cancel of [...cancels.values(), ...catchUps.values()]) cancel()
    },
  }
}
