/** An error whose message may be sent to the client: mapped to problem+json in `http/replies/problem.ts`. */
export class RequestError extends Error {
  override readonly name = 'RequestError'
  readonly status: number
  /** Stable upper-case identifier, e.g. `INVALID_PARAMETER`. */
  readonly code: string
  /** Extra reply headers, e.g. `Retry-After`. */
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, code: string, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message)
    this.status = status
    this.code = code
    this.headers = headers
  }
}

export const invalidParameter = (message: string): RequestError => new RequestError(400, 'INVALID_PARAMETER', message)

export const notFound = (message: string): RequestError => new RequestError(404, 'NOT_FOUND', message)

const retryHeader = (seconds: number) => ({ 'retry-after': String(Math.max(1, Math.ceil(seconds))) })

/** @param retryAfter seconds until a retry makes sense; rounded up, at least 1 */
export const unavailable = (code: string, message: string, retryAfter: number): RequestError =>
  new RequestError(503, code, message, retryHeader(retryAfter))

/** One client has reached its limit. @param retryAfter as for unavailable() */
export const tooManyRequests = (message: string, retryAfter: number): RequestError =>
  new RequestError(429, 'TOO_MANY_REQUESTS', message, retryHeader(retryAfter))
