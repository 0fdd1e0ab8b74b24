import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { createHttpApp } from '../../src/http/app.ts'
import '../../src/http/direct.ts'
import { prepareJson, sendPrepared } from '../../src/http/replies/reply.ts'
import { unavailable } from '../../src/util/errors.ts'

const log: string[] = []
const logger = pino({ level: 'error' }, { write: (line: string) => void log.push(JSON.parse(line).msg) })
const app = createHttpApp({ logger, corsOrigin: 'https://example.org' })
const prepared = prepareJson(['value'], { vary: 'Accept' })
const reported: string[] = []
let number = 0
let down = false
let base = ''

beforeAll(async () => {
  const reply = () => {
    if (down) throw unavailable('SERVER_UNREACHABLE', 'down', 1)
    return { prepared, volatile: { 'x-number': String(number++) } }
  }
  app.get('/v1/things/:name', { schema: { summary: 'x' } as never }, (request, to) =>
    sendPrepared(request, to, reply().prepared, { 'x-number': 'routed' }),
  )
  app.direct.add('/v1/things/a', { pattern: '/v1/things/:name', reply })
  app.direct.add('/v1/things/some', {
    pattern: '/v1/things/:name',
    reply: (url) => (url.endsWith('?known') ? { prepared, volatile: { 'x-number': url } } : undefined),
  })
  const broken = prepareJson(['broken'])
  const unsendable = { 'x-number': 'a\nb' }
  app.get('/v1/unsendable', { schema: { summary: 'x' } as never }, (request, to) => sendPrepared(request, to, broken, unsendable))
  app.get('/v1/unsendable/later', { schema: { summary: 'x' } as never }, async (request, to) => {
    await new Promise(setImmediate)
    return sendPrepared(request, to, broken, unsendable)
  })
  app.direct.add('/v1/unsendable', { pattern: '/v1/unsendable', reply: () => ({ prepared: broken, volatile: unsendable }) })
  app.direct.add('/unseen', { pattern: '/unseen', reply: () => ({ prepared, volatile: {} }) })
  app.direct.observe((pattern) => (status) => {
    if (pattern === '/unseen') throw new Error('not counted')
    reported.push(`${pattern} ${status}`)
  })
  base = await app.listen({ host: '127.0.0.1', port: 0 })
})
beforeEach(() => {
  log.length = 0
  reported.length = 0
  number = 0
  down = false
})
afterAll(() => app.close())

const pick = ({ status, headers }: Response) => [
  status,
  headers.get('etag'),
  headers.get('vary'),
  headers.get('access-control-allow-origin'),
]

it('answers like the route, with headers that differ per request, and calls the observer', async () => {
  const direct = await fetch(`${base}/v1/things/a`)
  const routed = await fetch(`${base}/v1/things/a/`)
  expect(pick(direct)).toEqual([200, prepared.headers.etag, 'Origin, Accept', 'https://example.org'])
  expect(pick(routed)).toEqual(pick(direct))
  expect([direct.headers.get('x-number'), routed.headers.get('x-number')]).toEqual(['0', 'routed'])
  expect(await direct.text()).toBe(await routed.text())
  const again = await fetch(`${base}/v1/things/a`, { headers: { 'if-none-match': prepared.headers.etag ?? '' } })
  expect([again.status, await again.text(), again.headers.get('x-number'), again.headers.get('content-type')]).toEqual([
    304,
    '',
    '2',
    null,
  ])
  expect(reported).toEqual(['/v1/things/:name 200', '/v1/things/:name 304'])
})

it('passes other methods, other paths and errors to the app', async () => {
  const head = await fetch(`${base}/v1/things/a`, { method: 'HEAD' })
  expect([head.status, await head.text()]).toEqual([200, ''])
  expect((await fetch(`${base}/v1/things/a`, { method: 'POST', body: 'x' })).status).toBe(405)
  expect((await fetch(`${base}/v1/things`)).status).toBe(404)
  down = true
  const refused = await fetch(`${base}/v1/things/a`)
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
  expect(reported).toEqual([])
})

it('matches a path with any query, and passes unknown names to the app', async () => {
  const numbers = ['/v1/things/some?known', '/v1/things/some?else', '/v1/things/some'].map(async (path) =>
    (await fetch(base + path)).headers.get('x-number'),
  )
  expect(await Promise.all(numbers)).toEqual(['/v1/things/some?known', 'routed', 'routed'])
  expect(reported).toEqual(['/v1/things/:name 200'])
})

it.each(['/v1/unsendable', '/v1/unsendable/', '/v1/unsendable/later'])(
  'answers with an error if %s cannot be written, and continues',
  async (path) => {
    for (const headers of [{}, { 'if-none-match': '*' }]) {
      const reply = await fetch(base + path, { headers })
      expect([reply.status, reply.statusText, reply.headers.get('access-control-allow-origin')]).toEqual([
        500,
        'Internal Server Error',
        'https://example.org',
      ])
      expect(await reply.json()).toMatchObject({ code: 'INTERNAL_ERROR', instance: path })
    }
    expect(log).toEqual(['request failed', 'request failed'])
  },
)

it('sends a reply even if the observer throws', async () => {
  const reply = await fetch(`${base}/unseen`)
  expect([reply.status, await reply.text()]).toEqual([200, '["value"]'])
  expect(log).toEqual(['request failed'])
})
