import type { IncomingHttpHeaders } from 'node:http'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createSpotify, describeTokenError } from '../../../../src/data/scripts/liked-songs/spotify.ts'
import { UpstreamError } from '../../../../src/data/scripts/upstream-error.ts'
import { type FakeMusic, fakeMusic, json, upstreamAt } from './fake-music.ts'

type Reply = readonly [status: number, body: unknown, headers?: Record<string, string>]

let music: FakeMusic
let requests: { readonly path: string; readonly form: Record<string, string>; readonly headers: IncomingHttpHeaders }[]
/** The replies of the token service and of the API, in order; the last one remains. */
let tokens: Reply[]
let pages: Reply[]
let issued: string[]
beforeEach(async () => {
  requests = []
  tokens = [[200, { access_token: 'access' }]]
  pages = [[200, { items: [], total: 0 }]]
  issued = []
  music = await fakeMusic()
  music.intercept = (path, response, form) => {
    requests.push({ path: music.requested.at(-1) ?? '', form: Object.fromEntries(form), headers: response.req.headers })
    const replies = path.startsWith('/accounts') ? tokens : pages
    const [status, body, headers] = (replies.length > 1 ? replies.shift() : replies[0]) ?? [500, {}]
    json(response, status, body, headers)
    return true
  }
})
afterEach(() => music.close())

const spotify = (onNewRefreshToken?: (token: string) => Promise<void>) =>
  createSpotify(upstreamAt(music.env.SPOTIFY_ACCOUNTS_URL), upstreamAt(music.env.SPOTIFY_API_URL), {
    ...{ clientId: 'id', clientSecret: 'secret', refreshToken: 'refresh' },
    ...(onNewRefreshToken && { onNewRefreshToken }),
  })
const onNew = async (token: string) => void issued.push(token)
const failure = (promise: Promise<unknown>): Promise<UpstreamError> =>
  promise.then(
    () => expect.fail('it did not fail'),
    (error) => error,
  )
const dashboard = 'your application at https://developer.spotify.com/dashboard'

