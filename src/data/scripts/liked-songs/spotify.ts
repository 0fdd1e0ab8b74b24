import { isRecord } from '../../../game/protocol/is-record.ts'
import { type Upstream, UpstreamError } from '../upstream.ts'

export interface LikedSong {
  readonly id: string
  readonly title: string
  /** All artists, the first one first. */
  readonly artists: readonly string[]
}

export interface LikedPage {
  /** Newest first; local files and tracks that are gone are left out. */
  readonly songs: readonly LikedSong[]
  /** Items on the page, those left out too. */
  readonly items: number
  /** All liked songs there are. */
  readonly total: number
}

export interface SpotifyKeys {
  readonly clientId: string
  readonly clientSecret: string
  readonly refreshToken: string
}

/** The refresh token is no longer valid, or not for liked songs: a person must agree once more. */
export class SpotifyAuthorisationError extends Error {
  override readonly name = 'SpotifyAuthorisationError'
}

const pageSize = 50

function toSong(item: unknown): LikedSong | undefined {
  const track = isRecord(item) ? item.track : undefined
  if (!isRecord(track) || track.is_local === true || typeof track.id !== 'string' || typeof track.name !== 'string')
    return undefined
  const artists = (Array.isArray(track.artists) ? track.artists : []).flatMap((artist: unknown) =>
    isRecord(artist) && typeof artist.name === 'string' && artist.name !== '' ? [artist.name] : [],
  )
  return artists.length === 0 || track.name === '' ? undefined : { id: track.id, title: track.name, artists }
}

export const basicAuthorization = ({ clientId, clientSecret }: Pick<SpotifyKeys, 'clientId' | 'clientSecret'>): string =>
  `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`

/** "Insufficient client scope": the refresh token was made for something else. */
const lacksScope = ({ status, body }: UpstreamError): boolean =>
  status === 403 && isRecord(body) && isRecord(body.error) && /\bscope\b/i.test(String(body.error.message))

const authorise = 'run: tickwarden authorise spotify'

export interface Spotify {
  /** @throws SpotifyAuthorisationError | UpstreamError */
  likedSongs(offset: number): Promise<LikedPage>
}

export function createSpotify(accounts: Upstream, api: Upstream, keys: SpotifyKeys): Spotify {
  let token: string | undefined

  async function renew(): Promise<string> {
    try {
      const { json } = await accounts.request({
        method: 'POST',
        path: '/api/token',
        headers: { authorization: basicAuthorization(keys) },
        form: { grant_type: 'refresh_token', refresh_token: keys.refreshToken },
      })
      if (isRecord(json) && typeof json.access_token === 'string') return json.access_token
    } catch (error) {
      if (error instanceof UpstreamError && isRecord(error.body) && error.body.error === 'invalid_grant') {
        throw new SpotifyAuthorisationError(`Spotify: the refresh token is no longer valid; ${authorise}`)
      }
      throw error
    }
    throw new UpstreamError('malformed', 'Spotify: POST /api/token answered without an access token')
  }

  async function page(offset: number): Promise<unknown> {
    token ??= await renew()
    const query = { limit: String(pageSize), offset: String(offset) }
    return (await api.request({ path: '/v1/me/tracks', query, headers: { authorization: `Bearer ${token}` } })).json
  }

  return {
    async likedSongs(offset) {
      const json = await page(offset).catch((error: unknown) => {
        if (!(error instanceof UpstreamError)) throw error
        if (lacksScope(error)) {
          throw new SpotifyAuthorisationError(`Spotify: the refresh token does not allow to read liked songs; ${authorise}`)
        }
        // An access token lasts an hour; a run may last longer.
        if (error.status !== 401 || token === undefined) throw error
        token = undefined
        return page(offset)
      })
      if (!isRecord(json) || !Array.isArray(json.items) || typeof json.total !== 'number') {
        throw new UpstreamError('malformed', 'Spotify: GET /v1/me/tracks answered without items')
      }
      const songs = json.items.map(toSong).filter((song) => song !== undefined)
      return { songs, items: json.items.length, total: json.total }
    },
  }
}
