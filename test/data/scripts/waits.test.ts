import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { createUpstream } from '../../../src/data/scripts/upstream.ts'
import type { UpstreamError } from '../../../src/data/scripts/upstream-error.ts'
import { clampRetryAt, clampWait, maxWaitMs, pause } from '../../../src/data/scripts/waits.ts'
import { systemClock } from '../../../src/util/clock.ts'
import { manualClock } from '../../helpers/manual-clock.ts'

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

/** How long an upstream that always answers with these headers is not requested: milliseconds from now. */
async function waitAfter(headers: Record<string, string>, status = 429): Promise<number> {
  const server = createServer((_request, response) => response.writeHead(status, headers).end('{}'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const wall = Date.UTC(2026, 0, 15)
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const context = { signal: new AbortController().signal, clock: { ...systemClock, wall: () => wall } }
  const upstream = createUpstream(context, { name: 'Upstream', baseUrl, retries: 0 })
  closing.push(() => {
    upstream.close()
    server.closeAllConnections()
    server.close()
  })
  const error = await upstream.request({ path: '/' }).then(
    () => undefined,
    (error: UpstreamError) => error,
  )
  expect(error?.kind).toBe('rate_limited')
  // Every time that is stored or shown can be written as a date.
  expect(new Date(error?.retryAt ?? Number.NaN).toISOString()).toMatch(/^2026-01-1[56]T/)
  return (error?.retryAt ?? Number.NaN) - wall
}

describe('the wait that an upstream requests', () => {
  it.each([
    ['120', 120_000],
    ['0', 0],
    ['86400', maxWaitMs],
    ['86401', maxWaitMs],
    ['9'.repeat(300), maxWaitMs],
    ['Thu, 15 Jan 2026 00:02:00 GMT', 120_000],
    ['Thu, 15 Jan 2099 00:02:00 GMT', maxWaitMs],
  ])('is that of Retry-After: %s, at most a day', async (value, expected) => {
    expect(await waitAfter({ 'retry-after': value })).toBe(expected)
  })

  it.each(['1e300', '-5', '-1', 'Infinity', 'NaN', 'Sun, 06 Nov 1994 08:49:37 GMT', 'soon', ''])(
    'is a minute if Retry-After: %s is not valid',
    async (value) => {
      expect(await waitAfter({ 'retry-after': value })).toBe(60_000)
    },
  )

  it.each<[string, string, number]>([
    ['seconds from now', '300', 300_000],
    ['Unix seconds', String(Date.UTC(2026, 0, 15, 1) / 1000), 3_600_000],
    ['Unix milliseconds', String(Date.UTC(2026, 0, 15, 1)), 3_600_000],
    ['a time far ahead', '99999999999999999', maxWaitMs],
  ])('is read from X-RateLimit-Reset as %s', async (_what, reset, expected) => {
    expect(await waitAfter({ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset }, 403)).toBe(expected)
  })

  it.each(['1600000000', '1600000000000', '0', '-5', 'soon'])(
    'is a minute if no request remains and X-RateLimit-Reset: %s is not valid',
    async (reset) => {
      expect(await waitAfter({ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset }, 403)).toBe(60_000)
    },
  )

  it('is that of Retry-After with a 403 too', async () => {
    expect(await waitAfter({ 'retry-after': '120' }, 403)).toBe(120_000)
  })

  it('is always clamped to a day', () => {
    for (const [wait, expected] of [
      [-1, 0],
      [Number.NaN, 0],
      [Number.POSITIVE_INFINITY, maxWaitMs],
      [1e300, maxWaitMs],
      [5, 5],
    ] as const)
      expect(clampWait(wait)).toBe(expected)
    expect(clampRetryAt(1e300, 1000)).toBe(1000 + maxWaitMs)
    expect(clampRetryAt(Number.NaN, 1000)).toBe(1000)
    expect(clampRetryAt(1500, 1000)).toBe(1500)
  })
})

describe('a pause', () => {
  it('lasts as long as requested', async () => {
    const clock = manualClock()
    let isOver = false
    const paused = pause(clock, 100, new AbortController().signal).then(() => {
      isOver = true
    })
    await clock.advance(99)
    expect(isOver).toBe(false)
    await clock.advance(1)
    expect(isOver).toBe(true)
    await paused
  })

  it('ends with the reason when it is aborted, and leaves no timer', async () => {
    const clock = manualClock()
    const stopping = new AbortController()
    const paused = pause(clock, 100, stopping.signal)
    stopping.abort(new Error('stopping'))
    await expect(paused).rejects.toThrow('stopping')
    await expect(pause(clock, 100, stopping.signal)).rejects.toThrow('stopping')
    expect(clock.pending).toBe(0)
  })
})
