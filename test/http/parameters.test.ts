import { describe, expect, it } from 'vitest'
import {
  booleanParameter,
  integerParameter,
  isMalformed,
  malformedPart,
  optional,
  parseParameters,
  parseQuery,
  query,
  textParameter,
  withDefault,
} from '../../src/http/parameters.ts'
import { RequestError } from '../../src/util/errors.ts'

const limit = integerParameter({ minimum: 0, maximum: 50, description: 'Limit', example: 10 })
const title = textParameter({ description: 'Title', example: 'a' })
const debug = withDefault(booleanParameter({ description: 'Debug', example: true }), false)
const parse = (text: string) => parseParameters({ limit }, parseQuery(text) as Record<string, string>).limit

describe('parameters', () => {
  it.each([
    ['limit=0', 0],
    ['limit=50', 50],
    ['limit=007', 7],
    ['other=1&limit=%35', 5],
  ])('%s is an integer', (text, value) => {
    expect(parse(text)).toBe(value)
  })

  it.each(['', ' 5', '5.0', '-1', '%2B1', '1e1', '0x1', '51', '٣', '9'.repeat(400)])('%j is refused', (text) => {
    expect(() => parse(`limit=${text}`)).toThrow(/^Parameter "limit" is ".*"; expected an integer from 0 to 50\.$/)
  })

  it('repeats only the start of a long value', () => {
    expect(() => parse(`limit=${'x'.repeat(5_000)}`)).toThrow(`"${'x'.repeat(60)}..."`)
  })

  it('refuses a parameter given twice and a missing one', () => {
    expect(() => parse('limit=1&limit=1')).toThrow('is given 2 times')
    expect(() => parse('')).toThrow(RequestError)
    expect(parseParameters({ limit: optional(limit), debug }, {})).toEqual({ limit: undefined, debug: false })
  })

  it('counts the characters of a text, as its schema does', () => {
    const of = (text: string) => parseParameters({ title }, { title: text }).title
    for (const text of ['x', 'x'.repeat(200), '\u{1f600}'.repeat(200)]) expect(of(text)).toBe(text)
    for (const text of ['', 'x'.repeat(201), '\u{1f600}'.repeat(201)]) {
      expect(() => of(text)).toThrow('expected a string of 1 to 200 characters')
    }
  })

  it('are described with the bounds that they have', () => {
    expect(query({ limit, title, debug })).toMatchObject({
      type: 'object',
      required: ['limit', 'title'],
      properties: {
        limit: { type: 'integer', minimum: 0, maximum: 50, description: 'Limit', examples: [10] },
        title: { type: 'string', minLength: 1, maxLength: 200 },
        debug: { type: 'boolean', default: false },
      },
    })
  })
})

describe('a query', () => {
  it('is decoded', () => {
    expect(parseQuery('a=1+2&b=%C3%A9&a=3&&c&d==x&__proto__=y')).toEqual(
      Object.assign(Object.create(null), { a: ['1 2', '3'], b: '\u00e9', c: '', d: '=x', ['__proto__']: 'y' }),
    )
  })

  it.each(['a=%', 'a=%zz', 'a=%C3', 'a=%ff', '%E0%A4=1', 'a=%ED%A0%80'])('%s is malformed', (text) => {
    expect(isMalformed(parseQuery(text))).toBe(true)
    expect(isMalformed(parseQuery('a=1'))).toBe(false)
  })

  it.each([
    ['/v1/a?limit=%zz', 'Parameter "limit" ("%zz")'],
    ['/v1/a?a=%25&b.%C3%A9=1%&c=%', 'Parameter "b.é" ("1%")'],
    ['/v1/a?a=1&&a+b=b=%ff', 'Parameter "a b" ("b=%ff")'],
    [`/?${'x'.repeat(61)}=%`, `Parameter "${'x'.repeat(60)}..." ("%")`],
    ['/?%zz=1', 'The query'],
    ['/?a%=%', 'The query'],
    ['/?=%', 'The query'],
  ])('of %s, the part that is malformed is told', (url, part) => expect(malformedPart(url)).toBe(part))
})
