import { pino } from 'pino'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { unavailable } from '../../src/errors.ts'
import { createHttpApp } from '../../src/http/app.ts'
import { prepareJson, sendPrepared } from '../../src/http/reply.ts'

const app = createHttpApp({ logger: pino({ level: 'silent' }), corsOrigin: 'https://example.org' })
const prepared = prepareJson(['value'], { vary: 'Accept' })
const told: string[] = []
let number = 0
let down = false
let base = ''

beforeAll(async () => {
  const reply = () => {
    if (down) throw unavailable('SERVER_UNREACHABLE', 'down', 1)
    return { prepared, volatile: { 'x-number': String(number++) } }
  }
  app.get('/things/:name', { schema: { summary: 'x' } as never }, (request, to) =>
    sendPrepared(request, to, reply().prepared, { 'x-number': 'routed' }),
  )
  app.direct.add('/things/a', { pattern: '/things/:name', reply })
  app.direct.add('/things/some', {
    pattern: '/things/:name',
    reply: (url) => (url.endsWith('?known') ? { prepared, volatile: { 'x-number': url } } : undefined),
  })
  app.direct.observe((pattern) => (status) => told.push(`${pattern} ${status}`))
  base = await app.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(() => app.close())

const pick = ({ status, headers }: Response) => [
  status,
  headers.get('etag'),
  headers.get('vary'),
  headers.get('access-control-allow-origin'),
]

it('answers as the route does, with what differs per request, and tells of it', async () => {
  const direct = await fetch(`${base}/things/a`)
  const routed = await fetch(`${base}/things/a/`)
  expect(pick(direct)).toEqual([200, prepared.headers.etag, 'Origin, Accept', 'https://example.org'])
  expect(pick(routed)).toEqual(pick(direct))
  expect([direct.headers.get('x-number'), routed.headers.get('x-number')]).toEqual(['0', 'routed'])
  expect(await direct.text()).toBe(await routed.text())
  const again = await fetch(`${base}/things/a`, { headers: { 'if-none-match': prepared.headers.etag ?? '' } })
  expect([again.status, await again.text(), again.headers.get('x-number'), again.headers.get('content-type')]).toEqual([
    304,
    '',
    '2',
    null,
  ])
  expect(told).toEqual(['/things/:name 200', '/things/:name 304'])
})

it('leaves other methods, other paths and errors to the app', async () => {
  told.length = 0
  const head = await fetch(`${base}/things/a`, { method: 'HEAD' })
  expect([head.status, await head.text()]).toEqual([200, ''])
  expect((await fetch(`${base}/things/a`, { method: 'POST', body: 'x' })).status).toBe(405)
  expect((await fetch(`${base}/things`)).status).toBe(404)
  down = true
  const refused = await fetch(`${base}/things/a`)
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
  expect(told).toEqual([])
})

it('knows a path with any query, and leaves to the app what its reply does not know', async () => {
  told.length = 0
  down = false
  const numbers = ['/things/some?known', '/things/some?else', '/things/some'].map(async (path) =>
    (await fetch(base + path)).headers.get('x-number'),
  )
  expect(await Promise.all(numbers)).toEqual(['/things/some?known', 'routed', 'routed'])
  expect(told).toEqual(['/things/:name 200'])
})
