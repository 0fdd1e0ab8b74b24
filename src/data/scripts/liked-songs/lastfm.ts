import { createHash } from 'node:crypto'
import { isRecord, textAt, valueAt } from '../../../util/is-record.ts'
import { maskOfRequest } from '../mask-upstream.ts'
import type { Upstream } from '../upstream.ts'
import { UpstreamError } from '../upstream-error.ts'

/**
 * How a Last.fm error affects a run. `song`: this song is rejected, others may succeed; `unavailable`: temporarily out of
 * service; `reauthorise` and `stop`: every song fails until the user fixes the configuration.
 */
type LastfmFailure = 'reauthorise' | 'stop' | 'song' | 'unavailable'

/** The text says what happened and what to do. Temporary: a retry may succeed. */
type Meaning = readonly [LastfmFailure, text: string, temporary?: 'temporary']

const authorise = 'run: tickwarden authorise lastfm'
const apiAccount = "compare LASTFM_API_KEY and LASTFM_API_SECRET with your application's page at Last.fm"

/** By its error codes, from its API documentation. */
const meanings: Readonly<Record<number, Meaning>> = {
  4: ['reauthorise', `access to the account was withdrawn; ${authorise}`],
  6: ['song', 'Last.fm does not accept this artist and title'],
  7: ['song', 'Last.fm does not know the song'],
  8: ['song', 'the operation failed', 'temporary'],
  9: ['reauthorise', `the session key is no longer valid; ${authorise}`],
  10: ['stop', `the API key is not valid; ${apiAccount}`],
  11: ['unavailable', 'Last.fm is offline; try again later', 'temporary'],
  13: ['stop', `the signature is not valid; ${apiAccount}`],
  14: ['reauthorise', `access to the account was not granted; ${authorise}`],
  16: ['unavailable', 'Last.fm is temporarily unavailable; try again later', 'temporary'],
  17: ['reauthorise', `Last.fm requires a login; ${authorise}`],
  26: ['stop', "the API key is suspended; see your application's page at Last.fm, or create another one"],
}

const unknown: Meaning = ['stop', 'unknown error; see the error codes at https://www.last.fm/api']

export class LastfmError extends UpstreamError {
  override readonly name = 'LastfmError'
  readonly failure: LastfmFailure
  readonly code: number

  constructor(method: string, code: number, cause?: unknown) {
    const [failure, text] = meanings[code] ?? unknown
    const kind = failure === 'reauthorise' ? failure : 'status'
    super(kind, `Last.fm: ${method}: ${text} (error ${code})`, cause === undefined ? {} : { cause })
    this.failure = failure
    this.code = code
  }
}

interface LastfmKeys {
  readonly apiKey: string
  readonly apiSecret: string
  /** Absent while access is being requested. */
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

/** The error code and message of a reply: `{"error": 9}`, also as a text, or `{"lfm": {"status": "failed", ...}}`. */
function errorOf(body: unknown): { readonly code: number; readonly message: unknown } | undefined {
  if (!isRecord(body)) return undefined
  const { lfm } = body
  const { error, message } = isRecord(lfm) ? lfm : body
  const code = isRecord(error) ? error.code : error
  const isCode = typeof code === 'number' || (typeof code === 'string' && /^\d{1,4}$/.test(code))
  return isCode ? { code: Number(code), message: isRecord(error) ? (error.message ?? error['#text']) : message } : undefined
}

/** Whether a reply confirms a change: `{}`, or `status` is `ok`. Anything else means that nothing is known to have changed. */
export function isConfirmation(body: unknown): boolean {
  if (!isRecord(body)) return false
  const { lfm, ...others } = body
  if (isRecord(lfm)) return lfm.status === 'ok'
  return Object.keys(others).length === 0 ? lfm === undefined : others.status === 'ok'
}

/** How the client treats a reply: 29 is the rate limit, which Last.fm sends with any status. */
export function classifyLastfm(body: unknown): 'rate_limited' | 'temporary' | undefined {
  const { code = 0 } = errorOf(body) ?? {}
  return code === 29 ? 'rate_limited' : meanings[code]?.[2]
}

const maxMessage = 200

/**
 * Calls a method of Last.fm, signed.
 * @throws LastfmError for an error code of Last.fm, another UpstreamError for anything else
 */
export async function callLastfm(
  upstream: Upstream,
  method: string,
  given: Readonly<Record<string, string>>,
  { apiKey, apiSecret, sessionKey }: LastfmKeys,
): Promise<unknown> {
  const parameters = { ...given, method, api_key: apiKey, ...(sessionKey !== undefined && { sk: sessionKey }) }
  const form = { ...parameters, api_sig: signature(parameters, apiSecret), format: 'json' }
  const request = { method: 'POST' as const, path: '/2.0/', form }
  let failure: UpstreamError | undefined
  const { json: body } = await upstream.request(request).catch((error: unknown) => {
    // The client has already waited for a rate limit; its error has `retryAt`.
    if (!(error instanceof UpstreamError) || error.kind === 'rate_limited') throw error
    failure = error
    return { json: error.body }
  })
  const found = errorOf(body)
  if (found === undefined) {
    if (failure !== undefined) throw failure
    return body
  }
  const { code, message } = found
  if (typeof message !== 'string') throw new LastfmError(method, code, failure)
  // Last.fm may quote the secrets of the request.
  const said = maskOfRequest(request)(message).slice(0, maxMessage)
  throw new LastfmError(method, code, new Error(`Last.fm replied: ${said}`, { cause: failure }))
}

const lovedPageSize = 1000
const maxLovedPages = 1000

/** Identifies a song by what both services show. */
export const songKey = (artist: string, title: string): string =>
  JSON.stringify([artist, title].map((text) => text.toLowerCase().normalize('NFC')))

/**
 * The songs that the account loves already, as {@link songKey}.
 * @throws UpstreamError
 */
export async function readLovedSongs(upstream: Upstream, keys: LastfmKeys): Promise<ReadonlySet<string>> {
  const user = textAt(await callLastfm(upstream, 'user.getInfo', {}, keys), 'user', 'name')
  if (user === undefined) throw new UpstreamError('malformed', 'Last.fm: user.getInfo: the reply has no name')
  const loved = new Set<string>()
  for (let [page, pages] = [1, 1]; page <= Math.min(pages, maxLovedPages); page++) {
    const given = { user, limit: String(lovedPageSize), page: String(page) }
    const list = valueAt(await callLastfm(upstream, 'user.getLovedTracks', given, keys), 'lovedtracks')
    if (!isRecord(list)) throw new UpstreamError('malformed', 'Last.fm: user.getLovedTracks: the reply has no songs')
    // A single song is not in a list.
    for (const track of [list.track].flat() as readonly unknown[]) {
      const [artist, title] = [textAt(track, 'artist', 'name'), textAt(track, 'name')]
      if (artist !== undefined && title !== undefined) loved.add(songKey(artist, title))
    }
    const total = valueAt(list, '@attr', 'totalPages')
    pages = typeof total === 'string' || typeof total === 'number' ? Number(total) || 1 : 1
  }
  return loved
}
