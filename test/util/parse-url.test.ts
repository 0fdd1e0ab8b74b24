import { expect, it } from 'vitest'
import { decodePart, parseUrl } from '../../src/util/parse-url.ts'

it.each([
  ['https://example.org/a', undefined, 'https://example.org/a'],
  ['/b', 'https://example.org/a', 'https://example.org/b'],
  ['//other.example/b', 'https://example.org/a', 'https://other.example/b'],
  ['https://\u00fc.example/', undefined, 'https://xn--tda.example/'],
  ['/b', undefined, undefined],
  ['https://', undefined, undefined],
  ['http://[::1', 'https://example.org/a', undefined],
])('%j from %j is %j', (text, base, href) => {
  // Also once the call is optimised.
  for (let count = 0; count < 20_000; count++) parseUrl(text, base)
  expect(parseUrl(text, base)?.href).toBe(href)
})

it.each([
  ['a%20b', 'a b'],
  ['%C3%BC', '\u00fc'],
  ['100%', '100%'],
  ['%zz', '%zz'],
  ['%ff', '%ff'],
])('%j is decoded as %j', (text, decoded) => expect(decodePart(text)).toBe(decoded))
