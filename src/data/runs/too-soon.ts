import { clampRetryAt } from '../scripts/waits.ts'
import type { RunRecord, StartedRun } from './run-record.ts'

/** Whole seconds. */
export interface TooSoon {
  /** Since the last run. */
  readonly since: number
  /** Until the next run may start. */
  readonly wait: number
}

/**
 * Whether the last run was too recent for another one.
 * @param runs the last run that has ended, and a later one that was interrupted
 * @param pauseMs minimum time between two runs, milliseconds
 * @param now Unix milliseconds
 * @returns undefined if the script may run
 */
export function tooSoon(
  { last, interrupted }: { readonly last: RunRecord | undefined; readonly interrupted: StartedRun | undefined },
  pauseMs: number,
  now: number,
): TooSoon | undefined {
  const record = interrupted === undefined ? last : undefined
  const lastTime = interrupted?.started ?? record?.ended
  if (lastTime === undefined) return undefined
  const before = Date.parse(lastTime)
  // Clamped: the file may be edited by hand or written by an older version.
  const retryAt = record?.retryAt === undefined ? before : clampRetryAt(Date.parse(record.retryAt), before)
  const until = Math.max(before + pauseMs, retryAt)
  // Do not wait if the clock was set back.
  if (!(now >= before && now < until)) return undefined
  return { since: Math.floor((now - before) / 1000), wait: Math.ceil((until - now) / 1000) }
}
