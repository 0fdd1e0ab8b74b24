import { Agent, type Dispatcher, request as send } from 'undici'
import type { Clock } from '../../clock.ts'
import { version } from '../../package.ts'
import { pause } from './pause.ts'

export type UpstreamFailure = 'aborted' | 'malformed' | 'network' | 'rate_limited' | 'status' | 'timeout' | 'too_large'

/** An upstream did not answer as it should. The message holds no query, header or body: those may hold secrets. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError'
  readonly kind: UpstreamFailure
  /** Of `status`, `malformed` and `rate_limited`: the HTTP status. */
  readonly status: number | undefined
  /** Of `rate_limited`: Unix milliseconds from which the upstream answers again. */
  readonly retryAt: number | undefined
  /** Of `status`: the body where it is JSON, for upstreams that put their error codes there. Untrusted. */
  readonly body: unknown

  constructor(kind: UpstreamFailure, message: string, detail: { status?: number; retryAt?: number; body?: unknown } = {}) {
    super(message)
    this.kind = kind
    this.status = detail.status
    this.retryAt = detail.retryAt
    this.body = detail.body
  }
}

export interface UpstreamOptions {
  /** For messages: `Reddit`. */
  readonly name: string
  /** Paths are appended to it, so it may have one of its own. */
  readonly baseUrl: string
  readonly signal: AbortSignal
  readonly clock: Clock
  /** Default: the product and its version. */
  readonly userAgent?: string
  /** Milliseconds for one attempt, from the first byte sent to the last received. */
  readonly timeout?: number
  /** Largest body, bytes. */
  readonly maxBytes?: number
  /** Further attempts after a 5xx, a cut connection or a timeout. */
  readonly retries?: number
  /** Longest wait for a rate limit, milliseconds; a longer one is a `rate_limited` error. */
  readonly maxWait?: number
  /** Wait for a rate limit where the upstream does not say how long it lasts, milliseconds. */
  readonly limitPause?: number
  /** True of a body that tells of a used-up rate limit, whatever the status is. */
  readonly isRateLimited?: (body: unknown) => boolean
}

export interface UpstreamRequest {
  readonly method?: 'GET' | 'POST'
  /** Starts with a slash, already percent-encoded. It is shown in messages: no secret in it. */
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as `application/x-www-form-urlencoded`. */
  readonly form?: Readonly<Record<string, string>>
}

export interface UpstreamReply {
  /** 200 to 299, or 304. */
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** The parsed body; undefined of a reply without one (204, 304). Untrusted. */
  readonly json: unknown
}

/** One HTTP API that speaks JSON, asked one request at a time per call, with every bound. */
export interface Upstream {
  /**
   * Waits out rate limits up to `maxWait`, tries again after passing failures, follows no redirect.
   * @throws UpstreamError
   */
  request(request: UpstreamRequest): Promise<UpstreamReply>
  close(): void
}

type Headers = Dispatcher.ResponseData['headers']

const header = (headers: Headers, name: string): string | undefined => {
  const value = headers[name]
  return typeof value === 'string' ? value : value?.[0]
}

const decimal = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,12}(\.\d+)?$/.test(text.trim()) ? Number(text) : undefined

/** Milliseconds to wait by `Retry-After`: seconds or an HTTP date. */
function retryAfter(headers: Headers, wall: number): number | undefined {
  const text = header(headers, 'retry-after')
  const seconds = decimal(text)
  if (seconds !== undefined) return seconds * 1000
  const date = text === undefined ? Number.NaN : Date.parse(text)
  return Number.isNaN(date) ? undefined : Math.max(0, date - wall)
}

/** Milliseconds until the rate limit is renewed, where the headers say that it is used up. */
function exhausted(headers: Headers, wall: number): number | undefined {
  const remaining = decimal(header(headers, 'x-ratelimit-remaining'))
  const reset = decimal(header(headers, 'x-ratelimit-reset'))
  if (remaining === undefined || remaining >= 1 || reset === undefined) return undefined
  // Reddit counts seconds from now, GitHub gives Unix time.
  return reset > 1e9 ? Math.max(0, reset * 1000 - wall) : reset * 1000
}

