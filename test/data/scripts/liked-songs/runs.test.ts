import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadConfig } from '../../../../src/config/config.ts'
import { runLikedSongs } from '../../../../src/data/scripts/liked-songs/script.ts'
import { noCounts, noProgress, type RunContext, scriptSettings } from '../../../../src/data/scripts/script.ts'
import { systemClock } from '../../../../src/util/clock.ts'
import { silentLog } from '../../../../src/util/log.ts'
import { type FakeMusic, fakeMusic, json, song } from './fake-music.ts'

let music: FakeMusic
let dataDir: string
const songs = (max: number, least = 1) => Array.from({ length: max - least + 1 }, (_, index) => song(max - index))
const title = (number: number) => `Artist ${number % 7} - Song ${number} é`
const titles = (least: number, max: number) => Array.from({ length: max - least + 1 }, (_, index) => title(least + index))

async function run(options: Partial<RunContext> = {}, env = {}) {
  const counts = { ...noCounts }
  const result = await runLikedSongs(
    {
      values: scriptSettings(loadConfig({ env: { ...music.env, ...env } })),
      ...{ dataDir, signal: new AbortController().signal, log: silentLog, clock: systemClock, progress: noProgress },
      ...{ counts, full: false, dryRun: false, force: false },
      ...options,
    },
    { gap: 0, backOff: 1 },
  )
  return { ...result, counts }
}

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'tickwarden-walk-'))
  music = await fakeMusic()
})
afterEach(async () => {
  await music.close()
  await rm(dataDir, { recursive: true })
})

const offsetsRead = () =>
  music.requested.flatMap((path) => (path.includes('/me/tracks') ? [Number(/offset=(\d+)/.exec(path)?.[1])] : []))

/** Answers a page from this position on with fewer songs than there are. */
const shortFrom = (position: number, length: number) => (path: string, response: ServerResponse) => {
  if (!path.endsWith('/me/tracks')) return false
  const offset = offsetsRead().at(-1) ?? 0
  const items = offset >= position ? music.items.slice(offset, offset + length) : music.items.slice(offset, offset + 50)
  json(response, 200, { items, total: music.items.length })
  return true
}

describe('a walk through the liked songs', () => {
  it.each([0, 1, 30])('that gets a page of %i songs is partly done, and the next run reads the whole list', async (length) => {
    music.items = songs(90)
    music.intercept = shortFrom(40, length)
    const first = await run()
    expect(first.outcome).toBe('partly')
    expect(first.errors[0]).toMatch(
      /^Spotify returned \d+ of 41 songs from position 49 of 90; the next run reads the whole list$/,
    )
    expect(music.loved).toEqual(titles(41, 90))
    expect((await run()).outcome).toBe('failed')
    music.intercept = () => false
    music.items = songs(93)
    expect(await run()).toMatchObject({ outcome: 'done', counts: { added: 43 } })
    expect([...music.loved].sort()).toEqual(titles(1, 93).sort())
    music.requested.length = 0
    expect(await run()).toMatchObject({ outcome: 'done', counts: { added: 0 } })
    expect(offsetsRead()).toEqual([0])
  })

  it('that gets a page with fewer songs changes nothing in a dry run', async () => {
    music.items = songs(90)
    music.intercept = shortFrom(40, 30)
    expect(await run({ dryRun: true })).toMatchObject({ outcome: 'partly', counts: { added: 50 } })
    expect(await readdir(dataDir)).toEqual([])
  })

  it('whose first page is empty is a failure, not a library without songs', async () => {
    music.items = songs(60)
    music.intercept = shortFrom(0, 0)
    expect(await run()).toMatchObject({ outcome: 'failed', counts: { added: 0 } })
    music.items = []
    music.intercept = () => false
    expect(await run()).toMatchObject({ outcome: 'done' })
  })

  it('that is incomplete a second time, among newer songs, misses none of them', async () => {
    music.items = songs(110)
    music.intercept = shortFrom(90, 0)
    expect(await run()).toMatchObject({ outcome: 'partly' })
    music.items = songs(180)
    music.intercept = shortFrom(40, 0)
    expect(await run()).toMatchObject({ outcome: 'partly' })
    music.intercept = () => false
    expect(await run()).toMatchObject({ outcome: 'done' })
    expect([...new Set(music.loved)].sort()).toEqual(titles(1, 180).sort())
  })

  it.each([
    ['to the end', 0],
    ['up to another short page', 120],
  ])('that is repeated %s, but whose songs are not all loved, is repeated once more', async (_what, later) => {
    music.items = songs(170)
    music.intercept = shortFrom(90, 0)
    expect(await run()).toMatchObject({ outcome: 'partly' })
    let left = 20
    const short = shortFrom(later || 999, 0)
    music.intercept = (path, response) => {
      if (!path.startsWith('/lastfm')) return short(path, response)
      if (left-- > 0) return false
      json(response, 200, { error: 9 })
      return true
    }
    expect(await run()).toMatchObject({ outcome: 'reauthorise', counts: { added: 20 } })
    music.intercept = () => false
    expect(await run()).toMatchObject({ outcome: 'done' })
    expect([...new Set(music.loved)].sort()).toEqual(titles(1, 170).sort())
  })

  it.each([1, 5, 12])('finds every song if %i are unliked meanwhile', async (count) => {
    music.items = songs(80)
    let isFirst = true
    music.intercept = (path, response) => {
      if (!path.endsWith('/me/tracks') || !isFirst) return false
      isFirst = false
      json(response, 200, { items: music.items.slice(0, 50), total: 80 })
      music.items = music.items.slice(count)
      return true
    }
    expect(await run()).toMatchObject({ outcome: 'done', counts: { added: 80 } })
    expect(music.loved).toEqual(titles(1, 80))
  })
})

