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

async function walk({ known = [] as string[], full = false, resumeAt = undefined as number | undefined } = {}) {
  const spotify = createSpotify(upstreamAt(music.env.SPOTIFY_ACCOUNTS_URL), upstreamAt(music.env.SPOTIFY_API_URL), {
    clientId: secrets.SPOTIFY_CLIENT_ID,
    clientSecret: secrets.SPOTIFY_CLIENT_SECRET,
    refreshToken: secrets.SPOTIFY_REFRESH_TOKEN,
  })
  const offsets: number[] = []
  const pages: (readonly [number, number])[] = []
  const result = await walkLikedSongs({
    ...{ known: new Set(known), full, resumeAt },
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
  expect(found).toEqual(ids(300, 241))
  expect(offsets).toEqual([0, 49, 98])
  expect(pages).toEqual([
    [50, 0],
    [49, 39],
    [49, 49],
  ])
})

it('reads all songs with full, known or not', async () => {
  music.items = songs(120)
  const { found, pages } = await walk({ known: ids(120), full: true })
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
  const { found, incompleteAt, error, pages } = await walk()
  expect(found).toEqual(ids(160, 111))
  expect(incompleteAt).toBe(49)
  expect(error).toMatchObject({
    kind: 'malformed',
    message: `Spotify returned ${length} of 50 songs from position 49 of 160; the next run continues there`,
  })
  expect(pages).toEqual([[50, 0]])
})

it('ends at a last page that lacks songs', async () => {
  music.items = songs(60)
  shortAt(49, 10)
  const { incompleteAt, error } = await walk()
  expect(incompleteAt).toBe(49)
  expect(error?.message).toContain('returned 10 of 11 songs')
})

it.each([
  ['the first page', 0, ids(160), undefined, 0],
  ['the first page, where the walk before ended later', 0, ids(160), 120, 120],
  ['a page after new songs', 49, ids(100), 120, 49],
  ['the page that continues the walk before', 110, ids(160, 30), 120, 110],
])('that gets %s short is continued from the right position', async (_what, position, known, resumeAt, expected) => {
  music.items = songs(160)
  shortAt(position, 3)
  expect(await walk({ known, ...(resumeAt !== undefined && { resumeAt }) })).toMatchObject({ incompleteAt: expected })
})

it.each([1, 5, 12, 49])('goes back if %i songs of the first page are unliked meanwhile', async (count) => {
  music.items = songs(220)
  changeAfter(1, () => {
    music.items = music.items.slice(count)
  })
  const { found, pages } = await walk()
  expect(found).toEqual(ids(220))
  expect(pages.reduce((sum, [items]) => sum + items, 0)).toBe(220)
})

it('goes back ten songs first, then twice as far each time, and ten again the next time', async () => {
  music.items = songs(600)
  changeAfter(5, () => {
    music.items = music.items.slice(80)
    changeAfter(5, () => {
      music.items = music.items.slice(30)
    })
  })
  const { found, offsets } = await walk()
  expect(found).toEqual(ids(600))
  expect(offsets.slice(0, 12)).toEqual([0, 49, 98, 147, 196, 245, 235, 215, 175, 95, 144, 134])
})

it('goes back although songs after them are known', async () => {
  music.items = songs(200)
  changeAfter(1, () => {
    music.items = music.items.slice(12)
  })
  const { found } = await walk({ known: ids(130) })
  expect(found).toEqual(ids(200, 131))
})

it('goes back from after the end of the list, if that became shorter', async () => {
  music.items = songs(160)
  changeAfter(3, () => {
    music.items = music.items.slice(100)
  })
  const { found, offsets } = await walk()
  expect(found).toEqual(ids(160))
  expect(offsets).toEqual([0, 49, 98, 147, 50, 30])
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

it('continues the walk before where it ended, after the new songs', async () => {
  music.items = songs(400)
  const { found, offsets } = await walk({ known: ids(395, 201), resumeAt: 195 })
  expect(offsets).toEqual([0, 49, 185, 234, 283, 332, 381])
  expect(found.filter((id) => !ids(395, 201).includes(id))).toEqual([...ids(400, 396), ...ids(200)])
})

it('continues it to the end although songs there are known', async () => {
  music.items = songs(400)
  const known = [...ids(400, 301), ...ids(250, 101)]
  const { found, offsets } = await walk({ known, resumeAt: 100 })
  expect(offsets).toEqual([0, 90, 139, 188, 237, 286, 335, 384])
  expect(found.filter((id) => !known.includes(id))).toEqual([...ids(300, 251), ...ids(100)])
})

it.each([
  ['on the page that ends the new songs', 30, [0, 49, 98]],
  ['with its last item', 49, [0, 49, 98]],
  ['right after it', 50, [0, 40, 89]],
  ['after the end of the list', 9_999, [0, 110, 100, 80]],
])('continues one that ended %s', async (_what, resumeAt, offsets) => {
  music.items = songs(120)
  const known = resumeAt > 120 ? ids(120, 31) : ids(120, 121 - resumeAt - 20)
  const result = await walk({ known, resumeAt })
  expect(result.offsets).toEqual(offsets)
  expect(result.found).toEqual(expect.arrayContaining(ids(120).filter((id) => !known.includes(id))))
})

it.each([5, 60, 300])('goes back before where it ended if %i songs were unliked since', async (count) => {
  const known = ids(700, 301)
  music.items = songs(700).slice(count)
  const { found } = await walk({ known, resumeAt: 400 })
  expect(found.filter((id) => !known.includes(id))).toEqual(ids(300))
})

it('goes back to the end of what is known although a later song is known', async () => {
  const known = [...ids(700, 301), 'id230']
  music.items = songs(700).slice(60)
  const { found } = await walk({ known, resumeAt: 400 })
  expect(found.filter((id) => !known.includes(id))).toEqual(ids(300).filter((id) => id !== 'id230'))
})

it('goes back before where it ended if there are no songs', async () => {
  music.items = songs(400)
  music.items.splice(190, 50, ...Array.from({ length: 50 }, (_, index) => local(index)))
  const { found, offsets } = await walk({ known: ids(400, 201), resumeAt: 200 })
  expect(offsets.slice(0, 4)).toEqual([0, 190, 180, 229])
  expect(found).toEqual(expect.arrayContaining(ids(160)))
})

it('goes back after it was continued too, although songs after them are known', async () => {
  const known = [...ids(400, 201), ...ids(101, 91)]
  music.items = songs(400)
  changeAfter(2, () => {
    music.items = music.items.slice(60)
  })
  const { found } = await walk({ known, resumeAt: 200 })
  expect(found.filter((id) => !known.includes(id))).toEqual(ids(200).filter((id) => !known.includes(id)))
})
