import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createUpstream, type UpstreamOptions } from '../../../../src/data/scripts/upstream.ts'
import { systemClock } from '../../../../src/util/clock.ts'

export const secrets = {
  SPOTIFY_CLIENT_ID: 'the-client-id',
  SPOTIFY_CLIENT_SECRET: 'secret-of-the-client',
  SPOTIFY_REFRESH_TOKEN: 'secret-refresh-token',
  LASTFM_API_KEY: 'secret-api-key',
  LASTFM_API_SECRET: 'secret-of-lastfm-ü',
  LASTFM_SESSION_KEY: 'secret-session-key',
} as const

const accessToken = 'secret-access-token'

export interface FakeMusic {
  /** The settings that make this server both services. */
  readonly env: Readonly<Record<string, string>>
  /** Items of the liked songs in Spotify's format, newest first. */
  items: unknown[]
  /** "artist - title" of each love, in order. */
  readonly loved: string[]
  /** Requested paths, in order. */
  readonly requested: string[]
  /** Replaces the usual answer if it returns true. */
  intercept: (path: string, response: ServerResponse, form: URLSearchParams) => boolean
  close(): Promise<void>
}

export const song = (number: number): unknown => ({
  added_at: '2026-01-01T00:00:00Z',
  track: {
    id: `id${number}`,
    name: `Song ${number} é`,
    artists: [{ name: `Artist ${number % 7}` }, { name: 'Guest' }],
    is_local: false,
  },
})

/** Songs from `max` down to `least`: newest first. */
export const songs = (max: number, least = 1) => Array.from({ length: max - least + 1 }, (_, index) => song(max - index))

/** "artist - title" of a song. */
export const title = (number: number) => `Artist ${number % 7} - Song ${number} é`
/** Those of songs, oldest first. */
export const titles = (least: number, max: number) => Array.from({ length: max - least + 1 }, (_, index) => title(least + index))

export const json = (response: ServerResponse, status: number, value: unknown, headers: Record<string, string> = {}): void => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value))
}

async function formOf(request: IncomingMessage): Promise<URLSearchParams> {
  let text = ''
  for await (const chunk of request) text += chunk
  return new URLSearchParams(text)
}

/** Last.fm's rule, implemented independently: MD5 of the sorted names and values, then the secret. */
function signed(form: URLSearchParams): boolean {
  const pairs = [...form].filter(([name]) => name !== 'api_sig' && name !== 'format').sort(([a], [b]) => (a < b ? -1 : 1))
  const expected = createHash('md5')
    .update(Buffer.from(pairs.flat().join('') + secrets.LASTFM_API_SECRET, 'utf8'))
    .digest('hex')
  return form.get('api_sig') === expected
}

/** Spotify's accounts service and API and Last.fm's API, on one port under a path each. */
export async function fakeMusic(items: unknown[] = []): Promise<FakeMusic> {
  const loved: string[] = []
  const requested: string[] = []
  const server = createServer(async (request, response) => {
    const form = await formOf(request)
    const url = new URL(request.url ?? '/', 'http://x')
    requested.push(url.pathname + url.search)
    if (music.intercept(url.pathname, response, form)) return
    if (url.pathname === '/accounts/api/token') {
      const basic = Buffer.from(`${secrets.SPOTIFY_CLIENT_ID}:${secrets.SPOTIFY_CLIENT_SECRET}`).toString('base64')
      const known =
        form.get('refresh_token') === secrets.SPOTIFY_REFRESH_TOKEN && request.headers.authorization === `Basic ${basic}`
      return known
        ? json(response, 200, { access_token: accessToken, token_type: 'Bearer', expires_in: 3600 })
        : json(response, 400, { error: 'invalid_grant' })
    }
    if (url.pathname === '/spotify/v1/me/tracks') {
      if (request.headers.authorization !== `Bearer ${accessToken}`) return json(response, 401, { error: { status: 401 } })
      const [limit, offset] = [Number(url.searchParams.get('limit')), Number(url.searchParams.get('offset'))]
      return json(response, 200, { items: music.items.slice(offset, offset + limit), total: music.items.length, limit, offset })
    }
    if (url.pathname === '/lastfm/2.0/' && request.method === 'POST') {
      if (!signed(form)) return json(response, 403, { error: 13, message: 'Invalid method signature supplied' })
      if (form.get('method') !== 'track.love' || form.get('sk') !== secrets.LASTFM_SESSION_KEY)
        return json(response, 403, { error: 9, message: 'Invalid session key' })
      loved.push(`${form.get('artist')} - ${form.get('track')}`)
      return json(response, 200, {})
    }
    json(response, 404, {})
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const music: FakeMusic = {
    env: {
      ...secrets,
      SPOTIFY_ACCOUNTS_URL: `${base}/accounts`,
      SPOTIFY_API_URL: `${base}/spotify`,
      LASTFM_API_URL: `${base}/lastfm`,
    },
    items,
    loved,
    requested,
    intercept: () => false,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return music
}

/** A client of a fake service, which does not retry. */
export const upstreamAt = (baseUrl = '', options: Partial<UpstreamOptions> = {}) =>
  createUpstream({ signal: new AbortController().signal, clock: systemClock }, { name: 'Fake', baseUrl, retries: 0, ...options })
