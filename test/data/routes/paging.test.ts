import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { comeback, type DataService, project, snapshot, startDataService } from '../../helpers/data-service.ts'

const entries = Array.from({ length: 120 }, (_, id) => comeback({ title: String(id), artist: id % 2 === 0 ? 'R&B +1' : 'odd' }))
const even = '/v1/kcomebacks/filter/artist?artist=r%26B+%2B1'
const all = '/v1/kcomebacks/filter/getall?'

let service: DataService
beforeAll(async () => {
  service = await startDataService({ kcomebacks: snapshot(entries), projects: snapshot([project()]) })
})
afterAll(() => service.close())

describe('limit and offset', () => {
  it.each([
    [0, 0, 0],
    [1, 0, 1],
    [49, 0, 49],
    [50, 0, 50],
    [50, 1, 50],
    [50, 49, 50],
    [50, 70, 50],
    [50, 71, 49],
    [50, 119, 1],
    [50, 120, 0],
    [50, 2_147_483_647, 0],
  ])('limit %d, offset %d: %d entries', async (limit, offset, count) => {
    const page = await service.page(`${all}limit=${limit}&offset=${offset}`)
    expect(page.count).toBe(count)
    expect(page.results).toEqual(entries.slice(offset, offset + limit))
  })

  const bad = ['', '-1', '+1', '5.0', '%205', '5%20', '0x5', '1e1', '٣', 'NaN', 'true', 'null', '1,0', '1_0']
  it.each([
    ...['51', '2147483648', '99999999999999999999', ...bad].map((text) => ['limit', `limit=${text}&offset=0`]),
    ...['2147483648', '99999999999999999999', ...bad].map((text) => ['offset', `limit=1&offset=${text}`]),
    ['limit', 'offset=0'],
    ['offset', 'limit=1'],
    ['limit', 'limit=1&limit=1&offset=0'],
    ['offset', 'limit=1&offset=0&offset=1'],
    ['limit', 'LIMIT=1&offset=0'],
  ])('%s is refused by %s', async (name, query) => {
    for (const path of [all, '/v1/projects/filter/title?title=a&']) {
      const problem = await service.problem(path + query)
      expect(problem).toMatchObject({ status: 400, code: 'INVALID_PARAMETER', title: 'Bad Request', type: 'about:blank' })
      expect(problem.detail).toContain(`Parameter "${name}"`)
    }
  })

  it('reports the given and the allowed values, and nothing else', async () => {
    expect((await service.problem(`${all}limit=51&offset=0`)).detail).toBe(
      'Parameter "limit" is "51"; expected an integer from 0 to 50.',
    )
  })

  it('ignores unknown parameters, even if repeated', async () => {
    expect((await service.page(`${all}limit=1&offset=0&x=1&x=2`)).count).toBe(1)
  })
})

describe('headers', () => {
  const headersOf = async (query: string) => (await service.get(query)).headers

  it('counts all matches and links to the other pages', async () => {
    const headers = await headersOf(`${even}&limit=25&offset=25`)
    expect(headers.get('x-total-count')).toBe('60')
    const base = '/v1/kcomebacks/filter/artist?artist=r%26B+%2B1&limit=25&offset='
    expect(headers.get('link')).toBe(
      `<${base}0>; rel="first", <${base}0>; rel="prev", <${base}50>; rel="next", <${base}50>; rel="last"`,
    )
    expect(headers.get('access-control-expose-headers')).toBe(
      'ETag, Link, Retry-After, X-Demo, X-Favicon, X-Snapshot-Age, X-Snapshot-Source, X-Total-Count',
    )
  })

  it.each([
    ['limit=60&offset=0', undefined],
    ['limit=50&offset=0', 'first 0, next 50, last 50'],
    ['limit=50&offset=50', 'first 0, prev 0, last 50'],
    ['limit=50&offset=55', 'first 0, prev 5, last 55'],
    ['limit=50&offset=60', 'first 0, prev 10, last 10'],
    ['limit=10&offset=3', 'first 0, prev 0, next 13, last 53'],
    ['limit=10&offset=53', 'first 0, prev 43, last 53'],
    ['limit=50&offset=549', 'first 0, prev 49, last 49'],
    ['limit=50&offset=500', 'first 0, prev 50, last 50'],
    ['limit=30&offset=30', 'first 0, prev 0, last 30'],
    ['limit=0&offset=0', ''],
  ])('%s', async (query, expected) => {
    if (expected === undefined) return expect((await service.problem(`${even}&${query}`)).status).toBe(400)
    const link = (await headersOf(`${even}&${query}`)).get('link') ?? ''
    const found = [...link.matchAll(/offset=(\d+)>; rel="(\w+)"/g)].map(([, offset, relation]) => `${relation} ${offset}`)
    expect(found.join(', ')).toBe(expected)
  })

  it('sends the date of the snapshot, and 304 to a client that has it', async () => {
    for (const path of [`${even}&limit=5&offset=5`, '/v1/kcomebacks/filter/getinfo', '/v1/projects/filter/getlangs']) {
      const reply = await service.get(path)
      expect(reply.headers.get('last-modified')).toBe('Sat, 03 Feb 2024 04:05:06 GMT')
      expect(reply.headers.get('cache-control')).toBe('no-cache')
      expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8')
      const etag = reply.headers.get('etag') ?? ''
      for (const tag of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
        const again = await service.get(path, { headers: { 'if-none-match': tag } })
        expect(again.status).toBe(304)
        expect(again.headers.get('etag')).toBe(etag)
        expect(await again.text()).toBe('')
      }
      expect((await service.get(path, { headers: { 'if-none-match': '"x"' } })).status).toBe(200)
    }
  })

  it('answers a repeated URL the same way, and each other URL by its own parameters', async () => {
    const reported = async (path: string) => {
      const reply = await service.get(path)
      return { status: reply.status, headers: { ...Object.fromEntries(reply.headers), date: '' }, body: await reply.text() }
    }
    const first = await reported(`${even}&limit=3&offset=1`)
    expect(first.status).toBe(200)
    expect(await reported(`${even}&limit=3&offset=1`)).toEqual(first)
    expect(await reported(`${even}&offset=1&limit=3`)).toEqual(first)
    expect((await reported(`${even}&limit=3&offset=2`)).body).not.toBe(first.body)
    const wrong = await reported(`${even}&limit=3&offset=-1`)
    expect(wrong.status).toBe(400)
    expect(await reported(`${even}&limit=3&offset=-1`)).toEqual(wrong)
  })
})
