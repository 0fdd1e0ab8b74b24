import { isRecord, textAt, valueAt } from '../../../util/is-record.ts'
import type { RunContext } from '../script.ts'
import { createUpstream, type UpstreamOptions } from '../upstream.ts'
import { isTransient, UpstreamError } from '../upstream-error.ts'
import type { ReplyCache } from './reply-cache.ts'

/** A repository as reported by GitHub; fields that GitHub does not provide are absent. */
export type Repository = Awaited<ReturnType<ReturnType<typeof createGithub>['repository']>>

/** For tests. */
export type GithubOptions = Pick<UpstreamOptions, 'timeoutMs' | 'retryPauseMs'>

/** Maximum wait for a rate limit, milliseconds; after a longer one, the next run continues. */
const maxWait = 15_000
/** Retries after a timeout or server error. With the timeout, two repositories take less than a minute. */
const retries = 1
/** A renamed repository causes one redirect. */
const maxRedirects = 3

const classify = (body: unknown) =>
  /\bsecondary rate\b|\babuse detection\b/i.test(textAt(body, 'message') ?? '') ? ('rate_limited' as const) : undefined

/** The same error with a message that says what to do. */
function describeError(error: UpstreamError, place: string): UpstreamError {
  const { kind, status = 0, retryAt, body } = error
  const explain = (text: string) => error.explain(`${place}${text}`)
  if (retryAt !== undefined) return explain(`: the rate limit is exceeded; rate limited until ${new Date(retryAt).toISOString()}`)
  if (kind === 'malformed' || kind === 'too_large' || kind === 'redirect') return error
  if (isTransient(error)) return explain(' could not be read (no complete reply, or a server error)')
  if (status === 403 && /access blocked/i.test(textAt(body, 'message') ?? ''))
    return explain(' answered 403: GitHub has blocked access to this repository')
  if (status === 404 || status === 451) return explain(` answered ${status}: no such repository, or it is private`)
  return explain(` answered ${status}${status === 401 || status === 403 ? ': check GITHUB_TOKEN' : ''}`)
}

/** The valid byte counts, and notes on the others. */
function readSizes(languages: Readonly<Record<string, unknown>>): [Readonly<Record<string, number>>, readonly string[]] {
  const sizes: [string, number][] = []
  const notes: string[] = []
  for (const [name, size] of Object.entries(languages)) {
    if (typeof size === 'number' && Number.isSafeInteger(size) && size >= 0) sizes.push([name, size])
    else notes.push(`the size of the language ${JSON.stringify(name.slice(0, 60))} is not a number of bytes; it is left out`)
  }
  return [Object.fromEntries(sizes), notes]
}

/** Path of a repository, and prefix of the paths of its languages, releases and commits. */
export const repositoryPath = (name: string): string => `/repos/${name.split('/').map(encodeURIComponent).join('/')}`

/** Client of GitHub's REST API. Requests for unchanged resources (304) do not count towards the rate limit. */
export function createGithub(context: RunContext, cache: Pick<ReplyCache, 'get' | 'set'>, options: GithubOptions = {}) {
  const { signal, full } = context
  const { githubApiUrl: baseUrl, githubToken: token } = context.values
  const upstream = createUpstream(context, {
    ...{ name: 'GitHub', baseUrl, timeoutMs: 12_000, maxRedirects },
    ...{ retries, retryPauseMs: 1000, maxWait, classify },
    headers: { accept: 'application/vnd.github+json', ...(token !== undefined && { authorization: `Bearer ${token}` }) },
    ...options,
  })

  /** The parsed reply; undefined for a status in `absent`. */
  async function read(path: string, absent: readonly number[] = []): Promise<unknown> {
    const place = `GitHub: GET ${path}`
    const cached = full ? undefined : cache.get(path)
    try {
      const ifChanged = cached && { headers: { 'if-none-match': cached.etag } }
      const { status, json, headers } = await upstream.request({ path, ...ifChanged })
      if (status === 304 && cached !== undefined) return cached.body
      if (typeof json !== 'object') throw new UpstreamError('malformed', `${place} returned a reply that is not valid JSON`)
      if (headers.etag !== undefined) cache.set(path, { etag: headers.etag, body: json })
      return json
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof UpstreamError)) throw error
      if (error.status !== undefined && absent.includes(error.status)) return undefined
      throw describeError(error, place)
    }
  }

  return {
    /** @throws UpstreamError, or the signal's reason as soon as it is aborted */
    async repository(name: string) {
      const base = repositoryPath(name)
      const place = `GitHub: ${name}`
      const about = await read(base)
      const branch = textAt(about, 'default_branch')
      if (branch === undefined) throw new UpstreamError('malformed', `${place}: the reply is not a repository`)
      // 404: no release yet; 409: no commit yet.
      const languages = await read(`${base}/languages`)
      const release = await read(`${base}/releases/latest`, [404])
      // Not encodeURIComponent, which throws for half of a surrogate pair.
      const commits = await read(`${base}/commits?${new URLSearchParams({ sha: branch, per_page: '1' })}`, [404, 409])
      if (!isRecord(languages)) throw new UpstreamError('malformed', `${place}: the reply is not a list of languages`)
      const [sizes, notes] = readSizes(languages)
      const newest: unknown = Array.isArray(commits) ? commits[0] : undefined
      const date = valueAt(newest, 'commit', 'author', 'date') ?? valueAt(about, 'pushed_at')
      const milliseconds = typeof date === 'string' ? Date.parse(date) : Number.NaN
      const tag = (textAt(release, 'tag_name') ?? '').replace(/^v(?=v?\d)/, '')
      return {
        /** Bytes of code by language. */
        languages: sizes,
        /** Values of GitHub that are not valid, one sentence each. */
        notes,
        /** Of the newest release, `v1.2` without its "v". */
        ...(tag !== '' && { release: tag }),
        /** Unix seconds of the newest commit on the default branch. */
        ...(!Number.isNaN(milliseconds) && { lastUpdate: Math.floor(milliseconds / 1000) }),
      }
    },
  }
}
