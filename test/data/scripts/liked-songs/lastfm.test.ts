import { createHash } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  callLastfm,
  classifyLastfm,
  isConfirmation,
  LastfmError,
  readLovedSongs,
  signature,
  songKey,
} from '../../../../src/data/scripts/liked-songs/lastfm.ts'
import { type FakeMusic, fakeMusic, json, upstreamAt } from './fake-music.ts'

let music: FakeMusic
let forms: Record<string, string>[]
let replies: ((form: Record<string, string>) => readonly [status: number, body: unknown])[]
beforeEach(async () => {
  forms = []
  replies = []
  music = await fakeMusic()
  music.intercept = (_path, response, form) => {
    const given = Object.fromEntries(form)
    forms.push(given)
    const reply = replies.length > 1 ? replies.shift() : replies[0]
    json(response, ...(reply?.(given) ?? [500, {}]))
    return true
  }
})
afterEach(() => music.close())

const keys = { apiKey: 'the-api-key', apiSecret: 'the-api-secret', sessionKey: 'the-session-key' }
const answer = (body: unknown, status = 200) => void replies.push(() => [status, body])
const call = (given = {}, use: Parameters<typeof callLastfm>[3] = keys) =>
  callLastfm(upstreamAt(music.env.LASTFM_API_URL), 'track.love', given, use)
const md5 = (text: string) => createHash('md5').update(text).digest('hex')
const failure = async (promise: Promise<unknown>): Promise<Error> =>
  promise.then(
    () => expect.fail('it did not fail'),
    (error) => error,
  )

