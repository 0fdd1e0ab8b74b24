export type UpstreamFailure = 'aborted' | 'malformed' | 'network' | 'rate_limited' | 'status' | 'timeout' | 'too_large'

/** A request to an upstream failed. The message contains no query, header or body: those may contain secrets. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError'
  readonly kind: UpstreamFailure
  /** Of `status`, `malformed` and `rate_limited`: the HTTP status. */
  readonly status: number | undefined
  /** Of `rate_limited`: when the upstream accepts requests again, Unix milliseconds, at most a day ahead. */
  readonly retryAt: number | undefined
  /** Of `status`: the body if it is JSON, which may contain an error code. Untrusted, but without the secrets of the request. */
  readonly body: unknown
  /** Of `status` 300 to 399: the absolute URL of the Location header. Untrusted. */
  readonly location: URL | undefined

  constructor(
    kind: UpstreamFailure,
    message: string,
    detail: Partial<Pick<UpstreamError, 'status' | 'retryAt' | 'body' | 'location' | 'cause'>> = {},
  ) {
    super(message, detail.cause === undefined ? {} : { cause: detail.cause })
    this.kind = kind
    this.status = detail.status
    this.retryAt = detail.retryAt
    this.body = detail.body
    this.location = detail.location
  }
}

/** Whether a retry may succeed: a network error, a timeout or a 5xx. */
export const isTransient = (error: unknown): boolean =>
  error instanceof UpstreamError &&
  (error.kind === 'network' || error.kind === 'timeout' || (error.kind === 'status' && (error.status ?? 0) >= 500))
