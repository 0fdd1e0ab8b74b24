import { describe, expect, it } from 'vitest'
import { readRateLimit } from '../../../src/data/scripts/rate-limit.ts'

const wall = Date.UTC(2026, 0, 15)
const day = 86_400_000
const none = { isExceeded: false, resetMs: undefined, retryMs: undefined }
const after = (text: string, at = wall) => readRateLimit(429, { 'retry-after': text }, at).retryMs
const reset = (text: string, at = wall) =>
  readRateLimit(200, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': text }, at).resetMs

describe('the rate limit of a reply', () => {
  it.each<[status: number, headers: Record<string, string>, expected: object]>([
    [200, {}, none],
    [403, {}, none],
    [429, {}, { ...none, isExceeded: true }],
    [500, { 'retry-after': '5' }, { ...none, retryMs: 5_000 }],
    [403, { 'retry-after': '5' }, { ...none, isExceeded: true, retryMs: 5_000 }],
    [403, { 'retry-after': 'soon' }, none],
    [403, { 'x-ratelimit-remaining': '0' }, { ...none, isExceeded: true }],
    [403, { 'x-ratelimit-remaining': '0.9' }, { ...none, isExceeded: true }],
    [403, { 'x-ratelimit-remaining': '1' }, none],
    [403, { 'x-ratelimit-remaining': '1', 'x-ratelimit-reset': '60' }, none],
    [403, { 'x-ratelimit-remaining': 'none', 'x-ratelimit-reset': '60' }, none],
    [403, { 'x-ratelimit-reset': '60' }, none],
    [200, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '60' }, { isExceeded: false, resetMs: 60_000, retryMs: 60_000 }],
    [404, { 'x-ratelimit-remaining': '0' }, none],
    [
      ...([429, { 'retry-after': '5', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '60' }] as const),
      { isExceeded: true, resetMs: 60_000, retryMs: 5_000 },
    ],
  ])('with status %i and %j is %j', (status, headers, expected) => {
    expect(readRateLimit(status, headers, wall)).toEqual(expected)
  })

  it.each([
    ['0', 0],
    [' 5 ', 5_000],
    ['5.25', 5_250],
    ['86401', day],
    ['9'.repeat(300), day],
    ['9'.repeat(301), undefined],
    ['5.', undefined],
    ['5.x', undefined],
    ['.5', undefined],
    ['5x', undefined],
    ['x5', undefined],
    ['-5', undefined],
    ['', undefined],
    ['Thu, 15 Jan 2026 00:00:05 GMT', 5_000],
    [' Thu, 15 Jan 2026 00:00:05 GMT', 5_000],
    ['Thursday, 15-Jan-26 00:00:05 GMT', 5_000],
    ['Thu Jan 15 00:00:05 2026 GMT', 5_000],
    ['Thu, 15 Jan 2026 00:00:00 GMT', undefined],
    ['Thu, 15 Jan 2026 00:00:00 GMT x', undefined],
    ['Wed, 14 Jan 2026 23:59:59 GMT', undefined],
    ['Fri, 15 Jan 2027 00:00:00 GMT', day],
    ['15 Jan 2026 00:00:05 GMT', undefined],
    ['2026-01-15T00:00:05Z', undefined],
    ['T 15 Jan 2026 00:00:05 GMT', undefined],
    ['Thu,15 Jan 2026 00:00:05 GMT', undefined],
    ['2026 Jan 15 00:00:05 GMT', undefined],
  ])('has Retry-After: %s', (text, expected) => expect(after(text)).toBe(expected))

  it.each([
    ['0', undefined],
    ['1', 1_000],
    [' 1.5 ', 1_500],
    ['999999999', day],
    [String(wall / 1000 + 5), 5_000],
    [String(wall / 1000), undefined],
    [String(wall / 1000 - 5), undefined],
    [String(wall + 5_000), 5_000],
    [String(wall - 5_000), undefined],
    ['soon', undefined],
    ['-1', undefined],
  ])('has X-RateLimit-Reset: %s', (text, expected) => expect(reset(text)).toBe(expected))

  it('has Unix seconds from 2001 on, and Unix milliseconds from 1973 on', () => {
    expect(reset('1000000000', 1e12 - 5_000)).toBe(5_000)
    expect(reset('100000000000', 1e11 - 5_000)).toBe(5_000)
    expect(reset('99999999999', 99_999_999_999_000 - 5_000)).toBe(5_000)
  })
})
