import { describe, expect, it } from 'vitest'
import { acceptsGzip, negotiate } from '../../../src/http/replies/accept.ts'

const offered = ['text/plain', 'application/json', 'image/png'] as const

it.each<[string | undefined, boolean]>([
  [undefined, false],
  ['', false],
  ['gzip, deflate, br', true],
  ['X-GZIP', true],
  ['*', true],
  ['gzip;q=0.5, identity', false],
  ['gzip;q=0', false],
  ['gzip;q=0, *', false],
  ['x-gzip;q=0, *', false],
])('Accept-Encoding %j: gzip %j', (acceptEncoding, isAccepted) => expect(acceptsGzip(acceptEncoding)).toBe(isAccepted))

describe('negotiate', () => {
  it.each([
    [undefined, 'text/plain'],
    ['', 'text/plain'],
    ['video/mp4', 'text/plain'],
    ['application/json, text/plain, */*', 'application/json'],
    ['text/plain;q=0.5, application/*;q=0.5', 'text/plain'],
    ['*/*;q=0.9, image/png;q=0.91', 'image/png'],
    ['text/*;q=0, */*', 'application/json'],
    ['text/plain;q=0, video/mp4', 'application/json'],
    ['*/*;q=0', 'text/plain'],
    ['application/json; charset=utf-8 ; q=1.000', 'application/json'],
  ])('%s', (accept, type) => {
    expect(negotiate(accept, offered)).toBe(type)
  })
})
