import type { FastifyRequest } from 'fastify'
import { describe, expect, it } from 'vitest'
import { RequestError } from '../../src/errors.ts'
import { integer, nonEmptyText, optional, required } from '../../src/http/query.ts'

const asked = (query: Record<string, string | string[]>) => ({ query }) as unknown as FastifyRequest
const limit = integer(0, 50)

describe('query parameters', () => {
  it.each([
    ['0', 0],
    ['50', 50],
    ['007', 7],
  ])('takes %s as an integer', (text, value) => {
    expect(required(asked({ limit: text }), 'limit', limit)).toBe(value)
  })

  it.each(['', ' 5', '5.0', '-1', '+1', '1e1', '0x1', '51', '٣', '9'.repeat(400)])('refuses %j', (text) => {
    expect(() => optional(asked({ limit: text }), 'limit', limit)).toThrow(
      /^Parameter "limit" is ".*"; expected an integer from 0 to 50\.$/,
    )
  })

  it('repeats no more of a long value than helps', () => {
    expect(() => optional(asked({ limit: 'x'.repeat(5_000) }), 'limit', limit)).toThrow(`"${'x'.repeat(60)}..."`)
  })

  it('refuses a parameter given twice, an empty text and a missing one', () => {
    expect(() => optional(asked({ limit: ['1', '1'] }), 'limit', limit)).toThrow('is given 2 times')
    expect(() => optional(asked({ title: '' }), 'title', nonEmptyText)).toThrow('expected a text that is not empty')
    expect(() => required(asked({}), 'limit', limit)).toThrow(RequestError)
    expect(optional(asked({}), 'limit', limit)).toBeUndefined()
  })
})
