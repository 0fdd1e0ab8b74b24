import { request } from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { version } from '../../../src/util/package.ts'
import { type DataService, startDataService } from '../../helpers/data-service.ts'

let service: DataService
beforeAll(async () => {
  service = await startDataService({})
})
afterAll(() => service.close())

it('answers /v1/ping with pong as plain text', async () => {
  const reply = await service.get('/v1/ping')
  expect(reply.status).toBe(200)
  expect(reply.headers.get('content-type')).toBe('text/plain; charset=utf-8')
  expect(await reply.text()).toBe('pong')
})

it('points to an external wiki in the help', async () => {
  const reply = await service.get('/v1/help')
  expect(reply.headers.get('content-type')).toBe('text/plain; charset=utf-8')
  expect(await reply.text()).toMatch(/wiki at https:\/\//)
})

it('returns its version as an array with one string', async () => {
  const reply = await service.get('/v1/version')
  expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(await reply.json()).toEqual([version])
})

it('returns the headers of the request: lower case, repeated ones joined, not readable from other origins', async () => {
  const { headers, body } = await new Promise<{ headers: NodeJS.Dict<string | string[]>; body: string }>((resolve, reject) => {
    const raw = ['Host', 'example.org', 'X-Twice', 'a', 'X-TWICE', 'b', 'Cookie', 'c=1', 'Cookie', 'd=2', '__proto__', 'p']
    const sent = request(`${service.url}/v1/debug/headers`, { headers: raw as never }, (reply) => {
      let body = ''
      reply.setEncoding('utf8').on('data', (chunk: string) => {
        body += chunk
      })
      reply.on('end', () => resolve({ headers: reply.headers, body }))
    })
    sent.on('error', reject).end()
  })
  expect(body).toBe('{"host":"example.org","x-twice":"a, b","cookie":"c=1, d=2","__proto__":"p","connection":"keep-alive"}')
  expect(headers['cache-control']).toBe('no-store')
  expect(headers['access-control-allow-origin']).toBeUndefined()
})

it('answers HEAD like GET without a body, ignores a trailing slash, and refuses other methods', async () => {
  const [get, head] = await Promise.all([service.get('/v1/version'), service.get('/v1/version/', { method: 'HEAD' })])
  expect(head.status).toBe(200)
  expect(head.headers.get('content-length')).toBe(get.headers.get('content-length'))
  expect(head.headers.get('etag')).toBe(get.headers.get('etag'))
  expect(await head.text()).toBe('')
  const post = await service.get('/v1/ping', { method: 'POST' })
  expect(post.status).toBe(405)
  expect(post.headers.get('allow')).toBe('GET, HEAD')
  expect((await service.get('/v1/Ping')).status).toBe(404)
})
