import { expect, it } from 'vitest'
import { maxNumberLength, writeNumber } from '../../exporter/number-text.ts'

function textOf(value: number): string {
  const bytes = Buffer.alloc(maxNumberLength + 1)
  return bytes.toString('latin1', 1, writeNumber(bytes, 1, value))
}

it.each([
  [0, -0, 1, 9, 10, 774, -1, -0.5, 0.1, 0.3, 0.1 + 0.2, 12.5, 0.002529, 0.0025288880000007338],
  [1e-6, 1.5e-6, 9e-7, 1e-7, 0.999999, 0.9999999, 999_999.999_999, 5e-324, -1.2345678901234567e-100, -1.2345678901234567e-6],
  [2 ** 31, 2 ** 31 + 0.5, 2 ** 32 - 1, 2 ** 32 - 1 + 0.999_999, 2 ** 32, 2 ** 53, 1e21, Number.MAX_VALUE],
  [1_795_349_896.9, 1_795_349_896.916, 1_795_349_896.915_994, (1_795_349_896_915 + 0.9941) / 1_000],
])('writes a number as String() does: %d', (...values) => {
  expect(values.map(textOf)).toEqual(values.map(String))
})

it('writes numbers of every size and number of decimals as String() does', () => {
  let state = 1
  // The generator of Park and Miller: the same numbers in each run.
  const random = () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
  for (let count = 0; count < 50_000; count++) {
    const decimals = 10 ** Math.floor(random() * 8)
    const value = Math.floor(random() * 2 ** 33 * 10 ** -Math.floor(random() * 10) * decimals) / decimals
    if (textOf(value) !== String(value)) expect(textOf(value)).toBe(String(value))
  }
})
