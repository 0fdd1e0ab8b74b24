import { expect, it } from 'vitest'
import { decimal, parseMilliseconds, toInteger, toNumber } from '../../../src/game/protocol/decimal.ts'

it.each([
  ['19.98', 19.98],
  ['19,98', 19.98],
  ['20', 20],
  ['\u0661\u0669\u066b\u0669\u0668', 19.98],
  ['\u06f1\u06f9\u066b\u06f0', 19],
  ['', Number.NaN],
  [undefined, Number.NaN],
])('the decimal %j is %d', (text, value) => expect(toNumber(text)).toBe(value))

it.each([
  ['12.345', 0.012345],
  ['0,7', 0.0007],
  ['3', 0.003],
  ['', Number.NaN],
  [undefined, Number.NaN],
])('%j milliseconds are %d seconds', (text, value) => expect(parseMilliseconds(text)).toBe(value))

it.each([
  ['0', 0],
  ['007', 7],
  ['9007199254740991', 9007199254740991],
  ['9007199254740992', undefined],
  ['-1', undefined],
  ['1.5', undefined],
  ['1x', undefined],
  ['x1', undefined],
  ['', undefined],
  [undefined, undefined],
])('the integer %j is %j', (text, value) => expect(toInteger(text)).toBe(value))

it.each(['1', '1.5', '1,5', '\u0661\u066b\u06f9', '123456789012.12345678901234567890'])('%s matches', (text) =>
  expect(text).toMatch(new RegExp(`^${decimal}$`)),
)

it.each(['', '1.', '.5', '1234567890123', '-1'])('%j does not match', (text) =>
  expect(text).not.toMatch(new RegExp(`^${decimal}$`)),
)
