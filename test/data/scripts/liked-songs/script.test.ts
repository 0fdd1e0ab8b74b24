import { spawn } from 'node:child_process'
import { appendFile, mkdtemp, readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../../../src/clock.ts'
import { loadConfig } from '../../../../src/config.ts'
import { createLikedSongsScript } from '../../../../src/data/scripts/liked-songs/script.ts'
import { noCounts, noProgress, type RunContext, scriptSettings } from '../../../../src/data/scripts/script.ts'
import { fastClock } from '../../../helpers/fast-clock.ts'
import { type FakeMusic, fakeMusic, json, secrets, song } from './fake-music.ts'

const script = createLikedSongsScript({ gap: 0, backOff: 1 })
let music: FakeMusic
let dataDir: string
let said: string[]

/** Numbers from `most` down to `least`: newest first. */
const songs = (most: number, least = 1) => Array.from({ length: most - least + 1 }, (_, index) => song(most - index))
const title = (number: number) => `Artist ${number % 7} - Song ${number} é`
const titles = (least: number, most: number) => Array.from({ length: most - least + 1 }, (_, index) => title(least + index))

async function run(options: Partial<RunContext> = {}, env: Record<string, string> = {}) {
  const say = (...parts: unknown[]) => void said.push(JSON.stringify(parts))
  const result = await script.run({
    values: scriptSettings(loadConfig({ env: { ...music.env, ...env } })),
    dataDir,
    signal: new AbortController().signal,
    log: { debug: say, info: say, warn: say, error: say },
    clock: systemClock,
    progress: noProgress,
    counts: { ...noCounts },
    full: false,
    dryRun: false,
    force: false,
    ...options,
  })
  said.push(JSON.stringify(result))
  return result
}

beforeEach(async () => {
  said = []
  dataDir = await mkdtemp(join(tmpdir(), 'tickwarden-songs-'))
  music = await fakeMusic()
})

afterEach(async () => {
  await music.close()
  const files = await Promise.all((await readdir(dataDir)).map((file) => readFile(join(dataDir, file), 'utf8')))
  for (const secret of Object.values(secrets)) expect([...said, ...files].join('\n')).not.toContain(secret)
})

describe('the likedsongs script', () => {
  it('names what is not set', () => {
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

  it('loves all songs, oldest first, leaving out local files and tracks that are gone', async () => {
    music.items = [
      ...songs(120, 61),
      { track: null },
      { track: { id: null, name: 'local', artists: [], is_local: true } },
      null,
      ...songs(60),
    ]
    expect(await run()).toEqual({
      outcome: 'done',
      counts: { read: 123, added: 120, changed: 0, unchanged: 0, rejected: 0 },
      errors: [],
    })
    expect(music.loved).toEqual(titles(1, 120))
  })

  it('is idempotent, and of new songs reads only the pages it needs', async () => {
    music.items = songs(200)
    await run()
    expect(await run()).toMatchObject({ outcome: 'done', counts: { added: 0, unchanged: 50 } })
    music.items = songs(203)
    music.asked.length = 0
    expect(await run()).toMatchObject({ outcome: 'done', counts: { added: 3 } })
    expect(music.loved).toEqual(titles(1, 203))
    expect(music.asked.filter((path) => path.includes('/me/tracks'))).toHaveLength(2)
  })

  it('asks, but changes nothing, in a dry run', async () => {
    music.items = songs(3)
    expect(await run({ dryRun: true })).toMatchObject({ outcome: 'done', counts: { read: 3, added: 3 } })
    expect(music.loved).toEqual([])
    expect(await readdir(dataDir)).toEqual([])
  })

  it('passes over a song that Last.fm does not take, and tries it again only with full', async () => {
    music.items = songs(3)
    music.intercept = (_path, response, form) => {
      if (!form.get('track')?.startsWith('Song 2')) return false
      json(response, 400, { error: 6, message: 'Track not found' })
      return true
    }
    expect(await run()).toMatchObject({
      outcome: 'partly',
      counts: { added: 2, rejected: 1 },
      errors: ['Artist 2 - Song 2 é: Last.fm: track.love failed with its error 6'],
    })
    expect(said.join('')).toContain('likedsongs: Artist 2 - Song 2 é: Last.fm: track.love failed with its error 6')
    expect(music.loved).toEqual([title(1), title(3)])
    music.intercept = () => false
    expect(await run()).toMatchObject({ outcome: 'done', counts: { added: 0 } })
    expect(await run({ full: true })).toMatchObject({ outcome: 'done', counts: { added: 1 } })
    expect(music.loved).toEqual([title(1), title(3), title(2)])
  })

  it.each([8, 11, 16, 29])('backs off at error %i, and goes on', async (error) => {
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
    [9, 'reauthorise', /tickwarden authorise lastfm/],
    [4, 'failed', /its error 4/],
    [10, 'failed', /its error 10/],
    [13, 'failed', /its error 13/],
    [26, 'failed', /its error 26/],
  ] as const)('stops at lasting error %i as %s', async (error, outcome, message) => {
    music.items = songs(3)
    music.intercept = (path, response) => {
      if (!path.startsWith('/lastfm')) return false
      json(response, 403, { error, message: 'no' })
      return true
    }
    const result = await run()
    expect(result).toMatchObject({ outcome, counts: { added: 0 } })
    expect(result.errors[0]).toMatch(message)
  })

  it.each([200, 403, 429])('waits as long as the rate limit of Last.fm says, told with status %i', async (status) => {
    music.items = songs(3)
    let refused = 0
    let last = 0
    const pauses: number[] = []
    const clock = fastClock(Date.now(), 20)
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
    ['without end', 200, { 'retry-after': '2' }, 4, 2000],
    ['without end', 429, { 'retry-after': '2' }, 4, 2000],
    ['and does not say how long', 200, {}, 4, 0],
  ])('ends as rate limited where Last.fm is so %s, told with status %i, and keeps what was loved', async (...given) => {
    const [, status, headers, asked, least] = given
    music.items = songs(3)
    let refused = 0
    music.intercept = (path, response) => {
      if (!path.startsWith('/lastfm') || music.loved.length < 2) return false
      refused++
      json(response, status, { error: 29, message: 'Rate limit exceeded' }, headers)
      return true
    }
    const clock = fastClock(Date.now(), 20)
    const result = await run({ clock })
    expect(result).toMatchObject({ outcome: 'rate_limited', counts: { added: 2 } })
    expect(result.errors).toEqual([expect.stringMatching(/^Last\.fm: .*; rate limited until 2/)])
    expect((result.retryAt ?? 0) - Date.now()).toBeGreaterThanOrEqual(least)
    expect(refused).toBe(asked)
    music.intercept = () => false
    expect(await run({ clock: { ...systemClock, wall: () => (result.retryAt ?? 0) + 1 } })).toMatchObject({ outcome: 'done' })
    expect(music.loved).toEqual(titles(1, 3))
  })

  it('asks to re-authorise when the refresh token does not allow to read liked songs', async () => {
    let message = 'Insufficient client scope'
    music.intercept = (path, response) => {
      if (path !== '/spotify/v1/me/tracks') return false
      json(response, 403, { error: { status: 403, message } })
      return true
    }
    expect(await run()).toMatchObject({
      outcome: 'reauthorise',
      errors: [expect.stringContaining('run: tickwarden authorise spotify')],
    })
    expect(music.asked).toHaveLength(2)
    message = 'User not registered in the Developer Dashboard'
    expect(await run()).toMatchObject({ outcome: 'failed', errors: ['Spotify: GET /v1/me/tracks answered 403'] })
  })

  it('asks to re-authorise when the refresh token is no longer valid', async () => {
    expect(await run({}, { SPOTIFY_REFRESH_TOKEN: 'old' })).toMatchObject({
      outcome: 'reauthorise',
      errors: [expect.stringContaining('tickwarden authorise spotify')],
    })
  })

  it('renews an access token that has run out on the way', async () => {
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

  it('does not wait for hours: it stops, remembers until when, and asks nothing before', async () => {
    music.items = songs(3)
    music.intercept = (path, response) => {
      if (path !== '/spotify/v1/me/tracks') return false
      json(response, 429, {}, { 'retry-after': '7200' })
      return true
    }
    const first = await run()
    expect(first.outcome).toBe('rate_limited')
    expect(first.retryAt).toBeGreaterThan(Date.now() + 7_000_000)
    music.asked.length = 0
    music.intercept = () => false
    expect(await run()).toMatchObject({ outcome: 'rate_limited', retryAt: first.retryAt })
    expect(music.asked).toEqual([])
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
      errors: [expect.stringMatching(/^Spotify: GET \/v1\/me\/tracks answered/)],
    })
  })

  it('goes on after a cut connection and after a torn last line of its journal', async () => {
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

  it('ends soon when it is aborted', async () => {
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

  it('resumes 10,000 songs after kills, without loving one twice beyond the one in flight, in bounded memory', {
    timeout: 300_000,
  }, async () => {
    music.items = songs(10_000)
    const start = () => {
      const child = spawn(process.execPath, ['--import', 'tsx', join(import.meta.dirname, 'run-once.ts'), dataDir], {
        env: { PATH: process.env.PATH ?? '', ...music.env },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      let output = ''
      child.stdout.on('data', (chunk: Buffer) => {
        output += chunk
      })
      return { child, ended: new Promise<string>((resolve) => child.once('close', () => resolve(output))) }
    }
    const kills = [1, 700, 2500, 6001]
    for (const count of kills) {
      const { child, ended } = start()
      music.intercept = (path) => {
        if (path.startsWith('/lastfm') && music.loved.length >= count) child.kill('SIGKILL')
        return false
      }
      await ended
    }
    music.intercept = () => false
    const last = JSON.parse(await start().ended) as { outcome: string; peakMegabytes: number }
    expect(last.outcome).toBe('done')
    expect(last.peakMegabytes).toBeLessThan(400)
    expect(new Set(music.loved).size).toBe(10_000)
    expect(music.loved.length - 10_000).toBeLessThanOrEqual(kills.length)
    expect([...new Set(music.loved)]).toEqual(titles(1, 10_000))
  })
})