describe('a reply of Last.fm', () => {
  const unconfirmed = /^Last\.fm: track\.love: the reply does not confirm that the song is loved$/
  it.each<[string, (response: ServerResponse) => void, outcome?: string, message?: RegExp]>([
    ['204', (response) => void response.writeHead(204).end()],
    ['null', (response) => json(response, 200, null)],
    ['a list', (response) => json(response, 200, [])],
    [
      'an error as text',
      (response) => json(response, 200, { error: '9', message: 'Invalid session key' }),
      'reauthorise',
      /\(error 9\)$/,
    ],
    ['a failed status', (response) => json(response, 200, { lfm: { status: 'failed' } })],
    [
      'a failed status with an error',
      (response) => json(response, 200, { lfm: { status: 'failed', error: { code: 10 } } }),
      'failed',
      /\(error 10\)$/,
    ],
    ['something else', (response) => json(response, 200, { track: {} })],
  ])('that is %s is no success', async (_what, answer, outcome = 'failed', message = unconfirmed) => {
    music.items = songs(3)
    music.intercept = (path, response) => {
      if (!path.startsWith('/lastfm')) return false
      answer(response)
      return true
    }
    expect(await run()).toMatchObject({ outcome, counts: { added: 0 }, errors: [expect.stringMatching(message)] })
    music.intercept = () => false
    expect(await run()).toMatchObject({ outcome: 'done', counts: { added: 3 } })
  })

  it.each([{}, { status: 'ok' }, { lfm: { status: 'ok' } }])('that is %j is a success', async (body) => {
    music.items = songs(2)
    music.intercept = (path, response) => {
      if (!path.startsWith('/lastfm')) return false
      json(response, 200, body)
      return true
    }
    expect(await run()).toMatchObject({ outcome: 'done', counts: { added: 2 } })
  })
})

it('another account starts anew, and the journal of the first one is kept', async () => {
  music.items = songs(3)
  await run()
  music.intercept = (path, response) => {
    if (!path.startsWith('/lastfm')) return false
    json(response, 200, {})
    return true
  }
  expect(await run({}, { LASTFM_SESSION_KEY: 'another-session' })).toMatchObject({ outcome: 'done', counts: { added: 3 } })
  expect((await readdir(dataDir)).filter((name) => /^likedsongs\..+\.jsonl$/.test(name))).toHaveLength(1)
})

