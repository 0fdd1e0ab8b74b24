import { basicAuthorization } from '../../../util/basic-authorization.ts'
import { isRecord, textAt, valueAt } from '../../../util/is-record.ts'
import { withAccessToken } from '../access-token.ts'
import type { Upstream } from '../upstream.ts'
import { UpstreamError } from '../upstream-error.ts'
import type { Song } from './journal.ts'

interface SpotifyKeys {
  readonly clientId: string
  readonly clientSecret: string
  readonly refreshToken: string
  /** Called with each new refresh token before it is used. */
  readonly onNewRefreshToken?: (token: string) => Promise<void>
}

export const pageSize = 50
/** More liked songs than anybody has: all of them are held in memory. */
const maxSongs = 500_000

interface LikedItem {
  /** Identifies it in the list: of a removed track, its position. */
  readonly key: string
  /** Undefined for a local file or a removed track. */
  readonly song: Song | undefined
}

function readItem(item: unknown, index: number): LikedItem {
  const [added, track] = [valueAt(item, 'added_at'), valueAt(item, 'track')]
  if (!isRecord(track)) return { key: JSON.stringify([added ?? index]), song: undefined }
  const { id, uri, name: title, artists: all } = track
  const key = JSON.stringify([added, id ?? uri ?? title])
  // The main one is the first.
  const [artist] = (Array.isArray(all) ? all : []).flatMap((one: unknown) => textAt(one, 'name') || [])
  const isSong = track.is_local !== true && typeof id === 'string' && typeof title === 'string' && title !== ''
  return { key, song: isSong && artist !== undefined ? { id, title, artist } : undefined }
}

const authorise = 'run: tickwarden authorise spotify'
const dashboard = 'your application at https://developer.spotify.com/dashboard'

/** The refresh token is no longer valid, or not for liked songs. */
const reauthorise = (cause: UpstreamError, reason: string) =>
  new UpstreamError('reauthorise', `Spotify: ${reason}; ${authorise}`, { cause })

/** The error for a reply of the token service such as `{"error": "invalid_grant"}`. */
export function describeTokenError(error: UpstreamError): UpstreamError {
  switch (textAt(error.body, 'error')) {
    case 'invalid_grant':
      return reauthorise(error, 'the refresh token is no longer valid')
    case 'invalid_client':
      return error.explain(`Spotify: SPOTIFY_CLIENT_ID and SPOTIFY_CLIENT_SECRET were rejected; compare them with ${dashboard}`)
    case 'unauthorized_client':
      return error.explain(`Spotify: the application may not use refresh tokens; see ${dashboard}, then ${authorise}`)
    default:
      return describeStatus(error)
  }
}

/** The error for a reply of the API such as `{"error": {"status": 403, "message": "..."}}`. */
function describeApiError(error: UpstreamError): UpstreamError {
  const message = textAt(error.body, 'error', 'message') ?? ''
  if (error.status === 401) return reauthorise(error, 'a new access token was rejected')
  if (error.status !== 403) return describeStatus(error)
  if (/\bscope\b/i.test(message)) return reauthorise(error, 'the refresh token does not allow reading liked songs')
  const hint = /not registered|developer dashboard/i.test(message)
    ? `the account is not a user of the application; add it under User Management of ${dashboard}`
    : `access was refused (HTTP 403); check ${dashboard} for restrictions`
  return error.explain(`Spotify: ${hint}`)
}

function describeStatus(error: UpstreamError): UpstreamError {
  const { kind, status = 0, message } = error
  if (kind !== 'status') return error
  const hint = status >= 500 ? 'Spotify is out of service; try again later' : `the request was refused; check ${dashboard}`
  return error.explain(`${message}: ${hint}`)
}

export type Spotify = ReturnType<typeof createSpotify>

export function createSpotify(accounts: Upstream, api: Upstream, keys: SpotifyKeys) {
  let { refreshToken } = keys

  async function renew(): Promise<string> {
    const request = {
      method: 'POST' as const,
      path: '/api/token',
      headers: { authorization: basicAuthorization(keys.clientId, keys.clientSecret) },
      form: { grant_type: 'refresh_token', refresh_token: refreshToken },
    }
    const { json } = await accounts.request(request).catch((error: unknown) => {
      throw error instanceof UpstreamError ? describeTokenError(error) : error
    })
    const [token, next] = [textAt(json, 'access_token'), textAt(json, 'refresh_token') || refreshToken]
    if (token === undefined)
      throw new UpstreamError('malformed', 'Spotify: the reply to POST /api/token has no access token; try again later')
    if (next !== refreshToken) {
      refreshToken = next
      await keys.onNewRefreshToken?.(next)
    }
    return token
  }

  // An error of the token service already has a hint, a rate limit has `retryAt`.
  const send = withAccessToken(renew, (error) => (error.kind === 'rate_limited' ? error : describeApiError(error)))

  return {
    /** @throws UpstreamError */
    async likedSongs(offset: number) {
      const query = { limit: String(pageSize), offset: String(offset) }
      const { json } = await send((authorization) => api.request({ path: '/v1/me/tracks', query, headers: { authorization } }))
      const [list, total] = [valueAt(json, 'items'), valueAt(json, 'total')]
      if (typeof total === 'number' && total > maxSongs)
        throw new UpstreamError(
          'malformed',
          `Spotify: the reply to GET /v1/me/tracks has ${total} songs; the maximum is ${maxSongs}`,
        )
      if (!Array.isArray(list) || !Number.isInteger(total) || Number(total) < 0)
        throw new UpstreamError('malformed', 'Spotify: the reply to GET /v1/me/tracks has no items')
      return {
        /** Newest first. */
        items: list.map((item: unknown, index) => readItem(item, offset + index)),
        total: Number(total),
      }
    },
  }
}
