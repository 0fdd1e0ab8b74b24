import { abortable } from '../../abortable.ts'
import type { Clock } from '../../clock.ts'
import { type SourceError, toSourceError } from '../errors.ts'
import type { ConnectBackoff, SourceName } from '../sources/source.ts'
import { backoffMs, withJitter } from './backoff.ts'

const pauses = { firstMs: 1_000, maxMs: 30_000 }
/** A refused password does not get better by itself, servers log every attempt, and some ban for it. */
const authPauseMs = 300_000

/** The backoff of every connection that is kept, shared by all sessions with the same target and secret. */
export interface ConnectBackoffs {
  /**
   * A session's view of the shared state, which is dropped when the last session is released.
   * @param isProbe for a throw-away session: its timeout may be short, so that a timeout does not count
   */
  acquire(source: SourceName, target: string, secret: string, isProbe?: boolean): ConnectBackoff
}

interface Shared {
  sessions: number
  failures: number
  /** Why the last attempt failed, and until when there is no other. */
  failure: { readonly error: SourceError; readonly until: number } | undefined
  /** The target has accepted the secret: attempts may be made side by side. */
  isAccepted: boolean
  /** The attempt that is being made. */
  attempt: Promise<unknown> | undefined
}

export function createConnectBackoffs(clock: Clock, random: () => number): ConnectBackoffs {
  const all = new Map<string, Shared>()

  return {
    acquire(source, target, secret, isProbe = false) {
      const key = JSON.stringify([source, target, secret])
      const shared = all.get(key) ?? { sessions: 0, failures: 0, failure: undefined, isAccepted: false, attempt: undefined }
      all.set(key, shared)
      shared.sessions++
      let isReleased = false

      function throwIfPaused(): void {
        // A timer that was set for the end of the pause may fire a part of a millisecond early.
        if (shared.failure !== undefined && clock.now() + 0.9 < shared.failure.until) throw shared.failure.error
      }

      function failed(error: SourceError): number {
        // What only waits for the next attempt, or was cancelled, has not failed anew.
        const counts = error !== shared.failure?.error && error.code !== 'aborted' && !(isProbe && error.code === 'timeout')
        if (counts) {
          shared.failures++
          if (error.code === 'auth') shared.isAccepted = false
          const pause = error.code === 'auth' ? authPauseMs : withJitter(backoffMs(shared.failures, pauses), 0.5, random)
          shared.failure = { error, until: clock.now() + pause }
        }
        return shared.failure?.until ?? clock.now()
      }

      return {
        async attempt(connect, signal) {
          throwIfPaused()
          while (!shared.isAccepted && shared.attempt !== undefined) {
            await abortable(shared.attempt, signal)
            throwIfPaused()
          }
          const attempt = connect().catch((thrown: unknown) => {
            const error = toSourceError(thrown, target)
            failed(error)
            throw error
          })
          const ended = attempt.then(
            () => {
              shared.isAccepted = true
            },
            () => {},
          )
          shared.attempt = ended
          try {
            return await attempt
          } finally {
            if (shared.attempt === ended) shared.attempt = undefined
          }
        },
        failed,
        succeeded() {
          shared.failures = 0
          shared.failure = undefined
        },
        release() {
          if (isReleased) return
          isReleased = true
          shared.sessions--
          if (shared.sessions === 0) all.delete(key)
        },
      }
    },
  }
}
