import { maskValue } from '../../secrets/mask-value.ts'
import { backoffMs, withJitter } from '../../util/backoff.ts'
import type { Clock } from '../../util/clock.ts'
import { HttpClient, type HttpError } from '../../util/http-client.ts'
import { parseJson } from '../../util/json.ts'
import type { Log } from '../../util/log.ts'
import { parseUrl } from '../../util/parse-url.ts'
import { describeSlowWork, measureWork } from '../../util/slow-work.ts'
import { maskOfRequest } from './mask-upstream.ts'
import { readRateLimit } from './rate-limit.ts'
import { isTransient, UpstreamError } from './upstream-error.ts'
import { pause } from './waits.ts'

const maxRetryPauseMs = 30_000

export interface UpstreamOptions {
  /** For messages: `Reddit`. */
  readonly name: string
  /** May have a path, to which those of requests are appended. */
  readonly baseUrl: string
  /** Closes it when it is aborted. */
  readonly signal: AbortSignal
  readonly clock: Clock
  /** Names a reply that takes too long to read; absent: such a reply is only counted. */
  readonly log?: Pick<Log, 'warn'>
  readonly userAgent?: string
  /** Milliseconds for one attempt, from the first byte sent to the last received. */
  readonly timeout?: number
  /** Maximum size of a body, bytes. */
  readonly maxBytes?: number
  /** Retries after a 5xx, a connection error or a timeout. */
  readonly retries?: number
  /** Milliseconds before the first retry, doubled each time. */
  readonly retryPauseMs?: number
  /** Maximum wait for a rate limit, milliseconds; a longer one is a `rate_limited` error. */
  readonly maxWait?: number
  /** Called when a request waits for a rate limit to end. */
  readonly onWait?: (name: string, milliseconds: number) => void
  /** Wait for a rate limit whose duration the upstream does not send, milliseconds. */
  readonly limitPause?: number
  /** What a body with any status reports: an exceeded rate limit, or an error after which a retry may succeed. */
  readonly classify?: (body: unknown) => 'rate_limited' | 'temporary' | undefined
}

export interface UpstreamRequest {
  readonly method?: 'GET' | 'POST'
  /** Starts with a slash, already percent-encoded. Shown in messages, so it must not contain secrets. */
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as `application/x-www-form-urlencoded`. */
  readonly form?: Readonly<Record<string, string>>
}

export type Upstream = ReturnType<typeof createUpstream>
export type UpstreamReply = Awaited<ReturnType<Upstream['request']>>

function parseBody(type: string | undefined, body: Buffer): unknown {
  if (!/^(application|text)\/([\w.+-]+\+)?json\b/i.test(type ?? '')) return undefined
  try {
    return parseJson(body.toString('utf8'))
  } catch {
    return undefined
  }
}

