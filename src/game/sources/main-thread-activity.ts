import type { SourceError } from '../errors.ts'
import type { MainThreadActivity } from './source.ts'

/** Follows the requests of one source that the main thread of the server answers. */
export interface MainThreadTracker {
  /** A request that was sent at `sentAt` was answered. Both are monotonic milliseconds. */
  answered(sentAt: number, at: number): void
  /** Something came from the main thread that was not requested. */
  heard(at: number): void
  /**
   * The connection was accepted, but nothing of what was sent since was answered before the deadline.
   * @param error what the poll throws, and throws again while it waits for its next attempt
   */
  unanswered(sentAt: number, error: SourceError): void
  /** The connection was accepted, but no time was left to send anything: what is waited for, if anything, still is. */
  notSent(error: SourceError): void
  /** A poll has failed: for another reason than before, it is not the main thread that is waited for. */
  failed(error: SourceError): void
  activity(): MainThreadActivity
}

export function createMainThreadTracker(): MainThreadTracker {
  let answeredAt: number | undefined
  let delayMs: number | undefined
  let waiting: { readonly since: number; readonly lastSentAt: number; readonly error: SourceError } | undefined

  return {
    answered(sentAt, at) {
      answeredAt = at
      delayMs = at - sentAt
      waiting = undefined
    },
    heard(at) {
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
    activity: () => ({
      ...(answeredAt !== undefined && { answeredAt }),
      ...(delayMs !== undefined && { delayMs }),
      ...(waiting && { waitingSince: waiting.since, lastSentAt: waiting.lastSentAt }),
    }),
  }
}
