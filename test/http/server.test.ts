import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { buildTestApp } from '../helpers/test-app.ts'

const build = () => buildTestApp({ scripts: { Server: { status: {} } } })

/** The reply to bytes that no HTTP client would send. */
async function send(url: string, request: string): Promise<Response> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  await once(socket, 'connect')
  socket.write(request)
  const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n')
  const [status = '', ...lines] = head.split('\r\n')
  const headers = lines.map((line) => line.split(': ', 2) as [string, string])
  expect(Number(new Headers(headers).get('content-length'))).toBe(Buffer.byteLength(body))
  return new Response(body, { status: Number(status.split(' ')[1]), headers })
}

async function expectProblem(reply: Response, status: number, code: string, instance?: string): Promise<void> {
  expect(reply.status).toBe(status)
  expect(reply.headers.get('content-type')).toBe('application/problem+json; charset=utf-8')
  expect(reply.headers.get('x-content-type-options')).toBe('nosniff')
  expect(reply.headers.get('cache-control')).toBe('no-store')
  expect(await reply.json()).toEqual({
    type: 'about:blank',
    title: expect.stringMatching(/^[A-Z]/),
    status,
    detail: expect.stringMatching(/\.$/),
    ...(instance !== undefined && { instance }),
    code,
  })
}

describe('a request that no route is found for', () => {
  it.each(['/%zz', '/api/v1/servers/%zz/getall', '/%FF', '/api/v1/getall%'])('%s is a problem', async (path) => {
    const { get } = await build()
    await expectProblem(await get(`${path}?a=1`), 400, 'INVALID_PATH', path)
  })

  it('has an unknown name, however long that is', async () => {
    const { get } = await build()
    for (const length of [600, 12_000]) {
      const path = `/api/v1/servers/${'x'.repeat(length)}/getall`
      const reply = await get(path)
      expect((await reply.clone().text()).length).toBeLessThan(length + 500)
      await expectProblem(reply, 404, 'NOT_FOUND', path)
    }
  })

  const long = 'x'.repeat(20_000)
  it.each([
    ['a long URL', `GET /${long} HTTP/1.1\r\nhost: x\r\n\r\n`, 431, 'HEADERS_TOO_LARGE'],
    ['a long header', `GET /api/v1/getall HTTP/1.1\r\nhost: x\r\nx-long: ${long}\r\n\r\n`, 431, 'HEADERS_TOO_LARGE'],
    ['a method that is none', 'FOO /api/v1/getall HTTP/1.1\r\nhost: x\r\n\r\n', 400, 'MALFORMED_REQUEST'],
    ['no HTTP', 'hello\r\n\r\n', 400, 'MALFORMED_REQUEST'],
    ['two lengths', 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n', 400, 'MALFORMED_REQUEST'],
  ] as const)('is a problem: %s', async (_, request, status, code) => {
    const { url } = await build()
    await expectProblem(await send(url, request), status, code)
    expect((await fetch(`${url}/api/v1/getall`)).status).toBe(200)
  })
})
