import { describe, expect, it } from 'vitest'
import { matches, prepare, prepareJson } from '../../../src/http/replies/reply.ts'

describe('If-None-Match', () => {
  it.each([
    ['"a"', true],
    ['W/"a"', true],
    ['"b", "a"', true],
    ['*', true],
    [undefined, false],
    ['', false],
    ['a', false],
    ['"ab"', false],
  ])('%s', (header, same) => {
    expect(matches(header, '"a"')).toBe(same)
  })
})

describe('the tag of a reply', () => {
  it('depends on its bytes and its type', () => {
    const tag = (value: unknown) => prepareJson(value).headers.etag
    expect(tag(['a'])).toBe(tag(['a']))
    expect(tag(['a'])).not.toBe(tag(['b']))
    expect(prepare('"a"', 'text/plain').headers.etag).not.toBe(prepare('"a"', 'application/json').headers.etag)
  })
})
