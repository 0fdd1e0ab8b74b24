import { Octokit } from '@octokit/core'
import { retry } from '@octokit/plugin-retry'
import { throttling } from '@octokit/plugin-throttling'
import { fetch as send } from 'undici'
import { abortable } from '../../../abortable.ts'
import type { Clock } from '../../../clock.ts'
import { isRecord } from '../../../game/protocol/is-record.ts'
import type { Log } from '../../../log.ts'
import { version } from '../../../package.ts'
import type { ReplyCache } from './reply-cache.ts'

/** What GitHub tells of a repository; each absent where it does not. */
export interface Repository {
  /** Bytes of code by language. */
  readonly languages: Readonly<Record<string, number>>
  /** Tag of the newest release without one leading "v". */
  readonly release?: string
  /** Unix seconds of the newest commit on the default branch. */
  readonly lastUpdate?: number
}

export type GithubFailure = 'not_found' | 'rate_limited' | 'unauthorised' | 'malformed' | 'unreachable'

export class GithubError extends Error {
  override readonly name = 'GithubError'
  readonly kind: GithubFailure
  /** Of `rate_limited`: Unix milliseconds from which GitHub answers again. */
  readonly retryAt: number | undefined

  constructor(kind: GithubFailure, message: string, retryAt?: number) {
    super(message)
    this.kind = kind
    this.retryAt = retryAt
  }
}

export interface GithubOptions {
  readonly baseUrl: string
  readonly token: string | undefined
  readonly cache: ReplyCache
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly log: Log
  /** Milliseconds for one request. */
  readonly timeout?: number
  /** Milliseconds that stand for the "second" of Octokit's pauses between attempts. */
  readonly second?: number
}

/** Waiting out a rate limit longer than this is left to the next run. Seconds. */
const longestWait = 60
const maxBytes = 4 * 1024 * 1024

const Client = Octokit.plugin(throttling, retry)

interface Failure {
  readonly status?: number
  readonly response?: { readonly headers: Readonly<Record<string, string | number | undefined>> }
}

/** A fetch with an end: whole reply within the time, and no more of it than the limit. */
function boundedFetch(timeout: number, signal: AbortSignal) {
  return async (url: string, options: Parameters<typeof send>[1]): Promise<Response> => {
    const reply = await send(url, { ...options, signal: AbortSignal.any([signal, AbortSignal.timeout(timeout)]) })
    const chunks: Uint8Array[] = []
    let size = 0
    for await (const chunk of reply.body ?? []) {
      size += chunk.length
      if (size > maxBytes) throw new Error(`more than ${maxBytes} bytes`)
      chunks.push(chunk)
    }
    const empty = reply.status === 204 || reply.status === 304
    const whole = new Response(empty ? null : Buffer.concat(chunks), { status: reply.status, headers: [...reply.headers] })
    Object.defineProperty(whole, 'url', { value: reply.url })
    return whole
  }
}

function retryAtOf({ response }: Failure, wall: number): number | undefined {
  const headers = response?.headers ?? {}
  const after = Number(headers['retry-after'])
  if (headers['retry-after'] !== undefined && after >= 0) return wall + after * 1000
  const reset = Number(headers['x-ratelimit-reset'])
  return String(headers['x-ratelimit-remaining']) === '0' && reset > 0 ? reset * 1000 : undefined
}

function toGithubError(error: unknown, place: string, wall: number): GithubError {
  const { status, ...rest } = error as Failure
  const retryAt = retryAtOf(rest, wall)
  if (status === 429 || (status === 403 && retryAt !== undefined)) {
    return new GithubError('rate_limited', `${place}: the rate limit is used up`, retryAt ?? wall + longestWait * 1000)
  }
  if (status === 404 || status === 451)
    return new GithubError('not_found', `${place} answered ${status}: no such repository, or it is private`)
  if (status === 401 || status === 403) return new GithubError('unauthorised', `${place} answered ${status}: check GITHUB_TOKEN`)
  if (status !== undefined && status < 500) return new GithubError('malformed', `${place} answered ${status}`)
  // Octokit gives a failed connection the status 500 too; its message may quote anything.
  return new GithubError('unreachable', `${place} could not be read (no whole answer, or a server error)`)
}

