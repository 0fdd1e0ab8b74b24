import { type AbortSignalLike, abortable } from '../../util/abortable.ts'
import { backoffMs, withJitter } from '../../util/backoff.ts'
import type { Clock } from '../../util/clock.ts'
import { type SourceError, toSourceError } from '../errors.ts'
import type { SourceName } from '../sources/names.ts'
import type { ConnectBackoff } from '../sources/source.ts'

const pauses = { firstMs: 1_000, maxMs: 30_000 }
/** A rejected password rarely starts working, servers log every attempt, and some ban the client. */
const authPauseMs = 300_000

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

/** The backoff of persistent connections, shared by all sessions with the same target and secret. */
export function createConnectBackoffs(clock: Clock, random: () => number) {
  const all = new Map<string, Shared>()

  return {
    /**
     * Returns the shared backoff for one session. The state is dropped when the last session is released.
     * @param isProbe for the session of a probe: its timeout may be short, so a timeout is not counted as a failure
     */
    acquire(source: SourceName, target: string, secret: string, isProbe = false): SessionBackoff {
      const key = JSON.stringify([source, target, secret])
      const shared = all.get(key) ?? { sessions: 0, failures: 0, failure: undefined, isAccepted: false, attempt: undefined }
      all.set(key, shared)
      shared.sessions++
      return new SessionBackoff({ clock, random, target, isProbe, all, key, shared })
    },
  }
}

interface SessionBackoffOptions {
  readonly clock: Clock
  /** 0 <= n < 1, for jitter. */
  readonly random: () => number
  readonly target: string
  readonly isProbe: boolean
  readonly all: Map<string, Shared>
  /** The key of `shared` in `all`. */
  readonly key: string
  readonly shared: Shared
}

export class SessionBackoff implements ConnectBackoff {
  readonly #options: SessionBackoffOptions
  #isReleased = false

  constructor(options: SessionBackoffOptions) {
    this.#options = options
  }

  get isReleased(): boolean {
    return this.#isReleased
  }

  async attempt<T>(connect: () => Promise<T>, signal: AbortSignalLike): Promise<T> {
    const { shared, target } = this.#options
    this.#throwIfPaused()
    while (!shared.isAccepted && shared.attempt !== undefined) {
      await abortable(shared.attempt, signal)
      this.#throwIfPaused()
    }
    const attempt = connect().catch((thrown: unknown) => {
      const error = toSourceError(thrown, target)
      this.failed(error)
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
  }

  failed(error: SourceError): number {
    const { clock, random, isProbe, shared } = this.#options
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

  succeeded(): void {
    const { shared } = this.#options
    shared.failures = 0
    shared.failure = undefined
  }

  /** Ends the pause, because the server is reachable again. The pause after a rejected secret remains, and so does that of others. */
  endPause(): void {
    if (!this.#isReleased && this.#options.shared.failure?.error.code !== 'auth') this.succeeded()
  }

  release(): void {
    if (this.#isReleased) return
    this.#isReleased = true
    const { all, key, shared } = this.#options
    shared.sessions--
    if (shared.sessions === 0) all.delete(key)
  }

  #throwIfPaused(): void {
    const { clock, shared } = this.#options
    // A timer set for the end of the pause may fire up to a millisecond early.
    if (shared.failure !== undefined && clock.now() + 0.9 < shared.failure.until) throw shared.failure.error
  }
}
