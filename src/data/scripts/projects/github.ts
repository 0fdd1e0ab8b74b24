import { Octokit } from '@octokit/core'
import { retry } from '@octokit/plugin-retry'
import { throttling } from '@octokit/plugin-throttling'
import { fetch as send } from 'undici'
import { abortable } from '../../../abortable.ts'
import type { Clock } from '../../../clock.ts'
import { isRecord } from '../../../game/protocol/is-record.ts'
import type { Log } from '../../../log.ts'
import { version } from '../../../package.ts'
import { readBody } from '../../read-body.ts'
import { clampRetryAt } from '../waits.ts'
import type { ReplyCache } from './reply-cache.ts'

/** What GitHub tells of a repository; each absent where it does not. */
export interface Repository {
  /** Bytes of code by language. */
  readonly languages: Readonly<Record<string, number>>
  /** Tag of the newest release, `v1.2` without its "v". */
  readonly release?: string
  /** Unix seconds of the newest commit on the default branch. */
  readonly lastUpdate?: number
  /** What GitHub says that cannot be right, one sentence each. */
  readonly notes: readonly string[]
}

export type GithubFailure = 'blocked' | 'not_found' | 'rate_limited' | 'unauthorised' | 'malformed' | 'unreachable'

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
  /** Called when a request waits for a rate limit to end. */
  readonly onWait?: (upstream: string, milliseconds: number) => void
}

/** A longer wait for a rate limit is left to the next run. Seconds. */
const maxWait = 15
/** A secondary limit that does not say how long it lasts; GitHub's documentation asks for at least that. Seconds. */
const secondaryLimitPause = 60
/** Of a request that meets no answer or a server error: with its timeout, two repositories take less than a minute. */
const maxRetries = 1
const maxBytes = 4 * 1024 * 1024

const Client = Octokit.plugin(throttling, retry)

interface Failure {
  readonly status?: number
  readonly response?: { readonly headers: Readonly<Record<string, string | number | undefined>>; readonly data?: unknown }
}

/** The message of an error reply. Untrusted. */
const messageOf = ({ response }: Failure): string =>
  isRecord(response?.data) && typeof response.data.message === 'string' ? response.data.message : ''

const isSecondaryLimit = (failure: Failure): boolean => /\bsecondary rate\b|\babuse detection\b/i.test(messageOf(failure))

/** A fetch with an end: whole reply within the time, and no more of it than the limit. */
function boundedFetch(timeout: number, signal: AbortSignal) {
  return async (url: string, options: Parameters<typeof send>[1]): Promise<Response> => {
    const reply = await send(url, { ...options, signal: AbortSignal.any([signal, AbortSignal.timeout(timeout)]) })
    const body = reply.body === null ? Buffer.alloc(0) : await readBody(reply.body, maxBytes)
    if (body === undefined) throw new Error(`more than ${maxBytes} bytes`)
    const empty = reply.status === 204 || reply.status === 304
    const whole = new Response(empty ? null : body, { status: reply.status, headers: [...reply.headers] })
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
  const failure = error as Failure
  const { status } = failure
  const retryAt = retryAtOf(failure, wall)
  if (status === 429 || (status === 403 && (retryAt !== undefined || isSecondaryLimit(failure)))) {
    const until = clampRetryAt(retryAt ?? wall + secondaryLimitPause * 1000, wall)
    const message = `${place}: the rate limit is used up; rate limited until ${new Date(until).toISOString()}`
    return new GithubError('rate_limited', message, until)
  }
  if (status === 403 && /access blocked/i.test(messageOf(failure))) {
    return new GithubError('blocked', `${place} answered 403: GitHub has blocked access to this repository`)
  }
  if (status === 404 || status === 451)
    return new GithubError('not_found', `${place} answered ${status}: no such repository, or it is private`)
  if (status === 401 || status === 403) return new GithubError('unauthorised', `${place} answered ${status}: check GITHUB_TOKEN`)
  if (status !== undefined && status < 500) return new GithubError('malformed', `${place} answered ${status}`)
  // Octokit gives a failed connection the status 500 too; its message may quote anything.
  return new GithubError('unreachable', `${place} could not be read (no whole answer, or a server error)`)
}

/** The byte counts that can be right, and notes on those that cannot. */
function readSizes(languages: Readonly<Record<string, unknown>>): [Readonly<Record<string, number>>, readonly string[]] {
  const sizes: [string, number][] = []
  const notes: string[] = []
  for (const [name, size] of Object.entries(languages)) {
    if (typeof size === 'number' && Number.isSafeInteger(size) && size >= 0) sizes.push([name, size])
    else notes.push(`the size of the language ${JSON.stringify(name.slice(0, 60))} is not a count of bytes; it is left out`)
  }
  return [Object.fromEntries(sizes), notes]
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
  timeout = 12_000,
  second = 1000,
  onWait,
}: GithubOptions): Github {
  const wait = (seconds: number, retries: number): boolean => {
    const waits = seconds <= maxWait && retries < 1 && !signal.aborted
    if (waits) onWait?.('GitHub', seconds * second)
    return waits
  }
  const client = new Client({
    baseUrl: baseUrl.replace(/\/$/, ''),
    userAgent: `tickwarden/${version}`,
    ...(token !== undefined && { auth: token }),
    log: { debug() {}, info() {}, warn: (text: string) => log.debug(text), error: (text: string) => log.debug(text) },
    request: { fetch: boundedFetch(timeout, signal) },
    // 304 and 409 are answers here, not failures.
    retry: { retries: maxRetries, retryAfterBaseValue: second, doNotRetry: [304, 400, 401, 403, 404, 409, 410, 422, 429, 451] },
    throttle: {
      retryAfterBaseValue: second,
      fallbackSecondaryRateRetryAfter: secondaryLimitPause,
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
      if (!isRecord(languages)) throw new GithubError('malformed', `${place}: the languages are not names with byte counts`)
      const [sizes, notes] = readSizes(languages)
      const newest = Array.isArray(commits) ? (commits[0] as { commit?: { author?: { date?: unknown } } } | undefined) : undefined
      const date = newest?.commit?.author?.date ?? about.pushed_at
      const milliseconds = typeof date === 'string' ? Date.parse(date) : Number.NaN
      const tag = isRecord(release) && typeof release.tag_name === 'string' ? release.tag_name.replace(/^v(?=\d)/, '') : ''
      return {
        languages: sizes,
        notes,
        ...(tag !== '' && { release: tag }),
        ...(!Number.isNaN(milliseconds) && { lastUpdate: Math.floor(milliseconds / 1000) }),
      }
    },
  }
}
