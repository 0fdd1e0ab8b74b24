import { toSeconds } from '../../clock.ts'
import type { KnownFields, MainThread } from '../snapshot.ts'
import type { MainThreadActivity } from '../sources/source.ts'

/** Number of poll intervals after which an unanswered request means that the main thread is hung. */
const maxIntervals = 3

export interface MainThreadOptions {
  /** Monotonic milliseconds. */
  readonly now: number
  /** Milliseconds between two polls. */
  readonly interval: number
  /** Milliseconds after which a reply is stale. */
  readonly staleAfter: number
  /** Requests and replies up to this time (monotonic milliseconds) are ignored, for example those before an outage. */
  readonly since?: number
  /** The server may have stopped its ticks on purpose, for example because it is empty. */
  readonly mayStopTicking?: boolean
}

/** Whether ticks may be stopped on purpose: by `/tick freeze`, or because no players are online, or nobody knows whether any are. */
export function mayStopTicking({ tickFrozen, tickPaused, playersOnline, pauseWhenEmpty }: KnownFields): boolean {
  if (tickFrozen?.value === true || tickPaused?.value === true) return true
  const canPause = pauseWhenEmpty === undefined || pauseWhenEmpty.value > 0
  return canPause && (playersOnline === undefined || playersOnline.value === 0)
}

/**
 * Determines whether the main thread of a server that is up responds.
 * @param activities from each source whose requests the main thread answers
 * @returns undefined if unknown
 */
export function judgeMainThread(
  activities: readonly MainThreadActivity[],
  { now, interval, staleAfter, since = Number.NEGATIVE_INFINITY, mayStopTicking = false }: MainThreadOptions,
): MainThread | undefined {
  // Most servers are read by no such source.
  if (activities.length === 0) return undefined
  const newest = activities.reduce<MainThreadActivity | undefined>(
    (best, one) => (one.answeredAt !== undefined && one.answeredAt > (best?.answeredAt ?? since) ? one : best),
    undefined,
  )
  const lastAnswerAt = newest?.answeredAt ?? Number.NEGATIVE_INFINITY
  // A later reply from the main thread to any source shows that it responds.
  const waiting = activities.flatMap(
    ({ waitingSince, lastSentAt = waitingSince, lateAfterMs = maxIntervals * interval, showsTicks }) => {
      if (showsTicks && mayStopTicking) return []
      if (waitingSince === undefined || lastSentAt === undefined || lastSentAt <= since) return []
      const startedAt = Math.max(waitingSince, since)
      return startedAt > lastAnswerAt ? [{ waitedMs: now - startedAt, lateAfterMs }] : []
    },
  )
  const waitedMs = Math.max(0, ...waiting.map((one) => one.waitedMs))
  const isLate = waiting.some((one) => one.waitedMs > one.lateAfterMs)
  if (isLate) return { responsive: false, delay: toSeconds(waitedMs) }
  if (newest === undefined || now - lastAnswerAt > staleAfter) return undefined
  const { delayMs } = newest
  return delayMs === undefined ? { responsive: true } : { responsive: true, delay: toSeconds(Math.max(delayMs, waitedMs)) }
}
