import { isRecord } from '../../../util/is-record.ts'
import { withAccessToken } from '../access-token.ts'
import type { Upstream } from '../upstream.ts'
import { UpstreamError } from '../upstream-error.ts'

export interface LikedSong {
  readonly id: string
  /** Of its item. */
  readonly key: string
  readonly title: string
  /** All artists, the main one first. */
  readonly artists: readonly string[]
}

export type LikedPage = Awaited<ReturnType<Spotify['likedSongs']>>

interface SpotifyKeys {
  readonly clientId: string
  readonly clientSecret: string
  readonly refreshToken: string
  /** Called with each new refresh token before it is used. */
  readonly onNewRefreshToken?: (token: string) => Promise<void>
}

/** The refresh token is no longer valid, or not for liked songs: the user must authorise access again. */
export class SpotifyAuthorisationError extends Error {
  override readonly name = 'SpotifyAuthorisationError'
}

/** Songs of one page. */
export const pageSize = 50

/** Identifies an item of the list: a removed track by its position. @param index position in the list */
function keyOf(item: unknown, index: number): string {
  const { added_at: added, track } = isRecord(item) ? item : {}
  const { id, uri, name } = isRecord(track) ? track : {}
  return JSON.stringify(isRecord(track) ? [added, id ?? uri ?? name] : [added ?? index])
}

function toSong(item: unknown, index: number): LikedSong | undefined {
  const track = isRecord(item) ? item.track : undefined
  if (!isRecord(track) || track.is_local === true || typeof track.id !== 'string' || typeof track.name !== 'string')
    return undefined
  const artists = (Array.isArray(track.artists) ? track.artists : []).flatMap((artist: unknown) =>
    isRecord(artist) && typeof artist.name === 'string' && artist.name !== '' ? [artist.name] : [],
  )
  return artists.length === 0 || track.name === ''
    ? undefined
    : { id: track.id, key: keyOf(item, index), title: track.name, artists }
}

export const basicAuthorization = ({ clientId, clientSecret }: Pick<SpotifyKeys, 'clientId' | 'clientSecret'>): string =>
  `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`

const authorise = 'run: tickwarden authorise spotify'
const dashboard = 'your application at https://developer.spotify.com/dashboard'

const detailOf = (error: UpstreamError) => {
  const { status, body } = error
  return { ...(status !== undefined && { status }), body, cause: error }
}

/** The OAuth error code of a reply. */
export const tokenErrorOf = ({ body }: UpstreamError): unknown => (isRecord(body) ? body.error : undefined)

/** The error for a reply of the token service such as `{"error": "invalid_grant"}`. */
export function describeTokenError(error: UpstreamError): Error {
  const fail = (text: string) => new UpstreamError('status', `Spotify: ${text}`, detailOf(error))
  switch (tokenErrorOf(error)) {
    case 'invalid_grant':
      return new SpotifyAuthorisationError(`Spotify: the refresh token is no longer valid; ${authorise}`, { cause: error })
    case 'invalid_client':
      return fail(`SPOTIFY_CLIENT_ID and SPOTIFY_CLIENT_SECRET were rejected; compare them with ${dashboard}`)
    case 'unauthorized_client':
      return fail(`the application may not use refresh tokens; see ${dashboard}, then ${authorise}`)
    default:
      return describeStatus(error)
  }
}

/** The error for a reply of the API such as `{"error": {"status": 403, "message": "..."}}`. */
function describeApiError(error: UpstreamError): Error {
  const detail = isRecord(error.body) ? error.body.error : undefined
  const message = isRecord(detail) && typeof detail.message === 'string' ? detail.message : ''
  if (error.status === 401)
    return new SpotifyAuthorisationError(`Spotify: a new access token was rejected; ${authorise}`, { cause: error })
  if (error.status !== 403) return describeStatus(error)
  if (/\bscope\b/i.test(message)) {
    return new SpotifyAuthorisationError(`Spotify: the refresh token does not allow reading liked songs; ${authorise}`, {
      cause: error,
    })
  }
  const hint = /not registered|developer dashboard/i.test(message)
    ? `the account is not a user of the application; add it under User Management of ${dashboard}`
    : `access was refused (HTTP 403); check ${dashboard} for restrictions`
  return new UpstreamError('status', `Spotify: ${hint}`, detailOf(error))
}

/** The error for an unexpected status, with a hint. */
function describeStatus(error: UpstreamError): UpstreamError {
  const { kind, status = 0, message } = error
  if (kind !== 'status') return error
  const hint = status >= 500 ? 'Spotify is out of service; try again later' : `the request was refused; check ${dashboard}`
  return new UpstreamError(kind, `${message}: ${hint}`, detailOf(error))
}

export type Spotify = ReturnType<typeof createSpotify>

export function createSpotify(accounts: Upstream, api: Upstream, keys: SpotifyKeys) {
  let { refreshToken } = keys

  async function renew(): Promise<string> {
    const request = {
      method: 'POST' as const,
      path: '/api/token',
      headers: { authorization: basicAuthorization(keys) },
      form: { grant_type: 'refresh_token', refresh_token: refreshToken },
    }
    const { json } = await accounts.request(request).catch((error: unknown) => {
      throw error instanceof UpstreamError ? describeTokenError(error) : error
    })
    if (!isRecord(json) || typeof json.access_token !== 'string') {
      throw new UpstreamError('malformed', 'Spotify: the reply to POST /api/token has no access token; try again later')
    }
    const next = json.refresh_token
    if (typeof next === 'string' && next !== '' && next !== refreshToken) {
      refreshToken = next
      await keys.onNewRefreshToken?.(next)
    }
    return json.access_token
  }

  // An error of the token service already has a hint, a rate limit has `retryAt`.
  const send = withAccessToken(renew, (error) => (error.kind === 'rate_limited' ? error : describeApiError(error)))

  return {
    /** @throws SpotifyAuthorisationError | UpstreamError */
    async likedSongs(offset: number) {
      const query = { limit: String(pageSize), offset: String(offset) }
      const { json } = await send((authorization) => api.request({ path: '/v1/me/tracks', query, headers: { authorization } }))
      if (!isRecord(json) || !Array.isArray(json.items) || !Number.isSafeInteger(json.total) || Number(json.total) < 0) {
        throw new UpstreamError('malformed', 'Spotify: the reply to GET /v1/me/tracks has no items')
      }
      return {
        /** Newest first, without local files and removed tracks. */
        songs: json.items.map((item, index) => toSong(item, offset + index)).filter((song) => song !== undefined),
        keys: json.items.map((item, index) => keyOf(item, offset + index)),
        /** Number of items on the page, including those left out. */
        items: json.items.length,
        /** Number of all liked songs. */
        total: Number(json.total),
      }
    },
  }
}
