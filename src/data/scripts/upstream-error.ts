type UpstreamFailure =
  | ('aborted' | 'malformed' | 'network' | 'rate_limited' | 'reauthorise')
  | ('redirect' | 'status' | 'timeout' | 'too_large')

interface Detail {
  /** Of `status`, `malformed` and `rate_limited`: the HTTP status. */
  readonly status?: number | undefined
  /** Of `rate_limited`: when the upstream accepts requests again, Unix milliseconds, at most a day ahead. */
  readonly retryAt?: number | undefined
  /** Of `status`: the body if it is JSON, which may contain an error code. Untrusted, but without the secrets of the request. */
  readonly body?: unknown
  readonly cause?: unknown
}

/** A request to an upstream failed. The message contains no query, header or body: those may contain secrets. */
export class UpstreamError extends Error {
  override readonly name: string = 'UpstreamError'
  readonly kind: UpstreamFailure
  readonly status: Detail['status']
  readonly retryAt: Detail['retryAt']
  readonly body: unknown

  constructor(kind: UpstreamFailure, message: string, { status, retryAt, body, ...cause }: Detail = {}) {
    super(message, cause)
    Object.assign(this, { status, retryAt, body })
    this.kind = kind
  }

  /** The same error with a message that says what to do. */
  explain(message: string): UpstreamError {
    return new UpstreamError(this.kind, message, { ...this, cause: this })
  }
}

/** Whether a retry may succeed: a network error, a timeout or a 5xx. */
export const isTransient = (error: unknown): boolean =>
  error instanceof UpstreamError && (error.kind === 'network' || error.kind === 'timeout' || (error.status ?? 0) >= 500)
