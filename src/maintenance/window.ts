import { Cron } from 'croner'
import { serverPatterns } from '../util/wildcard.ts'

/** A planned maintenance window of the configuration. Times are Unix milliseconds. */
export interface MaintenanceWindow {
  /** Patterns of names of servers and groups. */
  readonly servers: readonly string[]
  readonly reason: string
  readonly time:
    | { readonly from: number; readonly to: number }
    | { readonly schedule: string; readonly timezone: string; readonly durationMs: number }
}

/** Once that a window is open. */
export interface Occurrence {
  readonly servers: readonly string[]
  readonly from: number
  readonly to: number
  readonly reason: string
}

/** Finds the occurrences of a window. */
export interface OccurrenceFinder {
  readonly matches: ReturnType<typeof serverPatterns>
  /** The occurrence that is open at this time; of several that overlap, the last. */
  at(time: number): Occurrence | undefined
  /** The first occurrence that begins after this time. */
  after(time: number): Occurrence | undefined
}

export function createOccurrences({ servers, reason, time }: MaintenanceWindow): OccurrenceFinder {
  const matches = serverPatterns(servers)
  if ('from' in time) {
    const occurrence = { servers, reason, ...time }
    return {
      matches,
      at: (now) => (now >= time.from && now < time.to ? occurrence : undefined),
      after: (now) => (now < time.from ? occurrence : undefined),
    }
  }
  const { schedule, timezone, durationMs } = time
  const cron = new Cron(schedule, { paused: true, timezone })
  const occurrence = (start: Date | null | undefined) =>
    start ? { servers, reason, from: start.getTime(), to: start.getTime() + durationMs } : undefined
  return {
    matches,
    at(now) {
      // The library finds runs that are at least a second before.
      const last = occurrence(cron.previousRuns(1, new Date(now + 1_000))[0])
      return last !== undefined && last.from <= now && now < last.to ? last : undefined
    },
    after: (now) => occurrence(cron.nextRun(new Date(now))),
  }
}
