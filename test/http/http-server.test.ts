import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { pino } from 'pino'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createHttpApp } from '../../src/http/app.ts'
import { buildTestApp } from '../helpers/test-app.ts'
import { until } from '../helpers/until.ts'

const build = () => buildTestApp({ scripts: { Server: { status: {} } } })

/** The reply to raw bytes that an HTTP client would not send. */
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

describe('a request without a route', () => {
  it.each(['/%zz', '/api/v1/servers/%zz/getall', '/%FF', '/api/v1/getall%'])('%s is a problem', async (path) => {
    const { get } = await build()
    await expectProblem(await get(`${path}?a=1`), 400, 'INVALID_PATH', path)
  })

  it('has an unknown name of any length', async () => {
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
    ['an unknown method', 'FOO /api/v1/getall HTTP/1.1\r\nhost: x\r\n\r\n', 400, 'MALFORMED_REQUEST'],
    ['no HTTP', 'hello\r\n\r\n', 400, 'MALFORMED_REQUEST'],
    ['no Host', 'GET /api/v1/getall HTTP/1.1\r\n\r\n', 400, 'MALFORMED_REQUEST', '/api/v1/getall'],
    ['two Hosts', 'GET /nothing HTTP/1.1\r\nhost: x\r\nHost: x\r\n\r\n', 400, 'MALFORMED_REQUEST', '/nothing'],
    ['a Host that is not one', 'GET /nothing HTTP/1.1\r\nhost: a b/c@d\r\n\r\n', 400, 'MALFORMED_REQUEST', '/nothing'],
    ['a path that is not valid', 'GET /%zz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n', 400, 'INVALID_PATH', '/%zz'],
    [
      'an unsupported expectation',
      'POST /nothing HTTP/1.1\r\nhost: x\r\nexpect: 200-ok\r\n\r\n',
      417,
      'EXPECTATION_FAILED',
      '/nothing',
    ],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, 'MALFORMED_REQUEST'],
    ['two lengths', 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n', 400, 'MALFORMED_REQUEST'],
  ] as [string, string, number, string, string?][])('is a problem: %s', async (_, request, status, code, instance?: string) => {
    const { url } = await build()
    await expectProblem(await send(url, request), status, code, instance)
    expect((await fetch(`${url}/api/v1/getall`)).status).toBe(200)
  })
})

it.each(['', 'localhost:80', '[::1]:8080', '[fe80::1%25eth0]', 'my_host.example', 'xn--bcher-kva.example:1'])(
  'the Host "%s" is valid',
  async (host) => {
    const { url } = await build()
    const { status } = await send(url, `GET /v1/ping HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`)
    expect(status).toBe(200)
  },
)

describe('time limits', () => {
  const unlimited = { headersMs: 60_000, requestMs: 60_000, keepAliveMs: 60_000, stalledMs: 60_000, checkMs: 50 }

  /** With one short limit, because another one may end before the service has read the request. */
  async function listen(limit: Partial<typeof unlimited>) {
    const app = createHttpApp({ logger: pino({ level: 'silent' }), corsOrigin: '*', limits: { ...unlimited, ...limit } })
    onTestFinished(() => app.close())
    return { app, url: await app.listen({ host: '127.0.0.1', port: 0 }) }
  }

  /** All bytes of the reply to an incomplete request; ends when the service closes the connection. */
  async function replyTo(url: string, request: string, more = '', onReply = () => {}): Promise<string> {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.on('error', () => {})
    await once(socket, 'connect')
    socket.write(request)
    const writing = setInterval(() => socket.write(more), 50)
    try {
      let received = ''
      socket.on('data', (chunk) => {
        received += chunk
        onReply()
      })
      // Not once(), which rejects when the service closes while this writes.
      await new Promise((resolve) => socket.once('close', resolve))
      return received
    } finally {
      clearInterval(writing)
    }
  }

  it('end a request with incomplete headers', async () => {
    const { url } = await listen({ headersMs: 300 })
    expect(await replyTo(url, 'GET / HTTP/1.1\r\nhost: x\r\n', 'x-more: x\r\n')).toMatch(
      /^HTTP\/1\.1 408 [\s\S]*"code":"REQUEST_TIMEOUT"\}$/,
    )
  })

  it.each([
    ['chunked', 'transfer-encoding: chunked\r\n\r\n', '1\r\nx\r\n'],
    ['of a length', 'content-length: 1000000\r\n\r\n', 'x'],
  ])('end a request with an incomplete body, %s, with one reply', async (_, headers, more) => {
    const { app, url } = await listen({ requestMs: 70_000 })
    expect(app.server.requestTimeout).toBe(70_000)
    // Only now, or it may end before the service has read the request.
    const shorten = () => Object.assign(app.server, { headersTimeout: 600, requestTimeout: 600 })
    const reply = await replyTo(url, `POST /nothing HTTP/1.1\r\nhost: x\r\n${headers}`, more, shorten)
    expect(reply.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 404'])
  })

  it('end an idle connection', async () => {
    const { url } = await listen({ keepAliveMs: 300 })
    expect(await replyTo(url, 'GET /nothing HTTP/1.1\r\nhost: x\r\n\r\n')).toMatch(/^HTTP\/1\.1 404 /)
  })

  it('end a connection whose client does not read the reply', async () => {
    const app = createHttpApp({ logger: pino({ level: 'silent' }), corsOrigin: '*', limits: { ...unlimited, stalledMs: 300 } })
    onTestFinished(() => app.close())
    // More than the buffers of the sockets hold.
    const body = Buffer.alloc(32 * 1024 * 1024)
    app.get('/large', () => body)
    const socket = connect(Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port), '127.0.0.1')
    socket.on('error', () => {})
    await once(socket, 'connect')
    socket.pause().write('GET /large HTTP/1.1\r\nhost: x\r\n\r\n')
    const connections = () => new Promise((resolve) => app.server.getConnections((_, count) => resolve(count)))
    await until(async () => (await connections()) === 1)
    await until(async () => (await connections()) === 0)
    socket.destroy()
  })

  it('have defaults', async () => {
    const app = createHttpApp({ logger: pino({ level: 'silent' }), corsOrigin: '*' })
    const { headersTimeout, requestTimeout, keepAliveTimeout, timeout } = app.server
    expect([headersTimeout, requestTimeout, keepAliveTimeout, timeout]).toEqual([10_000, 30_000, 75_000, 60_000])
    await app.close()
  })
})

it('does not invite a body that it would not read', async () => {
  const { url } = await build()
  const request = 'POST /nothing HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 5\r\nconnection: close\r\n\r\n'
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  await once(socket, 'connect')
  socket.write(request)
  const [first] = (await once(socket, 'data')) as [Buffer]
  expect(first.toString()).toMatch(/^HTTP\/1\.1 404 /)
  socket.destroy()
})
