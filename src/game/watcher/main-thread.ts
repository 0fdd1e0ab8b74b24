import { toSeconds } from '../../util/clock.ts'
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

/** Whether ticks may be stopped on purpose: by `/tick freeze`, or because no players are online. */
export function mayStopTicking({ tickFrozen, tickPaused, playersOnline, pauseWhenEmpty }: KnownFields): boolean {
  if (tickFrozen?.value === true || tickPaused?.value === true) return true
  return playersOnline?.value === 0 && (pauseWhenEmpty === undefined || pauseWhenEmpty.value > 0)
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
  const answeredAt = ({ answeredAt: at = Number.NEGATIVE_INFINITY }: MainThreadActivity) =>
    at > since ? at : Number.NEGATIVE_INFINITY
  const isFresh = (one: MainThreadActivity) => now - answeredAt(one) <= staleAfter
  const waiting = activities.flatMap((one) => {
    const { waitingSince, lastSentAt = waitingSince, lateAfterMs = maxIntervals * interval, showsTicks } = one
    if (showsTicks && mayStopTicking) return []
    if (waitingSince === undefined || lastSentAt === undefined || lastSentAt <= since) return []
    const startedAt = Math.max(waitingSince, since)
    // A later reply from the main thread to any source shows that it responds.
    const hasAnswered = activities.some((other) => other !== one && answeredAt(other) >= startedAt)
    return hasAnswered ? [] : [{ waitedMs: now - startedAt, lateAfterMs }]
  })
  const waitedMs = Math.max(0, ...waiting.map((one) => one.waitedMs))
  const isLate = waiting.some((one) => one.waitedMs > one.lateAfterMs)
  if (isLate) return { responsive: false, delay: toSeconds(waitedMs) }
  if (!activities.some(isFresh)) return undefined
  const [measured] = activities
    .filter((one) => one.delayMs !== undefined && isFresh(one))
    .sort((a, b) => answeredAt(b) - answeredAt(a))
  if (measured?.delayMs === undefined) return { responsive: true }
  return { responsive: true, delay: toSeconds(Math.max(measured.delayMs, waitedMs)) }
}
