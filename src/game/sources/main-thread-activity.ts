import type { SourceError } from '../errors.ts'
import type { MainThreadActivity } from './source.ts'

interface WaitingRequests {
  readonly since: number
  readonly lastSentAt: number
  readonly error: SourceError
}

/**
 * Tracks the requests of one source that the main thread of the server answers.
 * @param lateAfterMs maximum duration of a request; default: three poll intervals
 */
export class MainThreadTracker {
  readonly #lateAfterMs: number | undefined
  #answeredAt: number | undefined
  #delayMs: number | undefined
  #waiting: WaitingRequests | undefined

  constructor(lateAfterMs?: number) {
    this.#lateAfterMs = lateAfterMs
  }

  /** Records a reply. Both times are monotonic milliseconds. */
  answered(sentAt: number, at: number): void {
    this.#answeredAt = at
    this.#delayMs = at - sentAt
    this.#waiting = undefined
  }

  /** Records an unrequested message from the main thread. */
  receivedEvent(at: number): void {
    this.#answeredAt = at
    this.#waiting = undefined
  }

  /**
   * Records a poll in which the connection was accepted, but no request was answered before the deadline.
   * @param error the error of the poll, which is thrown again while the source waits for its next attempt
   */
  unanswered(sentAt: number, error: SourceError): void {
    if (this.#answeredAt !== undefined && this.#answeredAt > sentAt) return
    this.#waiting = { since: this.#waiting?.since ?? sentAt, lastSentAt: sentAt, error }
  }

  /** Records a poll in which the connection was accepted too late to send a request. Earlier requests are still pending. */
  notSent(error: SourceError): void {
    if (this.#waiting) this.#waiting = { ...this.#waiting, error }
  }

  /** Records a failed poll. Unless the error is the same as before, pending requests are dropped. */
  failed(error: SourceError): void {
    if (this.#waiting?.error !== error) this.#waiting = undefined
  }

  activity(): MainThreadActivity {
    const activity: { -readonly [K in keyof MainThreadActivity]: MainThreadActivity[K] } = {}
    // Assigned one by one, because conditional spreads take three times as long.
    if (this.#lateAfterMs !== undefined) activity.lateAfterMs = this.#lateAfterMs
    if (this.#answeredAt !== undefined) activity.answeredAt = this.#answeredAt
    if (this.#delayMs !== undefined) activity.delayMs = this.#delayMs
    if (this.#waiting !== undefined) {
      activity.waitingSince = this.#waiting.since
      activity.lastSentAt = this.#waiting.lastSentAt
    }
    return activity
  }
}
