import { createHash } from 'node:crypto'
import { type Upstream, UpstreamError } from '../upstream.ts'

/** What to do about an error of Last.fm: its own codes, from its API documentation. */
export type LastfmFailure = 'reauthorise' | 'stop' | 'skip' | 'back_off'

const failures: Readonly<Record<number, LastfmFailure>> = {
  4: 'stop', // authentication failed
  6: 'skip', // invalid parameters: the song is not one that can be loved
  8: 'back_off', // operation failed
  9: 'reauthorise', // invalid session key
  10: 'stop', // invalid API key
  11: 'back_off', // service offline
  13: 'stop', // invalid signature
  16: 'back_off', // temporarily unavailable
  26: 'stop', // API key suspended
}

export class LastfmError extends Error {
  override readonly name = 'LastfmError'
  readonly failure: LastfmFailure
  readonly code: number

  constructor(failure: LastfmFailure, code: number, message: string) {
    super(message)
    this.failure = failure
    this.code = code
  }
}

export interface LastfmKeys {
  readonly apiKey: string
  readonly apiSecret: string
  /** Absent while it is being asked for. */
  readonly sessionKey?: string
}

/** MD5 of the parameters as name and value, sorted by name, then the secret; `format` is not part of it. */
export function signature(parameters: Readonly<Record<string, string>>, secret: string): string {
  const text = Object.keys(parameters)
    .filter((name) => name !== 'format')
    .sort()
    .map((name) => `${name}${parameters[name]}`)
    .join('')
  return createHash('md5').update(`${text}${secret}`, 'utf8').digest('hex')
}

const isError = (value: unknown): value is { readonly error: number; readonly message?: unknown } =>
  typeof value === 'object' && value !== null && 'error' in value && typeof value.error === 'number'

/** Its error 29, which it sends with any status. */
export const isLastfmRateLimited = (body: unknown): boolean => isError(body) && body.error === 29

function toLastfmError(method: string, body: unknown): LastfmError | undefined {
  if (!isError(body)) return undefined
  // Its message is not repeated: it may quote what was sent.
  return new LastfmError(failures[body.error] ?? 'stop', body.error, `Last.fm: ${method} failed with its error ${body.error}`)
}

/**
 * Calls a method of Last.fm, signed.
 * @throws LastfmError for an error that Last.fm tells, UpstreamError for anything else
 */
export async function callLastfm(
  upstream: Upstream,
  method: string,
  given: Readonly<Record<string, string>>,
  { apiKey, apiSecret, sessionKey }: LastfmKeys,
): Promise<unknown> {
  const parameters = { ...given, method, api_key: apiKey, ...(sessionKey !== undefined && { sk: sessionKey }) }
  const form = { ...parameters, api_sig: signature(parameters, apiSecret), format: 'json' }
  try {
    const { json } = await upstream.request({ method: 'POST', path: '/2.0/', form })
    const error = toLastfmError(method, json)
    if (error !== undefined) throw error
    return json
  } catch (error) {
    // A rate limit has been waited for by then, and says until when it lasts.
    if (!(error instanceof UpstreamError) || error.kind === 'rate_limited') throw error
    throw toLastfmError(method, error.body) ?? error
  }
}
