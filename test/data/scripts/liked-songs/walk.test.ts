import type { ServerResponse } from 'node:http'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createSpotify } from '../../../../src/data/scripts/liked-songs/spotify.ts'
import { walkLikedSongs } from '../../../../src/data/scripts/liked-songs/walk.ts'
import { type FakeMusic, fakeMusic, json, secrets, song, upstreamAt } from './fake-music.ts'

let music: FakeMusic
beforeEach(async () => {
  music = await fakeMusic()
})
afterEach(() => music.close())

const songs = (max: number, least = 1) => Array.from({ length: max - least + 1 }, (_, index) => song(max - index))
const ids = (max: number, least = 1) => Array.from({ length: max - least + 1 }, (_, index) => `id${max - index}`)
const local = (number: number) => ({
  added_at: `2026-01-01T00:00:${number}Z`,
  track: { name: `local ${number}`, is_local: true },
})

async function walk({ known = [] as string[], isWhole = false } = {}) {
  const spotify = createSpotify(upstreamAt(music.env.SPOTIFY_ACCOUNTS_URL), upstreamAt(music.env.SPOTIFY_API_URL), {
    clientId: secrets.SPOTIFY_CLIENT_ID,
    clientSecret: secrets.SPOTIFY_CLIENT_SECRET,
    refreshToken: secrets.SPOTIFY_REFRESH_TOKEN,
  })
  const offsets: number[] = []
  const pages: (readonly [number, number])[] = []
  const result = await walkLikedSongs({
    ...{ known: new Set(known), isWhole },
    likedSongs: (offset) => {
      offsets.push(offset)
      return spotify.likedSongs(offset)
    },
    onPage: (...page) => void pages.push(page),
  })
  return { ...result, found: result.songs.map(({ id }) => id), offsets, pages }
}

/** Changes the list after this many pages. */
function changeAfter(count: number, change: () => void) {
  let left = count
  music.intercept = (path, response) => {
    if (!path.endsWith('/me/tracks') || left-- !== 1) return false
    const offset = Number(/offset=(\d+)/.exec(music.requested.at(-1) ?? '')?.[1])
    json(response, 200, { items: music.items.slice(offset, offset + 50), total: music.items.length })
    change()
    return true
  }
}

/** Answers the page of this position with fewer items. */
function shortAt(position: number, length: number) {
  music.intercept = (path, response) => {
    if (!path.endsWith('/me/tracks') || !music.requested.at(-1)?.endsWith(`offset=${position}`)) return false
    json(response, 200, { items: music.items.slice(position, position + length), total: music.items.length })
    return true
  }
}

it('reads every page, each from the last item of the one before', async () => {
  music.items = songs(120)
  const { found, offsets, pages, ...rest } = await walk()
  expect(found).toEqual(ids(120))
  expect(offsets).toEqual([0, 49, 98])
  expect(pages).toEqual([
    [50, 0],
    [49, 0],
    [21, 0],
  ])
  expect(rest).toEqual({ songs: expect.anything() })
})

it.each([
  [50, [0]],
  [51, [0, 49]],
  [99, [0, 49]],
  [0, [0]],
])('ends with a list of %i songs after the pages from %j', async (count, expected) => {
  music.items = songs(count)
  const { found, offsets } = await walk()
  expect(found).toEqual(ids(count))
  expect(offsets).toEqual(expected)
})

it('ends at a page whose songs are all known', async () => {
  music.items = songs(300)
  const { found, offsets, pages } = await walk({ known: ids(240) })
  expect(found).toEqual(ids(300, 153))
  expect(offsets).toEqual([0, 49, 98])
  expect(pages).toEqual([
    [50, 0],
    [49, 39],
    [49, 49],
  ])
})

it('reads the whole list if it has to, although its songs are known', async () => {
  music.items = songs(120)
  const { found, pages } = await walk({ known: ids(120), isWhole: true })
  expect(found).toEqual(ids(120))
  expect(pages).toEqual([
    [50, 50],
    [49, 49],
    [21, 21],
  ])
})

it('does not take a page without songs for one of known songs', async () => {
  music.items = [...Array.from({ length: 50 }, (_, index) => local(index)), ...songs(30)]
  const { found, offsets, pages } = await walk()
  expect(found).toEqual(ids(30))
  expect(offsets).toEqual([0, 49])
  expect(pages).toEqual([
    [50, 0],
    [30, 0],
  ])
})

it('has a song that is listed twice once, as it is listed first', async () => {
  const again = { added_at: '2025-01-01T00:00:00Z', track: { id: 'id2', name: 'Another title', artists: [{ name: 'A' }] } }
  music.items = [...songs(3), again]
  const { songs: found, pages } = await walk()
  expect(found.map(({ title }) => title)).toEqual(['Song 3 é', 'Song 2 é', 'Song 1 é'])
  expect(pages).toEqual([[4, 0]])
})

