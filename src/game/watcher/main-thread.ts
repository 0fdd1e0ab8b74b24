import type { MainThread } from '../snapshot.ts'
import type { MainThreadActivity } from '../sources/source.ts'

/** Intervals between two polls after which an unanswered request means that the main thread hangs. */
const maxIntervals = 3

export interface MainThreadOptions {
  /** Monotonic milliseconds. */
  readonly now: number
  /** Milliseconds between two polls. */
  readonly interval: number
  /** Milliseconds after which an answer says nothing about the main thread any more. */
  readonly staleAfter: number
  /** Monotonic milliseconds: requests and answers until then do not count, as those from before an outage. */
  readonly since?: number
}

/**
 * Whether the main thread of a server that is up works, from what its sources have met with.
 * @param activities of each source that knows of the main thread
 * @returns undefined where that is unknown
 */
export function judgeMainThread(
  activities: readonly MainThreadActivity[],
  { now, interval, staleAfter, since = Number.NEGATIVE_INFINITY }: MainThreadOptions,
): MainThread | undefined {
  const newest = activities.reduce<MainThreadActivity | undefined>(
    (best, one) => (one.answeredAt !== undefined && one.answeredAt > (best?.answeredAt ?? since) ? one : best),
    undefined,
  )
  const lastAnswerAt = newest?.answeredAt ?? Number.NEGATIVE_INFINITY
  // Whatever any source has received from the main thread since shows that it works.
  const waiting = activities.flatMap(({ waitingSince, lastSentAt = waitingSince, lateAfterMs = maxIntervals * interval }) => {
    if (waitingSince === undefined || lastSentAt === undefined || lastSentAt <= since) return []
    const startedAt = Math.max(waitingSince, since)
    return startedAt > lastAnswerAt ? [{ waitedMs: now - startedAt, lateAfterMs }] : []
  })
  const waitedMs = Math.max(0, ...waiting.map((one) => one.waitedMs))
  const isLate = waiting.some((one) => one.waitedMs > one.lateAfterMs)
  if (isLate) return { responsive: false, delay: waitedMs / 1_000 }
  if (newest?.delayMs === undefined || now - lastAnswerAt > staleAfter) return undefined
  return { responsive: true, delay: Math.max(newest.delayMs, waitedMs) / 1_000 }
}
