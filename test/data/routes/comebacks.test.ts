import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { comeback, type DataService, lastUpdate, snapshot, startDataService } from '../../helpers/data-service.ts'
import { manualClock } from '../../helpers/manual-clock.ts'

const root = '/v1/kcomebacks'
const all = [
  comeback({ title: 'a', date: '2017-03-1', time: '--:--', artist: 'Ärzte', types: ['single', 'single'] }),
  comeback({ title: 'b', date: '2017-03-TBA', artist: 'ΟΔΟΣ', types: [], links: [] }),
  comeback({ title: 'c', date: '2019-02-28', artist: 'İstanbul', types: ['Single', ''] }),
  comeback({ title: 'd', date: '2019-02-3', artist: '샘플', types: ['album'] }),
  comeback({ title: 'e', date: '2020-02-29', artist: 'a.b*c', types: ['album', 'mini'] }),
  comeback({ title: 'f', date: '2019-02-30', artist: 'Ärzte' }),
]

let service: DataService
beforeAll(async () => {
  service = await startDataService({ kcomebacks: snapshot(all) })
})
afterAll(() => service.close())

const titles = async (path: string) => (await service.page(`${root}/${path}`)).results.map(({ title }) => title).join('')

it('returns every comeback unchanged, in id order', async () => {
  expect(await service.page(`${root}/filter/getall?limit=50&offset=0`)).toEqual({ results: all, count: 6 })
})

it('returns the last update as a bare JSON string', async () => {
  expect(await (await service.get(`${root}/last_update`)).text()).toBe(`"${lastUpdate}"`)
})

describe('id', () => {
  it.each(['filter/id', 'filterid'])('%s returns one entry or none', async (path) => {
    expect(await service.page(`${root}/${path}?id=0`)).toEqual({ results: [all[0]], count: 1 })
    expect(await service.page(`${root}/${path}?id=5`)).toEqual({ results: [all[5]], count: 1 })
    for (const id of ['6', '2147483648', '99999999999999999999999']) {
      expect(await service.page(`${root}/${path}?id=${id}`)).toEqual({ results: [], count: 0 })
    }
  })

  it.each(['', '?id=', '?id=-1', '?id=1.0', '?id=%201', '?id=0x1', '?id=1e1', '?id=%2B1', '?id=1&id=2', '?id=a'])(
    'refuses %j',
    async (query) => {
      const problem = await service.problem(`${root}/filter/id${query}`)
      expect(problem).toMatchObject({ status: 400, code: 'INVALID_PARAMETER' })
      expect(problem.detail).toContain('"id"')
    },
  )
})

describe('text filters', () => {
  it.each([
    ['artist=%C3%84RZTE', 'af'],
    ['artist=a%CC%88rzte', 'af'],
    ['artist=%C3%A4', 'af'],
    // The last sigma of a word is another letter in lower case, on both sides.
    ['artist=%CE%9F%CE%94%CE%9F%CE%A3', 'b'],
    ['artist=%CE%BF%CE%B4%CE%BF%CF%82', 'b'],
    ['artist=i%CC%87stanbul', 'c'],
    ['artist=%C4%B0STANBUL', 'c'],
    ['artist=istanbul', ''],
    ['artist=%EC%83%98', 'd'],
    // Hangul taken apart into its letters
    ['artist=%E1%84%89%E1%85%A2%E1%86%B7', 'd'],
    ['artist=a.b', 'e'],
    ['artist=a*b', ''],
    ['artist=%5B', ''],
    ['artist=%20', ''],
    ['artist=%0A', ''],
  ])('artist: %s', async (query, expected) => {
    expect(await titles(`filter/artist?${query}&limit=50&offset=0`)).toBe(expected)
  })

  it.each([
    ['title?title=A', 'a'],
    ['title?title=ab', ''],
    ['type?type=single', 'a'],
    ['type?type=Single', 'c'],
    ['type?type=SINGLE', ''],
    ['type?type=alb', ''],
    ['type?type=album', 'def'],
  ])('%s', async (filter, expected) => {
    expect(await titles(`filter/${filter}&limit=50&offset=0`)).toBe(expected)
  })

  it.each(['artist', 'title', 'type'])('%s must be given exactly once, and not be empty', async (name) => {
    for (const query of ['', `${name}=&`, `${name}=a&${name}=a&`]) {
      const problem = await service.problem(`${root}/filter/${name}?${query}limit=1&offset=0`)
      expect(problem).toMatchObject({ status: 400, code: 'INVALID_PARAMETER' })
      expect(problem.detail).toContain(`"${name}"`)
    }
  })
})

describe('daterange', () => {
  it.each([
    ['start=2017-03-01&end=2017-03-01', 'a'],
    ['start=2017-3-1&end=2017-3-31', 'a'],
    ['start=2019-02-03&end=2019-02-28', 'cd'],
    ['start=2019-02-04&end=2020-02-28', 'c'],
    ['start=2020-02-29&end=2020-02-29', 'e'],
    ['start=0001-01-01&end=9999-12-31', 'acde'],
  ])('%s', async (range, expected) => {
    expect(await titles(`filter/daterange?${range}&limit=50&offset=0`)).toBe(expected)
  })

  it.each([
    ['start=2019-02-29&end=2019-03-01', 'start'],
    ['start=2019-02-01&end=2019-04-31', 'end'],
    ['start=2019-13-01&end=2019-12-01', 'start'],
    ['start=2019-00-01&end=2019-12-01', 'start'],
    ['start=2019-01-00&end=2019-12-01', 'start'],
    ['start=1900-02-29&end=2019-12-01', 'start'],
    ['start=0000-01-01&end=2019-12-01', 'start'],
    ['start=2019-01-01T00:00:00Z&end=2019-12-01', 'start'],
    ['start=20190101&end=2019-12-01', 'start'],
    ['start=&end=2019-12-01', 'start'],
    ['start=2019-12-01', 'end'],
    ['start=2019-12-02&end=2019-12-01', 'start'],
    ['start=2019-01-01&start=2019-01-01&end=2019-12-01', 'start'],
  ])('refuses %s', async (range, name) => {
    const problem = await service.problem(`${root}/filter/daterange?${range}&limit=50&offset=0`)
    expect(problem).toMatchObject({ status: 400, code: 'INVALID_PARAMETER' })
    expect(problem.detail).toContain(`Parameter "${name}"`)
  })
})

