import { mkdirSync } from 'node:fs'
import { appendFile, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createRunDisplay } from '../../../../src/commands/run-display.ts'
import { loadConfig } from '../../../../src/config/config.ts'
import { likedSongs } from '../../../../src/data/scripts/liked-songs/index.ts'
import { runLikedSongs } from '../../../../src/data/scripts/liked-songs/script.ts'
import { noCounts, noProgress, type RunContext, scriptSettings } from '../../../../src/data/scripts/script.ts'
import { systemClock } from '../../../../src/util/clock.ts'
import { skippingClock } from '../../../helpers/skipping-clock.ts'
import { type FakeMusic, fakeMusic, json, secrets, songs, title, titles } from './fake-music.ts'

const script = { ...likedSongs, run: (context: RunContext) => runLikedSongs(context, { gap: 0, backOff: 1 }) }
let music: FakeMusic
let dataDir: string
let messages: string[]

function createContext(options: Partial<RunContext>, env: Record<string, string> = {}): RunContext {
  // Errors with their causes and other properties, which JSON leaves out.
  const print = (...parts: unknown[]) => void messages.push(JSON.stringify(parts), inspect(parts, { depth: 10 }))
  return {
    values: scriptSettings(loadConfig({ env: { ...music.env, ...env } })),
    dataDir,
    signal: new AbortController().signal,
    log: { debug: print, info: print, warn: print, error: print },
    clock: systemClock,
    progress: noProgress,
    counts: { ...noCounts },
    full: false,
    dryRun: false,
    force: false,
    ...options,
  }
}

async function run(options: Partial<RunContext> = {}, env: Record<string, string> = {}) {
  const context = createContext(options, env)
  const result = { ...(await script.run(context)), counts: context.counts }
  messages.push(JSON.stringify(result))
  return result
}

beforeEach(async () => {
  messages = []
  dataDir = await mkdtemp(join(tmpdir(), 'tickwarden-songs-'))
  music = await fakeMusic()
})

afterEach(async () => {
  await music.close()
  const files = await Promise.all((await readdir(dataDir)).map((file) => readFile(join(dataDir, file), 'utf8')))
  for (const secret of Object.values(secrets)) expect([...messages, ...files].join('\n')).not.toContain(secret)
  await rm(dataDir, { recursive: true })
})