describe('the access token', () => {
  it('is requested once, with the refresh token', async () => {
    const { likedSongs } = spotify()
    await likedSongs(0)
    await likedSongs(49)
    const basic = `Basic ${Buffer.from('id:secret').toString('base64')}`
    expect(requests.map(({ path, form, headers: { authorization } }) => [path, form, authorization])).toEqual([
      ['/accounts/api/token', { grant_type: 'refresh_token', refresh_token: 'refresh' }, basic],
      ['/spotify/v1/me/tracks?limit=50&offset=0', {}, 'Bearer access'],
      ['/spotify/v1/me/tracks?limit=50&offset=49', {}, 'Bearer access'],
    ])
    expect(issued).toEqual([])
  })

  it('is requested with the refresh token that was issued last', async () => {
    const reply = (refresh: unknown): Reply => [200, { access_token: 'access', refresh_token: refresh }]
    const rejected: Reply = [401, {}]
    tokens = [reply('second'), reply('second'), reply(''), reply(5), reply('refresh')]
    pages = [0, 1, 2, 3].flatMap((): Reply[] => [rejected, [200, { items: [], total: 0 }]])
    const { likedSongs } = spotify(onNew)
    for (let page = 0; page < 4; page++) await likedSongs(0)
    const used = requests.flatMap(({ path, form }) => (path.startsWith('/accounts') ? [form.refresh_token] : []))
    expect(used).toEqual(['refresh', 'second', 'second', 'second', 'second'])
    expect(issued).toEqual(['second', 'refresh'])
  })

  it('is not used before the new refresh token is stored', async () => {
    tokens = [[200, { access_token: 'access', refresh_token: 'second' }]]
    await expect(spotify(() => Promise.reject(new Error('no disk'))).likedSongs(0)).rejects.toThrow('no disk')
    expect(requests).toHaveLength(1)
  })

  it('need not be stored', async () => {
    tokens = [[200, { access_token: 'access', refresh_token: 'second' }]]
    expect(await spotify().likedSongs(0)).toMatchObject({ items: [] })
  })

  it.each<[unknown]>([[null], [{}], [{ access_token: 5 }], ['access']])('is missing in %j', async (body) => {
    tokens = [[200, body]]
    expect(await failure(spotify().likedSongs(0))).toMatchObject({
      name: 'UpstreamError',
      kind: 'malformed',
      message: 'Spotify: the reply to POST /api/token has no access token; try again later',
    })
  })

  it.each<readonly [status: number, body: unknown, kind: string, message: string]>([
    [
      ...([400, { error: 'invalid_grant' }, 'reauthorise'] as const),
      'Spotify: the refresh token is no longer valid; run: tickwarden authorise spotify',
    ],
    [
      ...([400, { error: 'invalid_client' }, 'status'] as const),
      `Spotify: SPOTIFY_CLIENT_ID and SPOTIFY_CLIENT_SECRET were rejected; compare them with ${dashboard}`,
    ],
    [
      ...([400, { error: 'unauthorized_client' }, 'status'] as const),
      `Spotify: the application may not use refresh tokens; see ${dashboard}, then run: tickwarden authorise spotify`,
    ],
    [
      ...([400, { error: 'other' }, 'status'] as const),
      `Fake: POST /api/token answered 400: the request was refused; check ${dashboard}`,
    ],
    [
      ...([499, 'invalid_grant', 'status'] as const),
      `Fake: POST /api/token answered 499: the request was refused; check ${dashboard}`,
    ],
    [...([500, {}, 'status'] as const), 'Fake: POST /api/token answered 500: Spotify is out of service; try again later'],
  ])('that is refused with %i %j is explained', async (status, body, kind, message) => {
    tokens = [[status, body]]
    const error = await failure(spotify().likedSongs(0))
    expect(error).toMatchObject({ name: 'UpstreamError', kind, message })
    expect(error.cause).toMatchObject({ name: 'UpstreamError', kind: 'status', status })
    if (kind === 'status') expect(error).toMatchObject({ status, body })
    expect(requests).toHaveLength(1)
  })

  it('that cannot be requested has the error of the connection', async () => {
    const accounts = upstreamAt(music.env.SPOTIFY_ACCOUNTS_URL)
    accounts.close()
    const keys = { clientId: 'id', clientSecret: 'secret', refreshToken: 'refresh' }
    const error = await failure(createSpotify(accounts, accounts, keys).likedSongs(0))
    expect(error).toMatchObject({ kind: 'aborted', message: 'Fake: the run was stopped' })
    const other = new TypeError('other')
    const failing = { request: () => Promise.reject(other), close: () => undefined }
    await expect(createSpotify(failing, failing, keys).likedSongs(0)).rejects.toBe(other)
  })

  it('has the error of a rate limit', async () => {
    tokens = [[429, { error: 'other' }, { 'retry-after': '600' }]]
    expect(await failure(spotify().likedSongs(0))).toMatchObject({ kind: 'rate_limited', retryAt: expect.any(Number) })
  })

  it('has an error without a status if the reply had none', () => {
    const cause = new UpstreamError('status', 'x', { body: { error: 'invalid_client' } })
    const error = describeTokenError(cause)
    expect(error).toMatchObject({ kind: 'status', status: undefined, cause })
    expect(describeTokenError(new UpstreamError('status', 'x')).message).toBe(`x: the request was refused; check ${dashboard}`)
  })
})

