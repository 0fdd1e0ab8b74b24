import { abortable } from '../../abortable.ts'
import type { Clock } from '../../clock.ts'
import { type SourceError, toSourceError } from '../errors.ts'
import type { ConnectBackoff, SourceName } from '../sources/source.ts'
import { backoffMs, withJitter } from './backoff.ts'

const pauses = { firstMs: 1_000, maxMs: 30_000 }
/** A rejected password rarely starts working, servers log every attempt, and some ban the client. */
const authPauseMs = 300_000

/** One session's view of the backoff. */
interface SharedBackoff extends ConnectBackoff {
  /** Ends the pause, because the server is reachable again. The pause after a rejected secret remains. */
  endPause(): void
}

/** The backoffs of the persistent connections of one server. */
export interface ServerBackoffs {
  acquire(source: SourceName, target: string, secret: string): ConnectBackoff
  /** Ends the pauses, because the server is reachable again. Those after a rejected secret remain. */
  endPauses(): void
}

/** The backoff of persistent connections, shared by all sessions with the same target and secret. */
export interface ConnectBackoffs {
  /**
   * Returns the shared backoff for one session. The state is dropped when the last session is released.
   * @param isProbe for the session of a probe: its timeout may be short, so a timeout is not counted as a failure
   */
  acquire(source: SourceName, target: string, secret: string, isProbe?: boolean): SharedBackoff
}

interface Shared {
  sessions: number
  failures: number
  /** Why the last attempt failed, and until when no other is made. */
  failure: { readonly error: SourceError; readonly until: number } | undefined
  /** The target has accepted the secret: attempts may be made concurrently. */
  isAccepted: boolean
  /** The attempt in progress. */
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
        // A timer set for the end of the pause may fire up to a millisecond early.
        if (shared.failure !== undefined && clock.now() + 0.9 < shared.failure.until) throw shared.failure.error
      }

      function reset(): void {
        shared.failures = 0
        shared.failure = undefined
      }

      function failed(error: SourceError): number {
        // An error thrown during the pause, or by a cancelled attempt, is not a new failure.
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
        succeeded: reset,
        endPause() {
          if (shared.failure?.error.code !== 'auth') reset()
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

/** @param isProbe as for `acquire` of `all` */
export function createServerBackoffs(all: ConnectBackoffs, isProbe: boolean): ServerBackoffs {
  /** Created with the first session: most servers have none. */
  let sessions: Set<SharedBackoff> | undefined
  return {
    acquire(source, target, secret) {
      const backoff = all.acquire(source, target, secret, isProbe)
      sessions ??= new Set()
      sessions.add(backoff)
      return {
        ...backoff,
        release() {
          sessions?.delete(backoff)
          backoff.release()
        },
      }
    },
    endPauses() {
      for (const backoff of sessions ?? []) backoff.endPause()
    },
  }
}