async function readBody(body: Dispatcher.ResponseData['body'], maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length
    // Leaving the loop destroys the body and with it the connection.
    if (size > maxBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function parseJson(type: string | undefined, body: Buffer): unknown {
  if (!/^(application|text)\/([\w.+-]+\+)?json\b/i.test(type ?? '')) return undefined
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}

const abortedError = (name: string): UpstreamError => new UpstreamError('aborted', `${name}: the run was stopped`)

export function createUpstream(options: UpstreamOptions): Upstream {
  const { name, signal, clock } = options
  const { timeout = 15_000, maxBytes = 8 * 1024 * 1024, retries = 3, maxWait = 90_000, limitPause = 60_000 } = options
  const base = new URL(options.baseUrl)
  const userAgent = options.userAgent ?? `tickwarden/${version}`
  // Its own limits are off: the deadline below covers connecting, headers and body together.
  const agent = new Agent({ connections: 4, headersTimeout: 0, bodyTimeout: 0, connect: { timeout: 0 } })
  let blockedUntil = 0

  const wait = (milliseconds: number) =>
    pause(clock, milliseconds, signal).catch(() => {
      throw abortedError(name)
    })

  const urlOf = ({ path, query }: UpstreamRequest): URL => {
    const url = new URL(base)
    url.pathname = base.pathname.replace(/\/$/, '') + path
    url.search = query === undefined ? '' : new URLSearchParams(query).toString()
    return url
  }

  async function attempt(asked: UpstreamRequest, place: string): Promise<UpstreamReply> {
    const limit = new AbortController()
    const cancel = clock.after(timeout, () => limit.abort())
    const stop = AbortSignal.any([signal, limit.signal])
    try {
      const form = asked.form && new URLSearchParams(asked.form).toString()
      const reply = await send(urlOf(asked), {
        dispatcher: agent,
        method: asked.method ?? 'GET',
        headers: {
          accept: 'application/json',
          ...asked.headers,
          'user-agent': userAgent,
          ...(form !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
        },
        body: form ?? null,
        signal: stop,
      })
      const body = await readBody(reply.body, maxBytes)
      if (body === undefined) throw new UpstreamError('too_large', `${place} answered more than ${maxBytes} bytes`)
      const status = reply.statusCode
      const json = parseJson(header(reply.headers, 'content-type'), body)
      const wall = clock.wall()
      const wait = exhausted(reply.headers, wall)
      if (wait !== undefined) blockedUntil = wall + wait
      if (status === 429 || (status === 403 && wait !== undefined) || options.isRateLimited?.(json) === true) {
        const retryAt = wall + (retryAfter(reply.headers, wall) ?? wait ?? limitPause)
        throw new UpstreamError('rate_limited', `${place} answered ${status}: its rate limit is used up`, {
          status,
          retryAt,
          body: json,
        })
      }
      if (status !== 304 && (status < 200 || status > 299)) {
        throw new UpstreamError('status', `${place} answered ${status}`, { status, body: json })
      }
      if (json === undefined && body.length > 0) {
        throw new UpstreamError('malformed', `${place} answered something that is not JSON`, { status })
      }
      return { status, headers: reply.headers, json }
    } catch (error) {
      if (error instanceof UpstreamError) throw error
      if (signal.aborted) throw abortedError(name)
      if (limit.signal.aborted) throw new UpstreamError('timeout', `${place} did not answer within ${timeout / 1000} s`)
      const code = (error as { code?: unknown }).code
      throw new UpstreamError(
        'network',
        `${place} could not be reached (${typeof code === 'string' ? code : 'connection failed'})`,
      )
    } finally {
      cancel()
    }
  }

  const passes = (error: UpstreamError): boolean =>
    error.kind === 'network' || error.kind === 'timeout' || (error.kind === 'status' && (error.status ?? 0) >= 500)

  return {
    async request(asked) {
      const place = `${name}: ${asked.method ?? 'GET'} ${asked.path}`
      for (let tried = 0; ; tried++) {
        const blocked = blockedUntil - clock.wall()
        if (blocked > maxWait) {
          throw new UpstreamError('rate_limited', `${place} not asked: the rate limit is used up`, { retryAt: blockedUntil })
        }
        if (blocked > 0) await wait(blocked)
        try {
          return await attempt(asked, place)
        } catch (error) {
          if (!(error instanceof UpstreamError) || tried >= retries) throw error
          if (error.kind === 'rate_limited') blockedUntil = Math.max(blockedUntil, error.retryAt ?? 0)
          else if (passes(error)) await wait(500 * 2 ** tried * (0.5 + Math.random()))
          else throw error
          if (error.kind === 'rate_limited' && blockedUntil - clock.wall() > maxWait) throw error
        }
      }
    },
    close() {
      void agent.destroy()
    },
  }
}