describe('a call of Last.fm', () => {
  it('is a signed form', async () => {
    answer({ done: 1 })
    expect(await call({ track: 'Tïtle', artist: 'A' })).toEqual({ done: 1 })
    const signed = 'api_keythe-api-keyartistAmethodtrack.loveskthe-session-keytrackTïtlethe-api-secret'
    expect(forms).toEqual([
      {
        ...{ track: 'Tïtle', artist: 'A', method: 'track.love', api_key: 'the-api-key', sk: 'the-session-key' },
        ...{ api_sig: md5(signed), format: 'json' },
      },
    ])
    expect(music.requested).toEqual(['/lastfm/2.0/'])
  })

  it('has no session key while access is being requested', async () => {
    answer({})
    await call({}, { apiKey: 'k', apiSecret: 's' })
    expect(forms[0]).toEqual({ method: 'track.love', api_key: 'k', api_sig: md5('api_keykmethodtrack.loves'), format: 'json' })
  })

  it('is signed without its format, by name', () => {
    expect(signature({ b: '1', format: 'json', a: '2', B: '3' }, 'ü')).toBe(md5('B3a2b1ü'))
  })

  it.each([
    [4, 'reauthorise', 'access to the account was withdrawn; run: tickwarden authorise lastfm'],
    [6, 'song', 'Last.fm does not accept this artist and title'],
    [9, 'reauthorise', 'the session key is no longer valid; run: tickwarden authorise lastfm'],
    [11, 'unavailable', 'Last.fm is offline; try again later'],
    [13, 'stop', /^the signature is not valid; compare LASTFM_API_KEY and LASTFM_API_SECRET with/],
    [99, 'stop', 'unknown error; see the error codes at https://www.last.fm/api'],
  ])('that fails with error %i is told as %s', async (code, kind, text) => {
    answer({ error: code, message: 'No' })
    const error = await failure(call())
    expect(error).toBeInstanceOf(LastfmError)
    expect(error).toMatchObject({ name: 'LastfmError', failure: kind, code })
    const [, told] = /^Last\.fm: track\.love: (.*) \(error \d+\)$/.exec(error.message) ?? []
    expect(told).toMatch(text)
    expect((error.cause as Error).message).toBe('Last.fm replied: No')
    expect((error.cause as Error).cause).toBeUndefined()
  })

  it.each([
    [{ error: '9', message: 'No' }, 9, 'No'],
    [{ error: '0012' }, 12, undefined],
    [{ error: { code: 10, '#text': 'Text', message: 'Message' }, message: 'Outer' }, 10, 'Message'],
    [{ error: { code: '10', '#text': 'Text' }, message: 'Outer' }, 10, 'Text'],
    [{ error: { code: 10 }, message: 'Outer' }, 10, undefined],
    [{ lfm: { status: 'failed', error: { code: 4, '#text': 'Text' } } }, 4, 'Text'],
    [{ lfm: { error: 4, message: 'Inner' }, error: 9, message: 'Outer' }, 4, 'Inner'],
    [{ lfm: 1, error: 9, message: 5 }, 9, undefined],
  ])('reads the error of %j', async (body, code, message) => {
    answer(body)
    const error = await failure(call())
    expect(error).toMatchObject({ name: 'LastfmError', code })
    expect('cause' in error).toBe(message !== undefined)
    expect((error.cause as Error | undefined)?.message).toBe(message && `Last.fm replied: ${message}`)
  })

  it.each<[unknown]>([
    [null],
    ['error'],
    [[]],
    [{}],
    [{ error: 'x9' }],
    [{ error: '9x' }],
    [{ error: '' }],
    [{ error: '12345' }],
    [{ error: [9] }],
    [{ error: true }],
    [{ error: null }],
    [{ error: { code: null } }],
    [{ lfm: {}, error: 9 }],
  ])('returns %j, which is no error', async (body) => {
    answer(body)
    expect(await call()).toEqual(body)
  })

  it('has the error of a reply with a status', async () => {
    answer({ error: 9, message: 'No' }, 403)
    const error = await failure(call())
    expect(error).toMatchObject({ name: 'LastfmError', code: 9 })
    expect((error.cause as Error).cause).toMatchObject({ name: 'UpstreamError', status: 403 })
    replies = []
    answer({ error: 9 }, 403)
    expect((await failure(call())).cause).toMatchObject({ name: 'UpstreamError', status: 403 })
  })

  it('is an error of the upstream if the reply has no code', async () => {
    answer({ message: 'No' }, 404)
    expect(await failure(call())).toMatchObject({ name: 'UpstreamError', kind: 'status', status: 404 })
  })

  it('is a rate limit although the reply has a code', async () => {
    answer({ error: 29, message: 'No' }, 429)
    expect(await failure(call())).toMatchObject({ name: 'UpstreamError', kind: 'rate_limited', retryAt: expect.any(Number) })
  })

  it('passes on what is no error of the upstream', async () => {
    const other = Object.assign(new TypeError('other'), { body: { error: 9 }, kind: 'status' })
    const upstream = { request: () => Promise.reject(other), close: () => undefined }
    await expect(callLastfm(upstream, 'track.love', {}, keys)).rejects.toBe(other)
  })

  it('tells at most 200 characters of the message, without the secrets of the request', async () => {
    answer({ error: 9, message: `the-session-key the-api-key ${'x'.repeat(300)}` })
    const { cause } = await failure(call())
    expect((cause as Error).message).toBe(`Last.fm replied: [hidden] [hidden] ${'x'.repeat(182)}`)
  })
})

describe('a reply of Last.fm', () => {
  it.each<[unknown, boolean]>([
    [{}, true],
    [{ status: 'ok' }, true],
    [{ status: 'ok', track: {} }, true],
    [{ lfm: { status: 'ok' } }, true],
    [{ lfm: { status: 'failed' }, status: 'ok' }, false],
    [{ lfm: {} }, false],
    [{ lfm: '' }, false],
    [{ lfm: null }, false],
    [{ lfm: null, status: 'ok' }, true],
    [{ status: 'failed' }, false],
    [{ track: {} }, false],
    [[], false],
    [null, false],
    [undefined, false],
  ])('of %j is a confirmation: %s', (body, expected) => expect(isConfirmation(body)).toBe(expected))

  it.each<[unknown, string | undefined]>([
    [{ error: 29 }, 'rate_limited'],
    [{ lfm: { error: { code: '29' } } }, 'rate_limited'],
    [{ error: 8 }, 'temporary'],
    [{ error: 11 }, 'temporary'],
    [{ error: 16 }, 'temporary'],
    [{ error: 6 }, undefined],
    [{ error: 0 }, undefined],
    [{ error: 99 }, undefined],
    [{}, undefined],
    [undefined, undefined],
  ])('of %j is %s', (body, expected) => expect(classifyLastfm(body)).toBe(expected))
})

