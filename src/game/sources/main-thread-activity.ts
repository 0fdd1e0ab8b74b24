import type { SourceError } from '../errors.ts'
import type { MainThreadActivity } from './source.ts'

/** Tracks the requests of one source that the main thread of the server answers. */
export interface MainThreadTracker {
  /** Records a reply. Both times are monotonic milliseconds. */
  answered(sentAt: number, at: number): void
  /** Records an unrequested message from the main thread. */
  receivedEvent(at: number): void
  /**
   * Records a poll in which the connection was accepted, but no request was answered before the deadline.
   * @param error the error of the poll, which is thrown again while the source waits for its next attempt
   */
  unanswered(sentAt: number, error: SourceError): void
  /** Records a poll in which the connection was accepted too late to send a request. Earlier requests are still pending. */
  notSent(error: SourceError): void
  /** Records a failed poll. Unless the error is the same as before, pending requests are dropped. */
  failed(error: SourceError): void
  activity(): MainThreadActivity
}

/** @param lateAfterMs maximum duration of a request; default: three poll intervals */
export function createMainThreadTracker(lateAfterMs?: number): MainThreadTracker {
  let answeredAt: number | undefined
  let delayMs: number | undefined
  let waiting: { readonly since: number; readonly lastSentAt: number; readonly error: SourceError } | undefined

  return {
    answered(sentAt, at) {
      answeredAt = at
      delayMs = at - sentAt
      waiting = undefined
    },
    receivedEvent(at) {
      answeredAt = at
      waiting = undefined
    },
    unanswered(sentAt, error) {
      if (answeredAt !== undefined && answeredAt > sentAt) return
      waiting = { since: waiting?.since ?? sentAt, lastSentAt: sentAt, error }
    },
    notSent(error) {
      if (waiting) waiting = { ...waiting, error }
    },
    failed(error) {
      if (waiting?.error !== error) waiting = undefined
    },
    activity() {
      const activity: { -readonly [K in keyof MainThreadActivity]: MainThreadActivity[K] } = {}
      // Assigned one by one, because conditional spreads take three times as long.
      if (lateAfterMs !== undefined) activity.lateAfterMs = lateAfterMs
      if (answeredAt !== undefined) activity.answeredAt = answeredAt
      if (delayMs !== undefined) activity.delayMs = delayMs
      if (waiting !== undefined) {
        activity.waitingSince = waiting.since
        activity.lastSentAt = waiting.lastSentAt
      }
      return activity
    },
  }
}
