import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { createUpstream, type UpstreamOptions } from '../../../src/data/scripts/upstream.ts'
import type { UpstreamError } from '../../../src/data/scripts/upstream-error.ts'
import { type Clock, systemClock } from '../../../src/util/clock.ts'
import { until } from '../../helpers/until.ts'

/** Waits are a thousand times shorter, and are recorded. */
function hastyClock(): Clock & { readonly waits: number[] } {
  const waits: number[] = []
  let ahead = 0
  return {
    waits,
    now: () => systemClock.now(),
    wall: () => systemClock.wall() + ahead,
    after(delay, action) {
      if (delay === deadline) {
        deadlines.add(action)
        return () => void deadlines.delete(action)
      }
      waits.push(delay)
      return systemClock.after(delay / 1000, () => {
        ahead += delay
        action()
      })
    },
  }
}
const deadline = 300
/** The deadline of running attempts: the test triggers it, so that it does not depend on the load of the machine. */
const deadlines = new Set<() => void>()
const expire = () => {
  for (const end of deadlines) end()
}

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

async function start(listener: RequestListener, options: Partial<UpstreamOptions> = {}) {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const clock = hastyClock()
  const upstream = createUpstream({
    name: 'Upstream',
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/base`,
    signal: new AbortController().signal,
    clock,
    timeout: deadline,
    ...options,
  })
  closing.push(() => {
    upstream.close()
    server.closeAllConnections()
    server.close()
  })
  return { upstream, clock }
}

const json = (body: unknown, status = 200, headers: Record<string, string> = {}): RequestListener => {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  }
}

/** Each request is passed to the next listener, and all remaining ones to the last. */
function inTurn(...listeners: readonly RequestListener[]): RequestListener & { requested: number } {
  const answer: RequestListener = (request, response) => {
    listeners[Math.min(listener.requested++, listeners.length - 1)]!(request, response)
  }
  const listener = Object.assign(answer, { requested: 0 })
  return listener
}

const failure = (promise: Promise<unknown>): Promise<UpstreamError> =>
  promise.then(
    () => expect.fail('it did not fail'),
    (error) => error,
  )

describe('a request to an upstream', () => {
  it('sends path, query, form and headers under the base URL', async () => {
    const { upstream } = await start((request, response) => {
      let body = ''
      request.on('data', (chunk) => {
        body += chunk
      })
      request.on('end', () =>
        json({ url: request.url, body, agent: request.headers['user-agent'], own: request.headers['x-own'] })(request, response),
      )
    })
    const { json: seen } = await upstream.request({
      method: 'POST',
      path: '/a/b',
      query: { raw_json: '1', q: 'a b&c' },
      form: { grant: 'x=y', artist: '아이유' },
      headers: { 'x-own': 'yes' },
    })
    expect(seen).toEqual({
      url: '/base/a/b?raw_json=1&q=a+b%26c',
      body: 'grant=x%3Dy&artist=%EC%95%84%EC%9D%B4%EC%9C%A0',
      agent: expect.stringMatching(/^tickwarden\/\d/),
      own: 'yes',
    })
  })

  it('returns 304 without a body', async () => {
    const { upstream } = await start((_request, response) => response.writeHead(304, { etag: '"a"' }).end())
    expect(await upstream.request({ path: '/' })).toMatchObject({ status: 304, json: undefined, headers: { etag: '"a"' } })
  })

  it.each([
    ['a 5xx', json({}, 503)],
    ['a cut connection', (request) => request.socket.destroy()],
    [
      'a connection cut in the body',
      (_request, response) => {
        response
          .writeHead(200, { 'content-type': 'application/json', 'content-length': '100' })
          .write('{"a"', () => response.destroy())
      },
    ],
    ['a hang', expire],
    [
      'a body that never ends',
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' }).write('{', expire)
      },
    ],
  ] satisfies [string, RequestListener][])('retries after %s', async (_what, bad) => {
    const listener = inTurn(bad, bad, json({ ok: true }))
    const { upstream, clock } = await start(listener)
    expect((await upstream.request({ path: '/' })).json).toEqual({ ok: true })
    expect(listener.requested).toBe(3)
    expect(clock.waits).toHaveLength(2)
    expect(clock.waits[0]).toBeGreaterThanOrEqual(250)
    expect(clock.waits[1]).toBeGreaterThanOrEqual(500)
  })

  it('gives up after its retries', async () => {
    const listener = inTurn(json({}, 500))
    const { upstream } = await start(listener, { retries: 2 })
    expect(await failure(upstream.request({ path: '/x' }))).toMatchObject({
      kind: 'status',
      status: 500,
      message: 'Upstream: GET /x answered 500',
    })
    expect(listener.requested).toBe(3)
  })

  it.each([
    ['404', json({ error: 6 }, 404), { kind: 'status', status: 404, body: { error: 6 } }],
    [
      'a redirect',
      (_request, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
      { kind: 'status', status: 302 },
    ],
    [
      'HTML',
      (_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
      { kind: 'malformed' },
    ],
    [
      'JSON that is none',
      (_request, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{'),
      { kind: 'malformed' },
    ],
  ] satisfies [string, RequestListener, object][])('fails without a retry after %s', async (_what, bad, expected) => {
    const listener = inTurn(bad)
    const { upstream } = await start(listener)
    expect(await failure(upstream.request({ path: '/' }))).toMatchObject(expected)
    expect(listener.requested).toBe(1)
  })

  it('refuses a body that is larger than the limit', async () => {
    const { upstream } = await start(json('x'.repeat(100_000)), { maxBytes: 1000 })
    expect(await failure(upstream.request({ path: '/' }))).toMatchObject({ kind: 'too_large' })
  })

  it('waits for Retry-After and retries', async () => {
    const listener = inTurn(json({}, 429, { 'retry-after': '7' }), json({ ok: true }))
    const { upstream, clock } = await start(listener)
    expect((await upstream.request({ path: '/' })).json).toEqual({ ok: true })
    expect(clock.waits).toHaveLength(1)
    expect(clock.waits[0]).toBeGreaterThan(6_500)
    expect(clock.waits[0]).toBeLessThanOrEqual(7_000)
  })

  it('does not wait for hours, and sends no request before', async () => {
    const listener = inTurn(json({}, 429, { 'retry-after': '7200' }))
    const { upstream, clock } = await start(listener)
    const error = await failure(upstream.request({ path: '/' }))
    expect(error.kind).toBe('rate_limited')
    expect(error.retryAt! - clock.wall()).toBeGreaterThan(7_190_000)
    expect(await failure(upstream.request({ path: '/' }))).toMatchObject({ kind: 'rate_limited', retryAt: error.retryAt })
    expect(listener.requested).toBe(1)
  })

  it.each([
    ['Reddit', () => '30'],
    ['GitHub', () => String(Math.ceil(Date.now() / 1000) + 30)],
  ])('waits before the next request when the rate limit is exceeded, in the form of %s', async (_who, reset) => {
    const listener = inTurn(
      (request, response) => json({}, 200, { 'x-ratelimit-remaining': '0.0', 'x-ratelimit-reset': reset() })(request, response),
      json({}),
    )
    const { upstream, clock } = await start(listener)
    await upstream.request({ path: '/' })
    expect(clock.waits).toEqual([])
    await upstream.request({ path: '/' })
    expect(clock.waits).toHaveLength(1)
    expect(clock.waits[0]).toBeGreaterThan(28_000)
    expect(clock.waits[0]).toBeLessThanOrEqual(31_000)
  })

  it('stops when aborted, during a request and during a wait', async () => {
    const stop = new AbortController()
    const { upstream } = await start(() => stop.abort(), { signal: stop.signal })
    expect(await failure(upstream.request({ path: '/' }))).toMatchObject({ kind: 'aborted' })

    const later = new AbortController()
    const waiting = await start(json({}, 429, { 'retry-after': '80' }), { signal: later.signal })
    const pending = failure(waiting.upstream.request({ path: '/' }))
    await until(() => waiting.clock.waits.length === 1)
    later.abort()
    expect(await pending).toMatchObject({ kind: 'aborted' })
  })

  it('has errors without the query, headers, form and body', async () => {
    const { upstream } = await start(json({ echoed: 'hunter2' }, 400))
    const error = await failure(
      upstream.request({
        method: 'POST',
        path: '/love',
        query: { key: 'hunter2' },
        form: { sk: 'hunter2' },
        headers: { authorization: 'Bearer hunter2' },
      }),
    )
    expect(error.message).toBe('Upstream: POST /love answered 400')
    expect(error.stack).not.toContain('hunter2')
  })
})