describe('the liked songs', () => {
  it.each<readonly [status: number, body: unknown, kind: string, message: string]>([
    [...([401, {}, 'reauthorise'] as const), 'Spotify: a new access token was rejected; run: tickwarden authorise spotify'],
    [
      ...([403, { error: { message: 'Insufficient client Scope' } }, 'reauthorise'] as const),
      'Spotify: the refresh token does not allow reading liked songs; run: tickwarden authorise spotify',
    ],
    [
      ...([403, { error: { message: 'User NOT registered in the Dashboard' } }, 'status'] as const),
      `Spotify: the account is not a user of the application; add it under User Management of ${dashboard}`,
    ],
    [
      ...([403, { error: { message: 'see the Developer Dashboard' } }, 'status'] as const),
      `Spotify: the account is not a user of the application; add it under User Management of ${dashboard}`,
    ],
    ...[{ error: { message: 'telescopes' } }, { error: { message: ['scope'] } }, { error: 'scope' }, 'scope', null].map(
      (body) => [403, body, 'status', `Spotify: access was refused (HTTP 403); check ${dashboard} for restrictions`] as const,
    ),
    [
      ...([404, { error: { message: 'scope' } }, 'status'] as const),
      `Fake: GET /v1/me/tracks answered 404: the request was refused; check ${dashboard}`,
    ],
    [...([503, {}, 'status'] as const), 'Fake: GET /v1/me/tracks answered 503: Spotify is out of service; try again later'],
  ])('that are refused with %i %j are explained', async (status, body, kind, message) => {
    pages = [[status, body]]
    const error = await failure(spotify().likedSongs(0))
    expect(error).toMatchObject({ name: 'UpstreamError', kind, message })
    expect(error.cause).toMatchObject({ name: 'UpstreamError', status })
    if (kind === 'status') expect(error).toMatchObject({ status, body })
  })

  it('have the error of a rate limit', async () => {
    pages = [[403, { error: { message: 'scope' } }, { 'retry-after': '600' }]]
    expect(await failure(spotify().likedSongs(0))).toMatchObject({ kind: 'rate_limited', retryAt: expect.any(Number) })
  })

  it.each<[unknown]>([
    [null],
    ['x'],
    [{ total: 1 }],
    [{ items: {}, total: 1 }],
    [{ items: [] }],
    [{ items: [], total: '1' }],
    [{ items: [], total: { toString: 1 } }],
    [{ items: [], total: 1.5 }],
    [{ items: [], total: -1 }],
  ])('are not read from %j', async (body) => {
    pages = [[200, body]]
    expect(await failure(spotify().likedSongs(0))).toMatchObject({
      kind: 'malformed',
      message: 'Spotify: the reply to GET /v1/me/tracks has no items',
    })
  })

  it.each([500_001, 1e300])('are not read if there are %d', async (total) => {
    pages = [[200, { items: [], total }]]
    expect(await failure(spotify().likedSongs(0))).toMatchObject({
      kind: 'malformed',
      message: `Spotify: the reply to GET /v1/me/tracks has ${total} songs; the maximum is 500000`,
    })
  })

  it('have their id, title and main artist, and the key of each item', async () => {
    const artists = [{ name: 'A' }, null, 'x', {}, { name: 5 }, { name: '' }, { name: 'B' }]
    const track = { id: 'i', name: 'Title', artists }
    const items = [
      { added_at: '2026', track },
      { track: { ...track, is_local: true } },
      { track: { ...track, is_local: 'no' } },
      { added_at: '2025', track: { ...track, id: null, uri: 'spotify:local:x' } },
      { track: { ...track, id: 5 } },
      { track: { ...track, name: 5 } },
      { track: { ...track, name: '' } },
      { track: { ...track, artists: [] } },
      { track: { ...track, artists: { name: 'A' } } },
      { track: { name: 'n' } },
      { added_at: '2024', track: null },
      { track: 'x' },
      null,
      'x',
    ]
    pages = [[200, { items, total: 99 }]]
    const song = { id: 'i', title: 'Title', artist: 'A' }
    const keys = [
      ...['["2026","i"]', '[null,"i"]', '[null,"i"]', '["2025","spotify:local:x"]', '[null,5]', '[null,"i"]', '[null,"i"]'],
      ...['[null,"i"]', '[null,"i"]', '[null,"n"]', '["2024"]', '[51]', '[52]', '[53]'],
    ]
    expect(await spotify().likedSongs(40)).toEqual({
      items: keys.map((key, index) => ({ key, song: index === 0 || index === 2 ? song : undefined })),
      total: 99,
    })
  })
})
