import { gunzipSync } from 'node:zlib'
import { request } from 'undici'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { comeback, type DataService, lastUpdate, project, snapshot, startDataService } from '../helpers/data-service.ts'
import { exampleServer } from '../helpers/example-server.ts'
import { buildTestApp } from '../helpers/test-app.ts'

const scripts = { Server: exampleServer }
let data: DataService
beforeAll(async () => {
  data = await startDataService({
    projects: snapshot([project()]),
    kcomebacks: snapshot(Array.from({ length: 100 }, (_, id) => comeback({ title: `Love Poem ${id}` }))),
  })
})
afterAll(() => data.close())

/** The raw bytes of a reply: fetch() would decompress it. */
async function get(url: string, headers: Record<string, string> = {}) {
  const { statusCode, headers: received, body } = await request(url, { headers })
  return { status: statusCode, headers: received, body: Buffer.from(await body.arrayBuffer()) }
}

describe('compression', () => {
  const page = '/v1/kcomebacks/filter/getall?limit=50&offset=0'

  it.each([page, '/openapi.json'])('of %s is gzip if the client accepts it', async (path) => {
    const plain = await get(data.url + path)
    expect(plain.headers['content-encoding']).toBeUndefined()
    for (let turn = 0; turn < 2; turn++) {
      const packed = await get(data.url + path, { 'accept-encoding': 'gzip' })
      expect([packed.status, packed.headers['content-encoding']]).toEqual([200, 'gzip'])
      expect(Number(packed.headers['content-length'])).toBe(packed.body.length)
      expect(packed.body.length).toBeLessThan(plain.body.length / 2)
      expect(gunzipSync(packed.body).equals(plain.body)).toBe(true)
      for (const { headers } of [plain, packed]) expect(headers.vary).toBe('Accept-Encoding')
    }
  })

  it('of the status API is made for each snapshot', async () => {
    const { url, fleet } = await buildTestApp({ scripts })
    for (let turn = 0; turn < 2; turn++) {
      const [plain, packed] = await Promise.all([
        get(`${url}/api/v1/getall`),
        get(`${url}/api/v1/getall`, { 'accept-encoding': 'gzip' }),
      ])
      expect(packed.headers['content-encoding']).toBe(plain.body.length > 1024 ? 'gzip' : undefined)
      const sources = await get(`${url}/api/v1/sources`, { 'accept-encoding': 'br, gzip;q=0.5' })
      expect(sources.headers['content-encoding']).toBe('gzip')
      expect(JSON.parse(gunzipSync(sources.body).toString()).server).toBe('Server')
      await fleet.pollAll()
    }
  })

  it.each(['gzip;q=0', 'identity', 'br', 'identity;q=1, gzip;q=0.5', '*;q=0', ''])('is not used for %j', async (accept) => {
    expect((await get(data.url + page, { 'accept-encoding': accept })).headers['content-encoding']).toBeUndefined()
  })

  it('is not used for small replies, and HEAD has the headers of GET', async () => {
    const small = await get(`${data.url}/v1/kcomebacks/last_update`, { 'accept-encoding': 'gzip' })
    expect([small.headers['content-encoding'], small.headers.vary]).toEqual([undefined, undefined])
    const head = await request(data.url + page, { method: 'HEAD', headers: { 'accept-encoding': 'gzip' } })
    const whole = await get(data.url + page, { 'accept-encoding': 'gzip' })
    for (const name of ['content-encoding', 'content-length', 'content-type', 'etag', 'vary', 'x-total-count']) {
      expect(head.headers[name], name).toBe(whole.headers[name])
    }
  })

  it('shares one weak ETag for both forms', async () => {
    const { etag } = (await get(data.url + page)).headers
    expect(etag).toMatch(/^W\/"/)
    expect((await get(data.url + page, { 'accept-encoding': 'gzip' })).headers.etag).toBe(etag)
    for (const encoding of ['gzip', 'identity']) {
      const again = await get(data.url + page, { 'accept-encoding': encoding, 'if-none-match': String(etag) })
      expect([again.status, again.body.length, again.headers.etag]).toEqual([304, 0, etag])
      expect([again.headers.vary, again.headers['content-encoding']]).toEqual(['Accept-Encoding', undefined])
    }
  })
})

describe('If-Modified-Since', () => {
  const path = '/v1/kcomebacks/last_update'
  const written = new Date(`${lastUpdate.replace(' UTC', 'Z').replace(' ', 'T')}`)
  const at = (seconds: number) => new Date(written.getTime() + seconds * 1000).toUTCString()

  it.each([
    [at(0), 304],
    [at(1), 304],
    [at(-1), 200],
    ['Saturday, 03-Feb-24 04:05:06 GMT', 304],
    ['Sat Feb  3 04:05:06 2024', 304],
    ['Sat Feb  3 04:05:05 2024', 200],
    ['tomorrow', 200],
    ['2999', 200],
  ])('%s: %d', async (since, status) => {
    const reply = await get(data.url + path, { 'if-modified-since': since })
    expect([reply.status, reply.headers['last-modified']]).toEqual([status, written.toUTCString()])
  })

  it('is used only without If-None-Match, and only if the reply has a date', async () => {
    const both = await get(data.url + path, { 'if-modified-since': at(0), 'if-none-match': '"other"' })
    expect(both.status).toBe(200)
    const undated = await get(`${data.url}/v1/kcomebacks/upcoming/week`, { 'if-modified-since': at(0) })
    expect([undated.status, undated.headers['last-modified']]).toEqual([200, undefined])
  })
})

const paths = [
  '/api/v1/getall',
  '/api/v1/favicon',
  '/api/v1/servers',
  '/api/v1/servers/nobody/ticks',
  '/v1/ping',
  '/v1/debug/headers',
  '/v1/kcomebacks/filter/getall?limit=1&offset=0',
  '/v1/kcomebacks/filter/getall',
  '/v1/run',
  '/v1/run/likedsongs',
  '/openapi.json',
  '/docs',
  '/docs/static/swagger-ui.css',
  '/',
  '/nothing',
  '/api/v1/%zz',
  '/metrics',
  '/probe',
  '/probe?target=Server',
  '/sd',
]

it.each(paths)('%s sends nosniff, and lets pages of other origins read only the two APIs', async (path) => {
  const { url } = await buildTestApp({ scripts })
  const { headers } = await get(url + path, { origin: 'https://a.example' })
  expect(headers['x-content-type-options']).toBe('nosniff')
  const open = /^\/(api\/)?v1\//.test(path) && !/^\/v1\/(run|debug)|%zz/.test(path)
  expect(headers['access-control-allow-origin']).toBe(open ? '*' : undefined)
})

const pages = ['/', '/servers/Server', '/docs', '/docs/', '/docs/static/index.html']

it.each([...pages, ...paths])('%s can be framed by its own site only if it is a page', async (path) => {
  const { url } = await buildTestApp({ scripts })
  for (const method of ['GET', 'HEAD', 'POST']) {
    const { headers } = await fetch(url + path, { method, headers: { accept: 'text/html' } })
    const isPage = headers.get('content-type')?.startsWith('text/html') === true
    if (method === 'GET' && pages.includes(path)) expect(isPage).toBe(true)
    if (!isPage) continue
    expect(headers.get('content-security-policy')).toMatch(/frame-ancestors 'self'/)
    expect(headers.get('permissions-policy')).toMatch(/camera=\(\)/)
    expect(headers.get('cross-origin-resource-policy')).toBe('same-origin')
    expect(headers.get('referrer-policy')).toBe('same-origin')
  }
})

it.each(['banner.png', 'badge.svg', 'chart.png', 'players/069a79f444e94726a5befca90e38aaf5/head.png', 'favicon'])(
  'pages of all other sites may show %s',
  async (path) => {
    const { get: fetchFrom } = await buildTestApp({ scripts })
    for (const place of ['/api/v1', '/api/v1/servers/Server']) {
      const { status, headers } = await fetchFrom(`${place}/${path}`, { accept: 'image/*' })
      expect([status, headers.get('cross-origin-resource-policy')]).toEqual([200, 'cross-origin'])
    }
  },
)

it.each(['/api/v1/getall', '/v1/ping', '/v1/kcomebacks/last_update', '/metrics', '/sd', '/v1/debug/headers'])(
  '%s refuses a query that cannot be decoded',
  async (path) => {
    for (const query of ['%', 'a=%zz', 'a=%C3%28', '%FF=1', 'a=%ED%A0%80']) {
      const reply = await get(`${data.url}${path}?${query}`)
      expect([reply.status, reply.headers['content-type']]).toEqual([400, 'application/problem+json; charset=utf-8'])
      expect(JSON.parse(reply.body.toString())).toMatchObject({ code: 'INVALID_PARAMETER', instance: path })
      const isOpen = /^\/(api\/)?v1\//.test(path) && !path.startsWith('/v1/debug')
      expect(reply.headers['access-control-allow-origin']).toBe(isOpen ? '*' : undefined)
    }
    expect((await get(`${data.url}${path}?a=%C3%A9`)).status).not.toBe(400)
  },
)

it('keeps Link under 8 KiB and refuses longer texts', async () => {
  const service = await startDataService({
    kcomebacks: snapshot(Array.from({ length: 9 }, () => comeback({ artist: '\u{1f600}'.repeat(200) }))),
  })
  try {
    const of = (artist: string) =>
      get(`${service.url}/v1/kcomebacks/filter/artist?${new URLSearchParams({ artist })}&limit=3&offset=3`)
    for (const text of ['\u{1f600}', '\u{1f600}'.repeat(50), '\u{1f600}'.repeat(200)]) {
      const reply = await of(text)
      expect([reply.status, reply.headers['x-total-count']]).toEqual([200, '9'])
      const link = String(reply.headers.link)
      expect(link.length).toBeLessThan(8192)
      for (const relation of ['prev', 'next']) expect(link).toContain(`rel="${relation}"`)
      expect(link.includes('rel="first"')).toBe(text.length < 400)
    }
    expect((await of('x'.repeat(201))).status).toBe(400)
  } finally {
    await service.close()
  }
})