it.each([0, 10, 49])('ends at a page of %i songs that should have 50, and tells where', async (length) => {
  music.items = songs(160)
  shortAt(49, length)
  const { found, error, pages } = await walk()
  expect(found).toEqual(ids(160, 111))
  expect(error).toMatchObject({
    kind: 'malformed',
    message: `Spotify returned ${length} of 50 songs from position 49 of 160; the next run reads the whole list`,
  })
  expect(pages).toEqual([[50, 0]])
})

it('ends at a last page that lacks songs', async () => {
  music.items = songs(60)
  shortAt(49, 10)
  const { error } = await walk()
  expect(error?.message).toContain('returned 10 of 11 songs')
})

it.each([1, 5, 12, 49, 50])('starts again if %i songs of the first page are unliked meanwhile', async (count) => {
  music.items = songs(220)
  changeAfter(1, () => {
    music.items = music.items.slice(count)
  })
  const { found, pages } = await walk()
  expect(found).toEqual(ids(220))
  expect(pages.reduce((sum, [items]) => sum + items, 0)).toBe(220)
})

it('starts again each time that songs are unliked, three times at most', async () => {
  music.items = songs(600)
  const unlike = (pages: number, left: number) =>
    changeAfter(pages, () => {
      music.items = music.items.slice(40)
      if (left > 1) unlike(3, left - 1)
    })
  unlike(2, 3)
  const { found, offsets } = await walk()
  expect(found).toEqual(ids(600))
  expect(offsets.slice(0, 13)).toEqual([0, 49, 98, 0, 49, 98, 0, 49, 98, 0, 49, 98, 147])
})

it('ends without the rest if they are unliked all the time', async () => {
  const shortened = (path: string, response: ServerResponse) => {
    if (!path.endsWith('/me/tracks')) return false
    const isFirst = music.requested.at(-1)?.endsWith('offset=0')
    json(response, 200, isFirst ? { items: songs(120).slice(0, 50), total: 120 } : { items: [], total: 0 })
    return true
  }
  music.intercept = shortened
  const { found, offsets, error } = await walk()
  expect(offsets).toEqual([0, 49, 0, 49, 0, 49, 0, 49])
  expect(found).toEqual(ids(120, 71))
  expect(error).toMatchObject({
    kind: 'malformed',
    message: 'the liked songs of Spotify changed 4 times while they were read; the next run reads them again',
  })
})

it.each([120, 99])('does not take a list of %i songs for read if Spotify sends the first page again and again', async (total) => {
  music.intercept = (path, response) => {
    if (!path.endsWith('/me/tracks')) return false
    json(response, 200, { items: songs(total).slice(0, 50), total })
    return true
  }
  const { found, offsets, error } = await walk()
  expect(offsets).toEqual([0, 49, 0, 49, 0, 49, 0, 49])
  expect(found).toEqual(ids(total, total - 49))
  expect(error).toMatchObject({ kind: 'malformed', message: expect.stringContaining('the next run reads them again') })
})

it('starts again if as many songs are liked meanwhile as a page has new ones', async () => {
  music.items = songs(120)
  changeAfter(1, () => {
    music.items = songs(169)
  })
  const { found, offsets } = await walk()
  expect(offsets).toEqual([0, 49, 0, 49, 98, 147])
  expect(found).toEqual(expect.arrayContaining(ids(169)))
})

it('starts again although songs after them are known', async () => {
  music.items = songs(200)
  changeAfter(1, () => {
    music.items = music.items.slice(12)
  })
  const { found } = await walk({ known: ids(130) })
  expect(found).toEqual(expect.arrayContaining(ids(200, 131)))
})

it('starts again from after the end of the list, if that became shorter', async () => {
  music.items = songs(160)
  changeAfter(3, () => {
    music.items = music.items.slice(100)
  })
  const { found, offsets } = await walk()
  expect(found).toEqual(ids(160))
  expect(offsets).toEqual([0, 49, 98, 147, 0, 49])
})

it('ends if the songs after the first page are unliked meanwhile', async () => {
  music.items = songs(51)
  changeAfter(1, () => music.items.splice(50))
  const { found, offsets, ...rest } = await walk()
  expect([found, offsets]).toEqual([ids(51, 2), [0, 49]])
  expect(rest).not.toHaveProperty('error')
})

it('ends if all songs are unliked meanwhile', async () => {
  music.items = songs(60)
  changeAfter(1, () => {
    music.items = []
  })
  const { found, offsets } = await walk()
  expect(found).toEqual(ids(60, 11))
  expect(offsets).toEqual([0, 49, 0])
})
