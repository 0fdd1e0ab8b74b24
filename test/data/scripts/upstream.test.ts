import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { noProgress } from '../../../src/data/scripts/script.ts'
import { createUpstream, type UpstreamContext, type UpstreamOptions } from '../../../src/data/scripts/upstream.ts'
import type { UpstreamError } from '../../../src/data/scripts/upstream-error.ts'
import { type Clock, systemClock } from '../../../src/util/clock.ts'
import { until } from '../../helpers/until.ts'

/** A clock that stands still, except for waits, which end at once and are recorded. */
function hastyClock(): Clock & { readonly waits: number[] } {
  const waits: number[] = []
  let wall = Date.UTC(2026, 0, 15)
  return {
    waits,
    now: () => systemClock.now(),
    wall: () => wall,
    after(delay, action) {
      waits.push(delay)
      return systemClock.after(0, () => {
        wall += delay
        action()
      })
    },
  }
}
/** Ends the current attempt as if it took too long, where the time limits are those of the test. */
let late = new AbortController()

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

const running = () => ({ signal: new AbortController().signal, clock: hastyClock() })

async function start(listener: RequestListener, options: Partial<UpstreamOptions> = {}, context: Partial<UpstreamContext> = {}) {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const clock = hastyClock()
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const upstream = createUpstream(
    { ...running(), clock, ...context },
    { name: 'Upstream', baseUrl: `${origin}/base`, ...options },
  )
  closing.push(() => {
    upstream.close()
    server.closeAllConnections()
    server.close()
  })
  const connections = () =>
    new Promise<number>((resolve, reject) => server.getConnections((error, count) => (error ? reject(error) : resolve(count))))
  return { upstream, clock, origin, connections }
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

  it.each<[what: string, bad: RequestListener]>([
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
    ['a hang', () => late.abort()],
    [
      'a body that never ends',
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' }).write('{', () => late.abort())
      },
    ],
  ])('retries after %s', async (_what, bad) => {
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => {
      late = new AbortController()
      return late.signal
    })
    closing.push(() => timeout.mockRestore())
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
    expect(clock.waits).toEqual([7_000])
  })

  it('does not wait for hours, and sends no request before', async () => {
    const listener = inTurn(json({}, 429, { 'retry-after': '7200' }))
    const { upstream, clock } = await start(listener)
    const error = await failure(upstream.request({ path: '/' }))
    expect(error.kind).toBe('rate_limited')
    expect(error.retryAt! - clock.wall()).toBe(7_200_000)
    expect(await failure(upstream.request({ path: '/' }))).toMatchObject({ kind: 'rate_limited', retryAt: error.retryAt })
    expect(listener.requested).toBe(1)
  })

  it.each([
    ['Reddit', () => '30'],
    ['GitHub', () => String(Date.UTC(2026, 0, 15) / 1000 + 30)],
  ])('waits before the next request when the rate limit is exceeded, in the form of %s', async (_who, reset) => {
    const listener = inTurn(
      (request, response) => json({}, 200, { 'x-ratelimit-remaining': '0.0', 'x-ratelimit-reset': reset() })(request, response),
      json({}),
    )
    const { upstream, clock } = await start(listener)
    await upstream.request({ path: '/' })
    expect(clock.waits).toEqual([])
    await upstream.request({ path: '/' })
    expect(clock.waits).toEqual([30_000])
  })

  it('stops when aborted, during a request and during a wait', async () => {
    const stop = new AbortController()
    const { upstream } = await start(() => stop.abort(), {}, { signal: stop.signal })
    expect(await failure(upstream.request({ path: '/' }))).toMatchObject({ kind: 'aborted' })

    const later = new AbortController()
    const waiting: Clock = {
      ...hastyClock(),
      after() {
        later.abort()
        return () => {}
      },
    }
    const other = await start(json({}, 429, { 'retry-after': '80' }), {}, { signal: later.signal, clock: waiting })
    expect(await failure(other.upstream.request({ path: '/' }))).toMatchObject({
      kind: 'aborted',
      message: 'Upstream: the run was stopped',
    })
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

  it('sends little by default', async () => {
    const { upstream } = await start((request, response) => {
      const { method, url, headers } = request
      json({ method, url, type: headers['content-type'], accept: headers.accept, length: headers['content-length'] })(
        request,
        response,
      )
    })
    expect(await upstream.request({ path: '/a%20b' })).toMatchObject({
      status: 200,
      json: { method: 'GET', url: '/base/a%20b', accept: 'application/json' },
    })
    const { json: seen } = await upstream.request({ path: '/', form: { a: 'b' }, method: 'POST' })
    expect(seen).toMatchObject({ method: 'POST', type: 'application/x-www-form-urlencoded', length: '3' })
    expect((await upstream.request({ path: '/' })).json).not.toHaveProperty('type')
  })

  it('has its own headers, and a base URL that may end with a slash', async () => {
    const server = await start((request, response) =>
      json({ url: request.url, agent: request.headers['user-agent'] })(request, response),
    )
    const upstream = createUpstream(running(), {
      ...{ name: 'Upstream', headers: { 'user-agent': 'own/1' } },
      baseUrl: `${server.origin}/a/b/?x=1`,
    })
    closing.unshift(upstream.close)
    const { json: seen } = await upstream.request({ path: '/c' })
    expect(seen).toEqual({ url: '/a/b/c', agent: 'own/1' })
  })

  it.each([
    ['application/json', true],
    ['Application/JSON; charset=utf-8', true],
    ['text/json', true],
    ['application/vnd.github.v3+json', true],
    ['text/x-a_b+json', true],
    ['application/jsonp', false],
    ['image/json', false],
    ['xapplication/json', false],
    ['application/xjson', false],
    ['text/plain', false],
    ['', false],
  ])('accepts the type %s: %s', async (type, isAccepted) => {
    const { upstream } = await start((_request, response) =>
      response.writeHead(202, type === '' ? {} : { 'content-type': type }).end('{"a":1}'),
    )
    const request = upstream.request({ path: '/x' })
    if (isAccepted) expect(await request).toMatchObject({ status: 202, json: { a: 1 } })
    else
      expect(await failure(request)).toMatchObject({
        ...{ kind: 'malformed', status: 202 },
        message: 'Upstream: GET /x returned a reply that is not valid JSON',
      })
  })

  it.each([200, 204, 299])('accepts the status %i without a body', async (status) => {
    const { upstream } = await start((_request, response) => response.writeHead(status).end())
    expect(await upstream.request({ path: '/' })).toMatchObject({ status, json: undefined })
  })

  it.each([300, 400, 404, 499])('refuses the status %i', async (status) => {
    const { upstream } = await start(json({ a: 1 }, status))
    expect(await failure(upstream.request({ path: '/' }))).toMatchObject({ kind: 'status', status, body: { a: 1 } })
  })

  it('retries three times by default, after pauses that double up to half a minute', async () => {
    const listener = inTurn(json({}, 500))
    const { upstream, clock } = await start(listener)
    expect(await failure(upstream.request({ path: '/' }))).toMatchObject({ status: 500 })
    expect(listener.requested).toBe(4)
    const more = await start(listener, { retries: 5, retryPauseMs: 8_000 })
    expect(await failure(more.upstream.request({ path: '/' }))).toMatchObject({ status: 500 })
    for (const [waits, expected] of [
      [clock.waits, [500, 1_000, 2_000]],
      [more.clock.waits, [8_000, 16_000, 30_000, 30_000, 30_000]],
    ] as const) {
      expect(waits).toHaveLength(expected.length)
      for (const [index, wait] of waits.entries()) {
        expect(wait).toBeGreaterThan(expected[index]! / 2)
        expect(wait).toBeLessThanOrEqual(expected[index]!)
      }
    }
  })

  it('waits for a rate limit only as often as it retries', async () => {
    const listener = inTurn(json({}, 429, { 'retry-after': '7' }))
    const waits: unknown[] = []
    const { upstream, clock } = await start(listener, {}, { progress: { ...noProgress, wait: (...wait) => waits.push(wait) } })
    expect(await failure(upstream.request({ path: '/' }))).toMatchObject({
      ...{ kind: 'rate_limited', status: 429, retryAt: clock.wall() + 7_000 },
      message: 'Upstream: GET / answered 429: the rate limit is exceeded',
    })
    expect(clock.waits).toEqual([7_000, 7_000, 7_000])
    expect(waits).toEqual(Array(3).fill(['Upstream', 7_000]))
  })

  it.each([
    [90_000, undefined, true],
    [91_000, undefined, false],
    [7_000, 7_000, true],
    [8_000, 7_000, false],
  ])('waits %i ms for a rate limit of at most %s ms: %s', async (wait, maxWait, isWaiting) => {
    const listener = inTurn(json({}, 429, { 'retry-after': String(wait / 1000) }), json({}))
    const { upstream, clock } = await start(listener, maxWait === undefined ? {} : { maxWait })
    if (isWaiting) {
      await upstream.request({ path: '/' })
      expect(clock.waits).toEqual([wait])
      return
    }
    expect(await failure(upstream.request({ path: '/' }))).toMatchObject({ kind: 'rate_limited', status: 429 })
    expect(await failure(upstream.request({ path: '/' }))).toMatchObject({
      ...{ kind: 'rate_limited', status: undefined, retryAt: clock.wall() + wait },
      message: 'Upstream: GET / not sent: the rate limit is exceeded',
    })
    expect(clock.waits).toEqual([])
    expect(listener.requested).toBe(1)
  })

  it.each<[headers: Record<string, string>, limitPause: number | undefined, expected: number]>([
    [{}, undefined, 60_000],
    [{}, 5_000, 5_000],
    [{ 'retry-after': '0' }, 5_000, 0],
    [{ 'retry-after': '5', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '30' }, undefined, 30_000],
    [{ 'retry-after': '30', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '5' }, undefined, 30_000],
  ])('waits after a 429 with %j and a pause of %s ms for %i ms', async (headers, limitPause, expected) => {
    const { upstream, clock } = await start(
      inTurn(json({}, 429, headers), json({})),
      limitPause === undefined ? {} : { limitPause },
    )
    await upstream.request({ path: '/' })
    expect(clock.waits).toEqual(expected === 0 ? [] : [expected])
  })

  it('waits if a body reports a rate limit', async () => {
    const classify = (body: unknown) => (JSON.stringify(body) === '{"error":29}' ? 'rate_limited' : undefined)
    const listener = inTurn(json({ error: 29 }), json({ error: 28 }))
    const { upstream, clock } = await start(listener, { classify })
    expect((await upstream.request({ path: '/' })).json).toEqual({ error: 28 })
    expect(clock.waits).toEqual([60_000])
  })

  it.each([200, 404])('retries if a body with status %i reports a temporary error', async (status) => {
    const classify = (body: unknown) => (JSON.stringify(body) === '{"error":8}' ? 'temporary' : undefined)
    const listener = inTurn(json({ error: 8 }, status), json({ error: 7 }))
    const { upstream } = await start(listener, { classify })
    expect((await upstream.request({ path: '/' })).json).toEqual({ error: 7 })
    const failing = await start(json({ error: 8 }, status), { classify, retries: 0 })
    expect(await failure(failing.upstream.request({ path: '/' }))).toMatchObject({
      ...{ kind: 'status', status, body: { error: 8 }, message: `Upstream: GET / answered ${status}` },
    })
  })

  it('follows as many redirects as it may, within the same origin', async () => {
    const redirect: RequestListener = ({ url }, response) => void response.writeHead(302, { location: `${url}x` }).end()
    const followed = inTurn(redirect, redirect, (request, response) => {
      const { url, headers } = request
      json({ url, authorization: headers.authorization })(request, response)
    })
    const headers = { authorization: 'Bearer x' }
    const { upstream } = await start(followed, { maxRedirects: 2, headers })
    expect((await upstream.request({ path: '/a' })).json).toEqual({ url: '/base/axx', authorization: 'Bearer x' })
    const more = await start(redirect, { maxRedirects: 2 })
    expect(await failure(more.upstream.request({ path: '/a' }))).toMatchObject({
      ...{ kind: 'redirect', message: 'Upstream: GET /a: it redirects more than 2 times' },
    })
    const elsewhere = await start((_, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(), {
      maxRedirects: 2,
    })
    expect(await failure(elsewhere.upstream.request({ path: '/a' }))).toMatchObject({
      ...{ kind: 'redirect', message: expect.stringContaining('it redirects to http://127.0.0.1:1, another origin') },
    })
  })

  it.each([400, 429])('hides the secrets of the request in the body of a reply with %i', async (status) => {
    const { upstream } = await start(json({ quoted: 'it was hunter22' }, status), { retries: 0 })
    const error = await failure(upstream.request({ method: 'POST', path: '/', form: { token: 'hunter22' } }))
    expect(error.body).toEqual({ quoted: 'it was [hidden]' })
  })

  it('explains why there is no reply', async () => {
    const only = { retries: 0 }
    const silent = await start(() => undefined, { ...only, timeoutMs: 100 })
    expect(await failure(silent.upstream.request({ path: '/x' }))).toMatchObject({
      ...{ kind: 'timeout', message: 'Upstream: GET /x did not answer within 0.1 s', cause: expect.any(Error) },
    })
    const large = await start(json('x'.repeat(100)), { ...only, maxBytes: 100 })
    expect(await failure(large.upstream.request({ path: '/x' }))).toMatchObject({
      ...{ kind: 'too_large', message: 'Upstream: GET /x returned more than 100 bytes' },
    })
    const cut = await start((request) => request.socket.destroy(), only)
    expect(await failure(cut.upstream.request({ path: '/x' }))).toMatchObject({
      ...{ kind: 'network', cause: expect.any(Error) },
      message: expect.stringMatching(/^Upstream: GET \/x is unreachable \((UND_ERR_SOCKET|ECONNRESET)\)$/),
    })
    // A port that the library does not connect to.
    const bad = createUpstream(running(), { ...{ name: 'Upstream', baseUrl: 'http://127.0.0.1:1' }, ...only })
    expect(await failure(bad.request({ path: '/x' }))).toMatchObject({
      ...{ kind: 'network', message: 'Upstream: GET /x is unreachable (connection failed)' },
    })
  })

  it('is aborted when its client is closed, and when the run ends', async () => {
    const { upstream } = await start(() => upstream.close())
    expect(await failure(upstream.request({ path: '/' }))).toMatchObject({ kind: 'aborted' })
    const stop = new AbortController()
    const ended = await start(json({}), {}, { signal: stop.signal })
    await ended.upstream.request({ path: '/' })
    stop.abort()
    expect(await failure(ended.upstream.request({ path: '/' }))).toMatchObject({ kind: 'aborted' })
    await until(async () => (await ended.connections()) === 0)
  })
})