it('returns the first and the last entry, the types and the totals', async () => {
  expect(await service.page(`${root}/filter/first`)).toEqual({ results: [all[0]], count: 1 })
  expect(await service.page(`${root}/filter/last`)).toEqual({ results: [all[5]], count: 1 })
  const types = await service.get(`${root}/filter/gettypes`)
  expect(await types.json()).toEqual({ results: ['Single', 'album', 'mini', 'single'], total_results: 4 })
  const info = await service.get(`${root}/filter/getinfo`)
  expect(await info.text()).toBe('{"num_items":6,"num_artists":5,"start_date":"2017-03-1","end_date":"2019-02-30"}')
})

describe('upcoming', () => {
  it('counts from today at UTC+02:00, to 7 and 31 days ahead, both inclusive', async () => {
    // 21:59:59 UTC on 14 November 2023 is 23:59:59 at UTC+02:00; a second later the next day begins.
    const clock = manualClock(Date.UTC(2023, 10, 14, 21, 59, 59) - 1_700_000_000_000)
    const days = ['2023-11-13', '2023-11-14', '2023-11-15', '2023-11-21', '2023-11-22', '2023-12-15', '2023-12-16', '2023-11-TBA']
    const entries = days.map((date) => comeback({ date, title: date.slice(5) }))
    const other = await startDataService({ kcomebacks: snapshot(entries) }, { clock })
    const upcoming = async (window: string) =>
      (await other.page(`${root}/upcoming/${window}`)).results.map(({ title }) => title as string)
    expect(await upcoming('today')).toEqual(['11-14'])
    expect(await upcoming('week')).toEqual(['11-14', '11-15', '11-21'])
    expect(await upcoming('month')).toEqual(['11-14', '11-15', '11-21', '11-22', '12-15'])
    await clock.advance(1000)
    expect(await upcoming('today')).toEqual(['11-15'])
    expect(await upcoming('week')).toEqual(['11-15', '11-21', '11-22'])
    expect(await upcoming('month')).toEqual(['11-15', '11-21', '11-22', '12-15', '12-16'])
    await other.close()
  })

  it('returns all matches, even more than fit on a page', async () => {
    const clock = manualClock() // 22:13 UTC on 14 November 2023
    const entries = Array.from({ length: 51 }, (_, id) => comeback({ date: '2023-11-15', title: String(id) }))
    const other = await startDataService({ kcomebacks: snapshot(entries) }, { clock })
    const reply = await other.get(`${root}/upcoming/today`)
    expect(await reply.json()).toEqual({ results: entries, count: 51 })
    expect(reply.headers.get('x-total-count')).toBe('51')
    await other.close()
  })
})

describe('a database without entries, or with one', () => {
  const paged = ['getall?', 'artist?artist=a&', 'title?title=a&', 'type?type=a&', 'daterange?start=2000-01-01&end=2030-01-01&']
  it('answers every route when empty', async () => {
    const other = await startDataService({ kcomebacks: snapshot([]), projects: snapshot([]) })
    const nothing = { results: [], count: 0 }
    for (const filter of paged) expect(await other.page(`${root}/filter/${filter}limit=50&offset=0`)).toEqual(nothing)
    for (const path of ['filter/first', 'filter/last', 'filter/id?id=0', 'upcoming/today', 'upcoming/week', 'upcoming/month']) {
      expect(await other.page(`${root}/${path}`)).toEqual(nothing)
    }
    const info = await other.get(`${root}/filter/getinfo`)
    expect(await info.json()).toEqual({ num_items: 0, num_artists: 0, start_date: '', end_date: '' })
    const types = await other.get(`${root}/filter/gettypes`)
    expect(await types.json()).toEqual({ results: [], total_results: 0 })
    expect(await other.page('/v1/projects/filter/search?search=a&limit=1&offset=0')).toEqual(nothing)
    await other.close()
  })

  it('answers with the only entry', async () => {
    const one = comeback({ artist: 'a', title: 'a', types: ['a'] })
    const other = await startDataService({ kcomebacks: snapshot([one]) })
    const page = { results: [one], count: 1 }
    for (const filter of paged) expect(await other.page(`${root}/filter/${filter}limit=50&offset=0`)).toEqual(page)
    for (const path of ['filter/first', 'filter/last', 'filter/id?id=0'])
      expect(await other.page(`${root}/${path}`)).toEqual(page)
    await other.close()
  })
})

it('answers 503 on every route while there is no snapshot', async () => {
  const other = await startDataService({})
  const routes = [
    'last_update',
    'filter/getall?limit=1&offset=0',
    'filter/first',
    'filter/id?id=1',
    'upcoming/week',
    'filter/getinfo',
  ]
  for (const route of routes) {
    const reply = await other.get(`${root}/${route}`)
    expect(reply.status).toBe(503)
    expect(reply.headers.get('retry-after')).toBe('5')
    expect(await reply.json()).toMatchObject({ code: 'SNAPSHOT_UNAVAILABLE' })
  }
  expect(await other.problem('/v1/projects/filter/getlangs')).toMatchObject({ status: 503, code: 'SNAPSHOT_UNAVAILABLE' })
  await other.close()
})
