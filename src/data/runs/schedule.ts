import type { Clock } from '../../util/clock.ts'
import type { Script } from '../scripts/script.ts'
import { pause } from '../scripts/waits.ts'
import type { Store } from '../store/store.ts'
import { missingSettings } from './execute.ts'
import type { Runs, StartReply } from './index.ts'
import { staleMs } from './lock.ts'
import { type Schedule as CronSettings, nextTime } from './schedule-setting.ts'
import type { ScriptsOptions } from './script-states.ts'

interface ScheduleOptions extends ScriptsOptions {
  readonly runs: Pick<Runs, 'start' | 'status'>
  readonly schedule: CronSettings | undefined
  readonly clock: Clock
  readonly store: Pick<Store, 'lastUpdate'>
}

const daily = '0 3 * * *'
/** Maximum random delay of runs without UPDATE_SCHEDULE, so that not all services call the upstreams in the same minute. Milliseconds. */
const jitterMs = 15 * 60_000
/** Data older than this cause a catch-up run at the start. Milliseconds. */
const maxAgeMs = 25 * 3_600_000
/** Minimum time from a run to a catch-up run, so that restarts do not retry a failed run each time. Milliseconds. */
const minCatchUpPauseMs = 3_600_000
/** Maximum delay of one timer, milliseconds: the clock may be set meanwhile. */
const maxTimerMs = 60_000

export type Schedule = ReturnType<typeof startSchedule>

/** Runs each script by UPDATE_SCHEDULE. A run missed while the service was down starts when the service starts. */
export function startSchedule(options: ScheduleOptions) {
  const { runs, scripts, values, dataDir, clock, log, store } = options
  const planned = new Map<string, number>()
  const stopping = new AbortController()

  /** @param due Unix milliseconds without the random delay: the same on all replicas, so that only one of them runs it */
  async function start(name: string, trigger: 'schedule' | 'catch-up', due: number): Promise<StartReply['state']> {
    const { state } = await runs.start(name, trigger, due)
    if (state !== 'started') log.info({ script: name, state }, `${name}: not started by the ${trigger}: ${state}`)
    return state
  }

  async function follow(name: string, cron: string, spreadMs: number): Promise<void> {
    for (;;) {
      const due = nextTime(cron, clock.wall())
      if (due === undefined) break
      const at = due + Math.floor(Math.random() * spreadMs)
      planned.set(name, at)
      for (let left = at - clock.wall(); left > 0; left = at - clock.wall())
        await pause(clock, Math.min(left, maxTimerMs), stopping.signal)
      void start(name, 'schedule', due)
    }
    planned.delete(name)
  }

  /** Starts a missed run. @returns whether to try again soon */
  async function catchUp({ name, database }: Script, cron: string): Promise<boolean> {
    const lastUpdate = database === undefined ? undefined : await store.lastUpdate(database)
    if (database !== undefined && lastUpdate === undefined) return true
    const { lastSuccess, lastTime = Number.NEGATIVE_INFINITY } = (await runs.status()).find(({ script }) => script === name) ?? {}
    // Without data, it is 0.
    const newest = lastUpdate ?? (lastSuccess === undefined ? 0 : Date.parse(lastSuccess))
    const now = clock.wall()
    const missed = nextTime(cron, newest) ?? now
    if (now - newest <= maxAgeMs || missed > now) return false
    if (stopping.signal.aborted || now - lastTime < minCatchUpPauseMs) return false
    const state = await start(name, 'catch-up', missed)
    if (state === 'started') {
      log.info({ script: name }, `${name}: the data is older than 25 hours; starting the missed run`)
    }
    // The lock may be a stale one of another machine where the service ran before.
    return state === 'already running' || state === 'no shared state'
  }

  for (const script of scripts) {
    const { name } = script
    const given = options.schedule?.[name]
    if (given === 'off' || dataDir === undefined || missingSettings(script, values, dataDir).length > 0) continue
    if (given === undefined && !script.isConfigured(values, dataDir)) continue
    const cron = given ?? daily
    const failed = (error: unknown) => {
      if (!stopping.signal.aborted) log.error({ err: error, script: name }, `${name}: the schedule has failed`)
    }
    const catchUpSoon = async () => {
      while (await catchUp(script, cron)) await pause(clock, staleMs, stopping.signal)
    }
    follow(name, cron, given === undefined ? jitterMs : 0).catch(failed)
    catchUpSoon().catch(failed)
  }

  return {
    /** Unix milliseconds of the next run; undefined if none is planned. */
    next: (name: string) => planned.get(name),
    stop: () => stopping.abort(),
  }
}
