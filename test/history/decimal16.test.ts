import fc from 'fast-check'
import { expect, it } from 'vitest'
import { decode16, encode16, unknown16 } from '../../src/history/decimal16.ts'

it.each([
  [0, 0],
  [1.5, 1.5],
  [12.3456, 12.346],
  [19.98, 19.98],
  [45.678, 45.68],
  [163.82, 163.82],
  [350.12, 350.1],
  [1638.2, 1638.2],
  [60_000, 60_000],
  [-5, 0],
  [1e9, 163_820],
  [Number.POSITIVE_INFINITY, 163_820],
])('%d is decoded as %d', (value, expected) => {
  expect(decode16(encode16(value))).toBe(expected)
})

it('decodes only the unknown value as unknown', () => {
  expect(encode16(Number.NaN)).toBe(unknown16)
  expect(decode16(unknown16)).toBeNaN()
  fc.assert(
    fc.property(fc.double({ min: 0, max: 163_000, noNaN: true }), (value) => {
      const found = decode16(encode16(value))
      expect(Math.abs(found - value)).toBeLessThanOrEqual(Math.max(0.000_51, value * 0.0031))
    }),
  )
})