describe('the loved songs', () => {
  const track = (number: number) => ({ name: `Title ${number}`, artist: { name: 'Artist' } })
  const page = (tracks: unknown, totalPages: unknown) => ({ lovedtracks: { track: tracks, '@attr': { totalPages } } })
  const read = async () => [...(await readLovedSongs(upstreamAt(music.env.LASTFM_API_URL), keys))]
  const key = (number: number) => songKey('Artist', `Title ${number}`)
  beforeEach(() => answer({ user: { name: 'me' } }))

  it('are read from all pages', async () => {
    answer(page([track(1), track(2)], '3'))
    answer(page([track(3)], 3))
    answer(page([track(4)], '3'))
    expect(await read()).toEqual([key(1), key(2), key(3), key(4)])
    expect(forms.map(({ method, user, limit, page: number }) => [method, user, limit, number])).toEqual([
      ['user.getInfo', undefined, undefined, undefined],
      ['user.getLovedTracks', 'me', '1000', '1'],
      ['user.getLovedTracks', 'me', '1000', '2'],
      ['user.getLovedTracks', 'me', '1000', '3'],
    ])
    expect(forms.map(({ sk }) => sk)).toEqual(Array(4).fill('the-session-key'))
  })

  it.each([undefined, null, {}, [2], '', 'x', '0', '1', true])('have one page if the reply says %j', async (total) => {
    answer(page([track(1)], total))
    expect(await read()).toEqual([key(1)])
    expect(forms).toHaveLength(2)
  })

  it('have one page if the reply says nothing', async () => {
    answer({ lovedtracks: { track: [track(1)], '@attr': null } })
    expect(await read()).toEqual([key(1)])
    expect(forms).toHaveLength(2)
  })

  it('are read from at most a thousand pages', async () => {
    let requests = 0
    // Without a connection, because there are many.
    const request = async () => {
      requests++
      return { status: 200, headers: {}, json: { user: { name: 'me' }, ...page([], '9999999') } }
    }
    expect((await readLovedSongs({ request, close: () => undefined }, keys)).size).toBe(0)
    expect(requests).toBe(1001)
  })

  it('may be a single one, and leave out what is none', async () => {
    answer(page(track(1), '3'))
    answer(page(undefined, '3'))
    const none = [null, 'x', {}, { name: 'a' }, { name: 'a', artist: 'b' }, { name: 'a', artist: { name: 1 } }]
    answer(page([...none, { name: 1, artist: { name: 'b' } }, track(2)], '3'))
    expect(await read()).toEqual([key(1), key(2)])
  })

  it.each<[unknown]>([[null], [{}], [{ user: null }], [{ user: 'me' }], [{ user: { name: 5 } }]])(
    'are not read if the account is %j',
    async (info) => {
      replies = []
      answer(info)
      expect(await failure(read())).toMatchObject({
        name: 'UpstreamError',
        kind: 'malformed',
        message: 'Last.fm: user.getInfo: the reply has no name',
      })
      expect(forms).toHaveLength(1)
    },
  )

  it.each<[unknown]>([[null], [{}], [{ lovedtracks: [] }], [{ lovedtracks: 'x' }]])('cannot be read from %j', async (body) => {
    answer(body)
    expect(await failure(read())).toMatchObject({
      name: 'UpstreamError',
      kind: 'malformed',
      message: 'Last.fm: user.getLovedTracks: the reply has no songs',
    })
  })

  it('are the same in any case and form', () => {
    expect(songKey('ÉA', 'b')).toBe(songKey('e\u0301a', 'B'))
    expect(songKey('a', 'b')).toBe('["a","b"]')
  })
})
