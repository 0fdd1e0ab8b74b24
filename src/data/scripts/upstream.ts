import { maskValue } from '../../secrets/mask-value.ts'
import { backoffMs, withJitter } from '../../util/backoff.ts'
import { HttpClient, type HttpClientOptions, type HttpError, type HttpRequest } from '../../util/http-client.ts'
import { parseJsonIfValid } from '../../util/json.ts'
import { describeSlowWork, measureWork } from '../../util/slow-work.ts'
import { maskOfRequest } from './mask-upstream.ts'
import { readRateLimit } from './rate-limit.ts'
import type { RunContext } from './script.ts'
import { isTransient, UpstreamError } from './upstream-error.ts'
import { pause } from './waits.ts'

const maxRetryPauseMs = 30_000

/** What a client needs of its run, whose signal closes it. */
export type UpstreamContext = Pick<RunContext, 'signal' | 'clock'> & Partial<Pick<RunContext, 'log' | 'progress'>>

/** Its time limit is that of one attempt. */
export interface UpstreamOptions extends Partial<Pick<HttpClientOptions, 'timeoutMs' | 'maxBytes' | 'maxRedirects'>> {
  readonly name: string
  /** May have a path, to which those of requests are appended. */
  readonly baseUrl: string
  readonly headers?: Readonly<Record<string, string>>
  /** Retries after a 5xx, a connection error or a timeout. */
  readonly retries?: number
  /** Milliseconds before the first retry, doubled each time. */
  readonly retryPauseMs?: number
  /** Maximum wait for a rate limit, milliseconds; a longer one is a `rate_limited` error. */
  readonly maxWait?: number
  /** Wait for a rate limit whose duration the upstream does not send, milliseconds: a minute is the least that GitHub asks for. */
  readonly limitPause?: number
  /** What a body with any status reports: an exceeded rate limit, or an error after which a retry may succeed. */
  readonly classify?: (body: unknown) => 'rate_limited' | 'temporary' | undefined
}

interface UpstreamRequest extends Pick<HttpRequest, 'method' | 'headers'> {
  /** Starts with a slash, already percent-encoded; may have a query. Shown in messages, so it must not contain secrets. */
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  /** Sent as `application/x-www-form-urlencoded`. */
  readonly form?: Readonly<Record<string, string>>
}

export type Upstream = ReturnType<typeof createUpstream>

const parseBody = (type: string | undefined, body: Buffer): unknown =>
  /^(application|text)\/([\w.+-]+\+)?json\b/i.test(type ?? '') ? parseJsonIfValid(body.toString('utf8')) : undefined

/** Creates a client of a JSON API with bounded time, size and retries. */
export function createUpstream({ signal, clock, log, progress }: UpstreamContext, options: UpstreamOptions) {
  const { name, classify, retryPauseMs = 500, maxRedirects = 0, retries = 3 } = options
  const { timeoutMs = 15_000, maxBytes = 4 * 1024 * 1024, maxWait = 90_000, limitPause = 60_000 } = options
  const { origin, pathname } = new URL(options.baseUrl)
  const root = origin + pathname.replace(/\/$/, '')
  const client = new HttpClient({ timeoutMs, maxBytes, maxRedirects, redirectsTo: `${root.slice(origin.length)}/` })
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
    progress?.wait(name, blocked)
    await wait(blocked)
  }

  /** Milliseconds before the next attempt: 0 for a rate limit, because waitForLimit() waits for it; undefined: give up. */
  function pauseMs(error: UpstreamError, failures: number): number | undefined {
    if (error.kind === 'rate_limited') return blockedUntil - clock.wall() > maxWait ? undefined : 0
    if (!isTransient(error) && classify?.(error.body) !== 'temporary') return undefined
    return withJitter(backoffMs(failures, { firstMs: retryPauseMs, maxMs: maxRetryPauseMs }), 0.5, Math.random)
  }

  function toUpstreamError({ kind, code, message, cause }: HttpError, place: string): UpstreamError {
    if (kind === 'aborted') return aborted()
    if (kind === 'redirect') return new UpstreamError(kind, `${place}: ${message}`)
    if (kind === 'timeout') return new UpstreamError(kind, `${place} did not answer within ${timeoutMs / 1000} s`, { cause })
    if (kind === 'too_large') return new UpstreamError(kind, `${place} returned more than ${maxBytes} bytes`)
    const reason = /^[A-Z][A-Z0-9_]+$/.test(code) ? code : 'connection failed'
    return new UpstreamError('network', `${place} is unreachable (${reason})`, { cause })
  }

  async function attempt(request: UpstreamRequest, place: string) {
    const { method = 'GET', path, query, form } = request
    const url = new URL(root + path + (query ? `?${new URLSearchParams(query)}` : ''))
    const own = { ...options.headers, ...request.headers }
    const type = form && { 'content-type': 'application/x-www-form-urlencoded' }
    const headers = { accept: 'application/json', ...own, ...type }
    const sent = { method, url, headers, body: form && String(new URLSearchParams(form)) }
    const reply = await client.request(sent, signal).catch((error: HttpError) => {
      throw toUpstreamError(error, place)
    })
    const json = measureWork(
      'scripts',
      () => parseBody(reply.headers['content-type'], reply.body),
      (took) => log?.warn({ upstream: name, took }, describeSlowWork(`${place}: reading the reply`, took)),
    )
    const { status } = reply
    const detail = () => ({ status, body: maskValue(json, maskOfRequest({ ...request, headers: own })) })
    const wall = clock.wall()
    const limit = readRateLimit(status, reply.headers, wall)
    if (limit.resetMs !== undefined) blockedUntil = wall + limit.resetMs
    const reported = classify?.(json)
    if (limit.isExceeded || reported === 'rate_limited') {
      const retryAt = wall + (limit.retryMs ?? limitPause)
      blockedUntil = Math.max(blockedUntil, retryAt)
      const message = `${place} answered ${status}: the rate limit is exceeded`
      throw new UpstreamError('rate_limited', message, { ...detail(), retryAt })
    }
    if ((status !== 304 && (status < 200 || status > 299)) || reported === 'temporary')
      throw new UpstreamError('status', `${place} answered ${status}`, detail())
    if (json === undefined && reply.body.length > 0)
      throw new UpstreamError('malformed', `${place} returned a reply that is not valid JSON`, { status })
    return {
      status,
      headers: reply.headers,
      /** The parsed body; undefined if the reply has none (204, 304). Untrusted. */
      json,
    }
  }

  return {
    /**
     * Waits for rate limits up to `maxWait`, and retries after transient failures.
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