/** Path of a repository; what else is asked of it lies below. */
export const repositoryPath = (name: string): string => `/repos/${name.split('/').map(encodeURIComponent).join('/')}`

export interface Github {
  /** @throws GithubError, or the signal's reason at once when it is aborted */
  repository(name: string): Promise<Repository>
}

/** GitHub's REST API, paced and retried by Octokit's own plugins; what has not changed since the last run costs no rate limit. */
export function createGithub({
  baseUrl,
  token,
  cache,
  signal,
  clock,
  log,
  timeout = 15_000,
  second = 1000,
}: GithubOptions): Github {
  const wait = (seconds: number, retries: number): boolean => seconds <= longestWait && retries < 2 && !signal.aborted
  const client = new Client({
    baseUrl: baseUrl.replace(/\/$/, ''),
    userAgent: `tickwarden/${version}`,
    ...(token !== undefined && { auth: token }),
    log: { debug() {}, info() {}, warn: (text: string) => log.debug(text), error: (text: string) => log.debug(text) },
    request: { fetch: boundedFetch(timeout, signal) },
    // 304 and 409 are answers here, not failures.
    retry: { retryAfterBaseValue: second, doNotRetry: [304, 400, 401, 403, 404, 409, 410, 422, 429, 451] },
    throttle: {
      retryAfterBaseValue: second,
      fallbackSecondaryRateRetryAfter: longestWait,
      onRateLimit: (seconds: number, _options: unknown, _client: unknown, retries: number) => wait(seconds, retries),
      onSecondaryRateLimit: (seconds: number, _options: unknown, _client: unknown, retries: number) => wait(seconds, retries),
    },
  })

  /** The parsed reply; undefined for a status of `absent`. */
  async function read(path: string, absent: readonly number[] = []): Promise<unknown> {
    const place = `GitHub: GET ${path}`
    const known = cache.get(path)
    try {
      const asked = client.request(`GET ${path}`, {
        headers: { accept: 'application/vnd.github+json', ...(known && { 'if-none-match': known.etag }) },
      })
      // Octokit's pauses know of no signal. What is left of one after an abort ends in a request that is not sent.
      const { data, headers } = await abortable(asked, signal)
      if (typeof data !== 'object') throw new GithubError('malformed', `${place} answered something that is not JSON`)
      if (typeof headers.etag === 'string') cache.set(path, { etag: headers.etag, body: data })
      return data
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof GithubError) throw error
      const { status } = error as Failure
      if (status === 304 && known !== undefined) {
        cache.set(path, known)
        return known.body
      }
      if (status !== undefined && absent.includes(status)) return undefined
      throw toGithubError(error, place, clock.wall())
    }
  }

  return {
    async repository(name) {
      const base = repositoryPath(name)
      const place = `GitHub: ${name}`
      const about = await read(base)
      if (!isRecord(about) || typeof about.default_branch !== 'string') {
        throw new GithubError('malformed', `${place}: the reply is not that of a repository`)
      }
      // 404: no release yet; 409: no commit yet.
      const languages = await read(`${base}/languages`)
      const release = await read(`${base}/releases/latest`, [404])
      const commits = await read(`${base}/commits?sha=${encodeURIComponent(about.default_branch)}&per_page=1`, [404, 409])
      const sizes = isRecord(languages) ? Object.entries(languages) : undefined
      if (sizes === undefined || sizes.some(([, size]) => !Number.isSafeInteger(size))) {
        throw new GithubError('malformed', `${place}: the languages are not names with byte counts`)
      }
      const newest = Array.isArray(commits) ? (commits[0] as { commit?: { author?: { date?: unknown } } } | undefined) : undefined
      const date = newest?.commit?.author?.date ?? about.pushed_at
      const milliseconds = typeof date === 'string' ? Date.parse(date) : Number.NaN
      const tag = isRecord(release) && typeof release.tag_name === 'string' ? release.tag_name.replace(/^v/, '') : ''
      return {
        languages: Object.fromEntries(sizes) as Readonly<Record<string, number>>,
        ...(tag !== '' && { release: tag }),
        ...(!Number.isNaN(milliseconds) && { lastUpdate: Math.floor(milliseconds / 1000) }),
      }
    },
  }
}