/** Creates a client of a JSON API with bounded time, size and retries. */
export function createUpstream(options: UpstreamOptions) {
  const { name, signal, clock, userAgent, classify, retryPauseMs = 500 } = options
  const { timeout = 15_000, maxBytes = 8 * 1024 * 1024, retries = 3, maxWait = 90_000, limitPause = 60_000 } = options
  const base = new URL(options.baseUrl)
  const client = new HttpClient({ timeoutMs: timeout, maxBytes, connections: 4 })
  const close = () => void client.close()
  signal.addEventListener('abort', close, { once: true })
  let blockedUntil = 0

  const aborted = () => new UpstreamError('aborted', `${name}: the run was stopped`)
  const wait = (milliseconds: number) =>
    pause(clock, milliseconds, signal).catch(() => {
      throw aborted()
    })

  /** Waits until the rate limit allows another request. @throws UpstreamError if that takes longer than `maxWait` */
  async function waitForLimit(place: string): Promise<void> {
    const blocked = blockedUntil - clock.wall()
    if (blocked <= 0) return
    if (blocked > maxWait) {
      throw new UpstreamError('rate_limited', `${place} not sent: the rate limit is exceeded`, { retryAt: blockedUntil })
    }
    options.onWait?.(name, blocked)
    await wait(blocked)
  }

  /** Milliseconds before the next attempt: 0 for a rate limit, because waitForLimit() waits for it; undefined: give up. */
  function pauseMs(error: UpstreamError, failures: number): number | undefined {
    if (error.kind === 'rate_limited') return blockedUntil - clock.wall() > maxWait ? undefined : 0
    if (!isTransient(error) && classify?.(error.body) !== 'temporary') return undefined
    return withJitter(backoffMs(failures, { firstMs: retryPauseMs, maxMs: maxRetryPauseMs }), 0.5, Math.random)
  }

  const urlOf = ({ path, query }: UpstreamRequest): URL => {
    const url = new URL(base)
    url.pathname = base.pathname.replace(/\/$/, '') + path
    url.search = query === undefined ? '' : new URLSearchParams(query).toString()
    return url
  }

  /** The error of a request without a reply. */
  function toUpstreamError({ kind, code, cause }: HttpError, place: string): UpstreamError {
    if (kind === 'aborted') return aborted()
    if (kind === 'timeout') return new UpstreamError(kind, `${place} did not answer within ${timeout / 1000} s`, { cause })
    if (kind === 'too_large') return new UpstreamError(kind, `${place} returned more than ${maxBytes} bytes`)
    const reason = /^[A-Z][A-Z0-9_]+$/.test(code) ? code : 'connection failed'
    return new UpstreamError('network', `${place} is unreachable (${reason})`, { cause })
  }

  async function attempt(request: UpstreamRequest, place: string) {
    const form = request.form && new URLSearchParams(request.form).toString()
    const sent = {
      method: request.method ?? 'GET',
      url: urlOf(request),
      headers: {
        accept: 'application/json',
        ...request.headers,
        ...(userAgent !== undefined && { 'user-agent': userAgent }),
        ...(form !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      body: form,
    }
    const { status, headers, body } = await client.request(sent, signal).catch((error: HttpError) => {
      throw toUpstreamError(error, place)
    })
    const json = measureWork(
      'scripts',
      () => parseBody(headers['content-type'], body),
      (took) => options.log?.warn({ upstream: name, took }, describeSlowWork(`${place}: reading the reply`, took)),
    )
    const shownBody = () => maskValue(json, maskOfRequest(request))
    const wall = clock.wall()
    const limit = readRateLimit(status, headers, wall)
    if (limit.resetMs !== undefined) blockedUntil = wall + limit.resetMs
    const reported = classify?.(json)
    if (limit.isExceeded || reported === 'rate_limited') {
      const retryAt = wall + (limit.retryMs ?? limitPause)
      blockedUntil = Math.max(blockedUntil, retryAt)
      const message = `${place} answered ${status}: the rate limit is exceeded`
      throw new UpstreamError('rate_limited', message, { status, retryAt, body: shownBody() })
    }
    if ((status !== 304 && (status < 200 || status > 299)) || reported === 'temporary') {
      const target = status < 400 ? headers.location : undefined
      const location = target === undefined ? undefined : parseUrl(target, base)
      throw new UpstreamError('status', `${place} answered ${status}`, { status, body: shownBody(), location })
    }
    if (json === undefined && body.length > 0) {
      throw new UpstreamError('malformed', `${place} returned a reply that is not valid JSON`, { status })
    }
    return {
      /** 200 to 299, or 304. */
      status,
      headers,
      /** The parsed body; undefined if the reply has none (204, 304). Untrusted. */
      json,
    }
  }

  return {
    /**
     * Waits for rate limits up to `maxWait`, retries after transient failures, does not follow redirects.
     * @throws UpstreamError
     */
    async request(request: UpstreamRequest) {
      const place = `${name}: ${request.method ?? 'GET'} ${request.path}`
      for (let failures = 1; ; failures++) {
        try {
          await waitForLimit(place)
          return await attempt(request, place)
        } catch (error) {
          const pauseTime = error instanceof UpstreamError && failures <= retries ? pauseMs(error, failures) : undefined
          if (pauseTime === undefined) throw error
          if (pauseTime > 0) await wait(pauseTime)
        }
      }
    },
    close,
  }
}