describe('the likedsongs script', () => {
  it('names the missing settings', () => {
    expect(script.missingSettings(scriptSettings(loadConfig({ env: {} })))).toEqual([
      'spotifyClientId',
      'spotifyClientSecret',
      'spotifyRefreshToken',
      'lastfmApiKey',
      'lastfmApiSecret',
      'lastfmSessionKey',
    ])
    expect(script.missingSettings(scriptSettings(loadConfig({ env: music.env })))).toEqual([])
  })

  it('loves all songs, oldest first, except local files and removed tracks', async () => {
    music.items = [
      ...songs(60, 31),
      { track: null },
      { track: { id: null, name: 'local', artists: [], is_local: true } },
      null,
      ...songs(30),
    ]
    expect(await run()).toEqual({
      outcome: 'done',
      counts: { read: 63, added: 60, changed: 0, unchanged: 0, rejected: 0 },
      errors: [],
    })
    expect(music.loved).toEqual(titles(1, 60))
  })

  it('is idempotent, and reads only the pages with new songs', async () => {
    music.items = songs(110)
    await run()
    expect(await run()).toMatchObject({ outcome: 'done', counts: { added: 0, unchanged: 50 } })
    music.items = songs(113)
    music.requested.length = 0
    expect(await run()).toMatchObject({ outcome: 'done', counts: { added: 3 } })
    expect(music.loved).toEqual(titles(1, 113))
    expect(music.requested.filter((path) => path.includes('/me/tracks'))).toHaveLength(2)
  })

  it('sends requests, but changes nothing, in a dry run', async () => {
    music.items = songs(3)
    expect(await run({ dryRun: true })).toMatchObject({ outcome: 'done', counts: { read: 3, added: 3 } })
    expect(music.loved).toEqual([])
    expect(await readdir(dataDir)).toEqual([])
  })

  describe('a song that Last.fm always rejects', () => {
    const day = 86_400_000
    const bad = (number: number) => (path: string, response: import('node:http').ServerResponse, form: URLSearchParams) => {
      if (!path.startsWith('/lastfm') || !form.get('track')?.startsWith(`Song ${number} `)) return false
      tries++
      answer(response)
      return true
    }
    let tries: number
    let answer: (response: import('node:http').ServerResponse) => void
    const on = (days: number) => ({ clock: skippingClock(Date.UTC(2026, 0, 1) + days * day) })
    beforeEach(() => {
      tries = 0
      music.items = songs(3)
      music.intercept = bad(2)
    })

    it.each<[what: string, answer: (response: import('node:http').ServerResponse) => void, reason: RegExp]>([
      ['error 6', (response) => json(response, 400, { error: 6 }), /does not accept this artist and title \(error 6\)/],
      ['error 7', (response) => json(response, 404, { error: 7 }), /does not know the song \(error 7\)/],
      ['error 8', (response) => json(response, 200, { error: 8 }), /the operation failed \(error 8\)/],
      ['error 8 as HTTP 500', (response) => json(response, 500, { error: 8 }), /the operation failed \(error 8\)/],
      ['HTTP 500', (response) => void response.writeHead(500).end('oops'), /HTTP 500/],
    ])('with %s is set aside after three runs, retried weekly, and does not delay others', async (_what, given, reason) => {
      answer = given
      for (const failures of [0, 1, 2]) {
        music.items = songs(3 + failures)
        const result = await run(on(failures))
        expect(result).toMatchObject({ outcome: 'partly', counts: { rejected: 1 } })
        expect(result.errors[0]).toMatch(reason)
        expect(result.errors[0]).toContain(title(2))
        expect(messages.join('\n')).toContain(`likedsongs: ${title(2)} was rejected`)
        expect(result.errors.length).toBe(failures === 2 ? 2 : 1)
      }
      expect(music.loved).toEqual([1, 3, 4, 5].map(title))

      tries = 0
      music.items = songs(6)
      const idle = await run(on(3))
      expect(idle).toMatchObject({
        outcome: 'done',
        counts: { added: 1, rejected: 0 },
        errors: [expect.stringMatching(/^set aside, tried again weekly: Artist 2 - Song 2 é \(.*; last tried 2026-01-03\)$/)],
      })
      expect(tries).toBe(0)
      expect(await run(on(10))).toMatchObject({
        outcome: 'done',
        counts: { rejected: 1 },
        errors: [expect.stringMatching(reason)],
      })
      expect(tries).toBeGreaterThan(0)

      music.intercept = () => false
      expect(await run(on(11))).toMatchObject({ counts: { added: 0 } })
      expect(await run(on(18))).toMatchObject({ outcome: 'done', counts: { added: 1 }, errors: [] })
      expect(music.loved.at(-1)).toBe(title(2))
      expect(await run(on(40))).toMatchObject({ outcome: 'done', counts: { added: 0 }, errors: [] })
    })

    it('is retried with --full', async () => {
      answer = (response) => json(response, 400, { error: 6 })
      for (const days of [0, 1, 2]) await run(on(days))
      music.intercept = () => false
      expect(await run({ ...on(2), full: true })).toMatchObject({ outcome: 'done', counts: { added: 1 } })
    })

    it('is tried once with --full, if Last.fm does not have it among the loved songs', async () => {
      answer = (response) => json(response, 400, { error: 6 })
      await run(on(0))
      music.intercept = (path, response, form) => {
        if (!path.startsWith('/lastfm') || form.get('method') === 'track.love') return false
        const track = [1, 3].map((number) => ({ name: `Song ${number} é`, artist: { name: `Artist ${number}` } }))
        json(response, 200, { user: { name: 'me' }, lovedtracks: { track } })
        return true
      }
      expect(await run({ ...on(1), full: true })).toMatchObject({ outcome: 'done', counts: { added: 1 }, errors: [] })
      expect(music.loved).toEqual([1, 3, 2].map(title))
    })

    it('in the journal without a reason is tried again', async () => {
      await appendFile(join(dataDir, 'likedsongs.jsonl'), '{"id":"id2","title":"Song 2 é","artist":"Artist 2","error":6}\n')
      music.intercept = () => false
      expect(await run()).toMatchObject({ outcome: 'done', counts: { added: 3 }, errors: [] })
    })

    it('is not the cause if every song is rejected: the run ends', async () => {
      music.items = songs(20)
      let requests = 0
      music.intercept = (path, response) => {
        if (!path.startsWith('/lastfm')) return false
        requests++
        json(response, 200, { error: 8 })
        return true
      }
      const result = await run()
      expect(result).toMatchObject({ outcome: 'failed', counts: { added: 0, rejected: 5 } })
      expect(result.errors[0]).toContain('rejected 5 songs in a row')
      expect(requests).toBe(5 * 4)
      music.intercept = () => false
      expect(await run()).toMatchObject({ outcome: 'done', counts: { added: 20 } })
    })

    it('does not end a run by being rejected again after four new ones', async () => {
      music.intercept = (path, response) => {
        if (!path.startsWith('/lastfm')) return false
        json(response, 200, { error: 6 })
        return true
      }
      for (const count of [4, 8]) {
        music.items = songs(count)
        expect(await run()).toMatchObject({ outcome: 'partly', counts: { rejected: count } })
      }
    })
  })

  it.each<[what: string, answer: (response: import('node:http').ServerResponse) => void, outcome: string, message: RegExp]>([
    [
      'a wrong client secret',
      (response) => json(response, 400, { error: 'invalid_client', error_description: 'Invalid client secret' }),
      'failed',
      /SPOTIFY_CLIENT_ID and SPOTIFY_CLIENT_SECRET were rejected; compare them/,
    ],
    [
      'a forbidden grant',
      (response) => json(response, 400, { error: 'unauthorized_client' }),
      'failed',
      /may not use refresh tokens.*tickwarden authorise spotify/,
    ],
    [
      'another refusal',
      (response) => json(response, 400, { error: 'odd' }),
      'failed',
      /^Spotify: POST \/api\/token answered 400: the request was refused/,
    ],
    [
      'a revoked token',
      (response) => json(response, 400, { error: 'invalid_grant' }),
      'reauthorise',
      /tickwarden authorise spotify/,
    ],
    ['no token', (response) => json(response, 200, {}), 'failed', /has no access token; try again later/],
    ['an outage', (response) => json(response, 503, {}), 'failed', /answered 503: Spotify is out of service; try again later/],
  ])('has an error that explains %s', async (_what, answer, outcome, message) => {
    music.intercept = (path, response) => {
      if (path !== '/accounts/api/token') return false
      answer(response)
      return true
    }
    const result = await run({ clock: skippingClock(Date.now()) })
    expect(result.outcome).toBe(outcome)
    expect(result.errors).toEqual([expect.stringMatching(message)])
  })

  it.each([
    ['a wrong signature', 403, 13, /the signature is not valid/],
    ['an invalid session, as HTTP 200', 200, 9, /the session key is no longer valid/],
    ['a song that it does not accept', 400, 6, /does not accept this artist and title/],
    ['an error of its own', 500, undefined, /HTTP 500/],
  ])('logs why Last.fm reported %s, without the secrets of the request that it quotes', async (_, status, error, reason) => {
    music.items = songs(1)
    let form = new URLSearchParams()
    music.intercept = (path, response, given) => {
      if (!path.startsWith('/lastfm')) return false
      form = given
      const values = [given.get('api_sig'), given.get('api_key'), decodeURIComponent(given.toString())]
      json(response, status, { error, message: `You sent ${given}, that is ${values.join(' ')}. Please check.` })
      return true
    }
    const result = await run({ clock: skippingClock(Date.now()) })
    expect(result.errors).toEqual([expect.stringMatching(reason)])
    const shown = messages.join('\n')
    expect(form.get('api_sig')).toMatch(/^[0-9a-f]{32}$/)
    expect(shown).not.toContain(form.get('api_sig'))
    if (error !== undefined) expect(shown).toMatch(/\[cause\]: Error: Last\.fm replied: You sent .*method=track\.love/)
    if (status !== 200) expect(shown).toContain(`UpstreamError: Last.fm: POST /2.0/ answered ${status}`)
  })

  it('explains what to do if Spotify rejects every access token', async () => {
    music.intercept = (path, response) => {
      if (path !== '/spotify/v1/me/tracks') return false
      json(response, 401, { error: { status: 401, message: 'Invalid access token' } })
      return true
    }
    expect(await run()).toMatchObject({ outcome: 'reauthorise', errors: [expect.stringContaining('authorise spotify')] })
  })

  describe('if Spotify issues another refresh token', () => {
    const rotated = ['secret-rotated-1', 'secret-rotated-2', 'secret-rotated-3']
    const store = () => join(dataDir, 'spotify-refresh-token.json')
    beforeEach(() => {
      let valid: string = secrets.SPOTIFY_REFRESH_TOKEN
      let index = 0
      music.intercept = (path, response, form) => {
        if (path !== '/accounts/api/token' || form.get('refresh_token') !== valid) return false
        valid = rotated[index++] ?? ''
        json(response, 200, { access_token: 'secret-access-token', refresh_token: valid })
        return true
      }
    })
    afterEach(() => rm(store(), { force: true, recursive: true }))

    it('stores it, readable by its owner only, and uses it afterwards, in a dry run too', async () => {
      expect(await run()).toMatchObject({ outcome: 'done' })
      expect((await stat(store())).mode & 0o777).toBe(0o600)
      expect(await readFile(store(), 'utf8')).toContain(rotated[0])
      expect(await run({ dryRun: true })).toMatchObject({ outcome: 'done' })
      expect(await run()).toMatchObject({ outcome: 'done' })
      expect(await readFile(store(), 'utf8')).toContain(rotated[2])
      for (const token of rotated) expect(messages.join('')).not.toContain(token)
    })

    it('uses the token in the settings if that has changed since', async () => {
      await run()
      expect(await run({}, { SPOTIFY_REFRESH_TOKEN: 'another' })).toMatchObject({ outcome: 'reauthorise' })
    })

    it('logs if it cannot be stored, and continues', async () => {
      music.items = songs(2)
      const { intercept } = music
      music.intercept = (path, ...given) => {
        if (path === '/accounts/api/token') mkdirSync(store())
        return intercept(path, ...given)
      }
      expect(await run()).toMatchObject({ outcome: 'done', counts: { added: 2 } })
      const [logged] = messages
      expect(logged).toContain('likedsongs: the new Spotify refresh token could not be stored')
      expect(logged).toContain('"code":"EISDIR"')
    })

    it('uses the token in the settings if the stored one cannot be read', async () => {
      await writeFile(store(), '{"of": ')
      expect(await run()).toMatchObject({ outcome: 'done' })
    })
  })

  it.each([8, 11, 16, 29])('backs off after error %i, and continues', async (error) => {
    music.items = songs(3)
    let times = 2
    music.intercept = (path, response) => {
      if (!path.startsWith('/lastfm') || times-- <= 0) return false
      json(response, 200, { error, message: 'later' })
      return true
    }
    expect(await run()).toMatchObject({ outcome: 'done', counts: { added: 3 } })
    expect(music.loved).toEqual(titles(1, 3))
  })

  it.each([
    [4, 'reauthorise', /access to the account was withdrawn; run: tickwarden authorise lastfm \(error 4\)/],
    [9, 'reauthorise', /the session key is no longer valid; run: tickwarden authorise lastfm/],
    [14, 'reauthorise', /run: tickwarden authorise lastfm/],
    [17, 'reauthorise', /run: tickwarden authorise lastfm/],
    [10, 'failed', /the API key is not valid; compare LASTFM_API_KEY/],
    [13, 'failed', /the signature is not valid; compare LASTFM_API_KEY and LASTFM_API_SECRET/],
    [26, 'failed', /the API key is suspended/],
    [27, 'failed', /unknown error; see .* \(error 27\)/],
    [-1, 'failed', /unknown error/],
  ] as const)('stops at lasting error %i as %s, though songs were loved before', async (error, outcome, message) => {
    music.items = songs(3)
    music.intercept = (path, response) => {
      if (!path.startsWith('/lastfm') || music.loved.length === 0) return false
      json(response, 403, { error, message: 'no' })
      return true
    }
    const result = await run()
    expect(result).toMatchObject({ outcome, counts: { added: 1 } })
    expect(result.errors[0]).toMatch(message)
  })

  it.each([
    [0, 'failed'],
    [1, 'partly'],
  ])('if Last.fm goes out of service after %i songs, ends as %s', async (added, outcome) => {
    music.items = songs(3)
    music.intercept = (path, response) => {
      if (!path.startsWith('/lastfm') || music.loved.length < added) return false
      json(response, 503, { error: 16 })
      return true
    }
    const result = await run()
    expect(result).toEqual({ outcome, counts: expect.objectContaining({ added }), errors: [expect.any(String)] })
    expect(result.errors[0]).toMatch(/^Last\.fm: track\.love: .* temporarily unavailable; try again later \(error 16\)$/)
  })

  it('sends 5 requests per second to Last.fm, and waits 10 s for a rate limit without a duration', async () => {
    music.items = songs(4)
    const waits: number[] = []
    const clock = skippingClock(Date.UTC(2026, 0, 1))
    const sent: number[] = []
    music.intercept = (path, response) => {
      if (!path.startsWith('/lastfm')) return false
      sent.push(clock.now())
      if (sent.length !== 4) return false
      json(response, 200, { error: 29 })
      return true
    }
    const progress = { ...noProgress, wait: (_upstream: string, milliseconds: number) => void waits.push(milliseconds) }
    const result = await likedSongs.run(createContext({ clock, progress }))
    expect(result).toEqual({ outcome: 'done', errors: [] })
    expect(sent).toEqual([0, 200, 400, 600, 10_600])
    expect(waits).toEqual([10_000])
  })

  it.each([200, 403, 429])('waits until the rate limit of Last.fm ends, with status %i', async (status) => {
    music.items = songs(3)
    let refused = 0
    let last = 0
    const pauses: number[] = []
    const clock = skippingClock(Date.now())
    music.intercept = (path, response) => {
      if (!path.startsWith('/lastfm')) return false
      if (refused > 0) pauses.push(clock.now() - last)
      last = clock.now()
      if (refused === 2) return false
      refused++
      json(response, status, { error: 29, message: 'Rate limit exceeded' }, { 'retry-after': '10' })
      return true
    }
    expect(await run({ clock })).toMatchObject({ outcome: 'done', counts: { added: 3 } })
    expect(music.loved).toEqual(titles(1, 3))
    expect(Math.min(...pauses.slice(0, 2))).toBeGreaterThanOrEqual(10_000)
  })

  it.each([
    ['for hours', 200, { 'retry-after': '7200' }, 1, 7_200_000],
    ['for hours', 429, { 'retry-after': '7200' }, 1, 7_200_000],
    ['again and again', 200, { 'retry-after': '2' }, 4, 2000],
    ['again and again', 429, { 'retry-after': '2' }, 4, 2000],
    ['without a duration', 200, {}, 4, 5],
  ])('ends as rate_limited if Last.fm limits requests %s, with status %i, and keeps what was loved', async (...given) => {
    const [, status, headers, requested, ahead] = given
    music.items = songs(3)
    let refused = 0
    music.intercept = (path, response) => {
      if (!path.startsWith('/lastfm') || music.loved.length < 2) return false
      refused++
      json(response, status, { error: 29, message: 'Rate limit exceeded' }, headers)
      return true
    }
    const clock = skippingClock(Date.now())
    const result = await run({ clock })
    expect(result).toMatchObject({ outcome: 'rate_limited', counts: { added: 2 } })
    expect(result.errors).toEqual([expect.stringMatching(/^Last\.fm: .*; rate limited until 2/)])
    expect((result.retryAt ?? 0) - clock.wall()).toBe(ahead)
    expect(refused).toBe(requested)
    music.intercept = () => false
    expect(await run({ clock: { ...systemClock, wall: () => (result.retryAt ?? 0) + 1 } })).toMatchObject({ outcome: 'done' })
    expect(music.loved).toEqual(titles(1, 3))
  })

  it('requests authorisation if the refresh token does not allow reading liked songs', async () => {
    let message: unknown = 'Insufficient client scope'
    music.intercept = (path, response) => {
      if (path !== '/spotify/v1/me/tracks') return false
      json(response, 403, { error: { status: 403, message } })
      return true
    }
    expect(await run()).toMatchObject({
      outcome: 'reauthorise',
      errors: [expect.stringContaining('run: tickwarden authorise spotify')],
    })
    expect(music.requested).toHaveLength(2)
    message = 'User not registered in the Developer Dashboard'
    expect(await run()).toMatchObject({ outcome: 'failed', errors: [expect.stringContaining('add it under User Management')] })
    message = { toString: 1 }
    expect(await run()).toMatchObject({ outcome: 'failed', errors: [expect.stringContaining('access was refused (HTTP 403)')] })
  })

  it('requests authorisation if the refresh token is no longer valid', async () => {
    expect(await run({}, { SPOTIFY_REFRESH_TOKEN: 'old' })).toMatchObject({
      outcome: 'reauthorise',
      errors: [expect.stringContaining('tickwarden authorise spotify')],
    })
  })

  it('renews an access token that expires during the run', async () => {
    music.items = songs(120)
    let once = true
    music.intercept = (path, response) => {
      if (!once || path !== '/spotify/v1/me/tracks') return false
      once = false
      json(response, 401, { error: { status: 401, message: 'The access token expired' } })
      return true
    }
    expect(await run()).toMatchObject({ outcome: 'done', counts: { added: 120 } })
  })

  it('does not take a rate limit of more than a day for one', async () => {
    music.items = songs(1)
    await run()
    for (const [ahead, outcome] of [
      [0, 'done'],
      [86_400_000, 'rate_limited'],
      [86_400_001, 'done'],
    ] as const) {
      const wall = Date.UTC(2026, 0, 15)
      await appendFile(
        join(dataDir, 'likedsongs.jsonl'),
        `${JSON.stringify({ state: { retryAt: wall + ahead, isIncomplete: false } })}\n`,
      )
      expect(await run({ clock: { ...systemClock, wall: () => wall } })).toMatchObject({ outcome })
    }
  })

  it('does not wait for hours: it ends, stores the time, and sends no request before', async () => {
    music.items = songs(3)
    music.intercept = (path, response) => {
      if (path !== '/spotify/v1/me/tracks') return false
      json(response, 429, {}, { 'retry-after': '7200' })
      return true
    }
    expect(await run({ dryRun: true })).toMatchObject({ outcome: 'rate_limited' })
    expect(await readdir(dataDir), 'after a dry run').toEqual([])
    const first = await run()
    expect(first.outcome).toBe('rate_limited')
    expect(first.retryAt).toBeGreaterThan(Date.now() + 7_000_000)
    music.requested.length = 0
    music.intercept = () => false
    expect(await run()).toMatchObject({
      ...{ outcome: 'rate_limited', retryAt: first.retryAt },
      errors: [`rate limited until ${new Date(first.retryAt ?? 0).toISOString()}: no request was sent`],
    })
    expect(music.requested).toEqual([])
    expect(await run({ clock: { ...systemClock, wall: () => (first.retryAt ?? 0) + 1 } })).toMatchObject({ outcome: 'done' })
  })

  it.each<[string, (response: import('node:http').ServerResponse) => void]>([
    ['HTML instead of JSON', (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>')],
    ['another JSON', (response) => json(response, 200, { items: 7 })],
  ])('fails with a clear error on %s', async (_name, answer) => {
    music.intercept = (path, response) => {
      if (path !== '/spotify/v1/me/tracks') return false
      answer(response)
      return true
    }
    expect(await run()).toMatchObject({
      outcome: 'failed',
      errors: [expect.stringMatching(/^Spotify: (the reply to )?GET \/v1\/me\/tracks /)],
    })
  })

  it('has labels with control characters, which the terminal shows escaped', async () => {
    const written: string[] = []
    const stream = { write: (text: string) => written.push(text) > 0 }
    const display = createRunDisplay({ parts: 'songs' }, stream, stream, systemClock)
    music.items = [{ track: { id: 'x', name: '\u001b]0;owned\u0007\u009b2J', artists: [{ name: 'A\nB' }] } }]
    expect(await run({ progress: display.progress, log: display.log })).toMatchObject({ outcome: 'done' })
    display.log.warn('a\u001b[31m')
    expect(written.join('')).toContain('A\\u000aB - \\u001b]0;owned\\u0007\\u009b2J')
    expect(written.join('')).toContain('a\\u001b[31m')
    expect(written.join('').replaceAll('\n', '')).not.toMatch(/\p{Cc}/u)
  })

  it('continues after a closed connection and an incomplete last line of the journal', async () => {
    music.items = songs(2)
    let once = true
    music.intercept = (path, response) => {
      if (!once || !path.startsWith('/lastfm')) return false
      once = false
      response.destroy()
      return true
    }
    expect(await run()).toMatchObject({ outcome: 'done', counts: { added: 2 } })
    await appendFile(join(dataDir, 'likedsongs.jsonl'), '{"id":"id3","ti')
    music.items = songs(3)
    expect(await run()).toMatchObject({ outcome: 'done', counts: { added: 1 } })
    expect(await run()).toMatchObject({ counts: { added: 0 } })
  })

  it('rejects if another replica may have taken over the run', async () => {
    music.items = songs(2)
    const confirm = () => Promise.reject(new Error('another replica may have taken over'))
    await expect(run({ confirm })).rejects.toThrow('another replica may have taken over')
    expect(music.loved).toEqual([])
  })

  it('ends quickly when aborted', async () => {
    music.items = songs(50)
    const stop = new AbortController()
    music.intercept = (path) => {
      if (path.startsWith('/lastfm') && music.loved.length === 5) stop.abort()
      return false
    }
    const counts = { ...noCounts }
    await expect(run({ signal: stop.signal, counts })).rejects.toThrow()
    expect(music.loved.length).toBeLessThanOrEqual(6)
    expect(counts).toEqual({ ...noCounts, read: 50, added: 5 })
  })
})