it('continues the journal that an earlier version wrote for the account', async () => {
  music.items = songs(3)
  const lines = [{ account: 'vqzH27KGxBTvUZnm' }, { id: 'id1' }, { id: 'id2' }]
  await writeFile(join(dataDir, 'likedsongs.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  expect(await run()).toMatchObject({ outcome: 'done', counts: { added: 1, unchanged: 2 } })
  expect(await readdir(dataDir)).toEqual(['likedsongs.jsonl'])
})

it('a dry run for another account leaves the journal where it is', async () => {
  music.items = songs(2)
  await run()
  music.intercept = () => false
  expect(await run({ dryRun: true }, { LASTFM_SESSION_KEY: 'of-another-account' })).toMatchObject({ counts: { added: 2 } })
  expect(await readdir(dataDir)).toEqual(['likedsongs.jsonl'])
})

it.each(['2', 2])('--full loves what is missing from the loved songs of Last.fm, in %j pages', async (totalPages) => {
  music.items = songs(60)
  await run()
  music.loved.length = 0
  music.intercept = (path, response, form) => {
    const method = form.get('method')
    if (!path.startsWith('/lastfm') || method === 'track.love') return false
    if (method === 'user.getInfo') json(response, 200, { user: { name: 'me' } })
    else {
      const page = Number(form.get('page'))
      const track = [...Array(29).keys()].map((index) => {
        const number = (page - 1) * 29 + index + 1
        return { name: `song ${number} É`, artist: { name: `ARTIST ${number % 7}` } }
      })
      json(response, 200, { lovedtracks: { track, '@attr': { user: form.get('user'), page: String(page), totalPages } } })
    }
    return true
  }
  expect(await run({ full: true })).toMatchObject({ outcome: 'done', counts: { read: 60, added: 2, unchanged: 58 }, errors: [] })
  expect(music.loved).toEqual(titles(59, 60))
})

it('--full loves only new songs if the loved songs cannot be read, and says so', async () => {
  music.items = songs(2)
  await run()
  music.items = songs(3)
  music.intercept = (path, response, form) => {
    if (!path.startsWith('/lastfm') || form.get('method') === 'track.love') return false
    json(response, 200, {})
    return true
  }
  const reason = 'Last.fm: user.getInfo: the reply has no name'
  const logged: unknown[] = []
  const log = { ...silentLog, warn: (...parts: unknown[]) => void logged.push(parts) }
  expect(await run({ full: true, log })).toMatchObject({
    ...{ outcome: 'done', counts: { added: 1 } },
    errors: [`the loved songs could not be read: ${reason}; only songs that were never synced are loved`],
  })
  const err = expect.objectContaining({ message: reason })
  expect(logged).toEqual([[{ err }, 'likedsongs: the loved songs could not be read']])
  expect(music.loved).toEqual(titles(1, 3))
})

it('--full rejects if reading the loved songs fails with an error that is not one of Last.fm', async () => {
  music.intercept = (path, response) => {
    if (!path.startsWith('/lastfm')) return false
    json(response, 429, {}, { 'retry-after': '1' })
    return true
  }
  const progress = {
    ...noProgress,
    wait() {
      throw new Error('the terminal is closed')
    },
  }
  await expect(run({ full: true, progress })).rejects.toThrow('the terminal is closed')
})

it('--full reads one page if Last.fm does not say how many there are', async () => {
  music.items = songs(2)
  music.intercept = (path, response, form) => {
    const method = form.get('method')
    if (!path.startsWith('/lastfm') || method === 'track.love') return false
    const lovedtracks = { track: [], '@attr': { totalPages: { toString: 1 } } }
    json(response, 200, method === 'user.getInfo' ? { user: { name: 'me' } } : { lovedtracks })
    return true
  }
  expect(await run({ full: true })).toMatchObject({ outcome: 'done', counts: { added: 2 }, errors: [] })
})
