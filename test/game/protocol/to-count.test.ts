import { expect, it } from 'vitest'
import { toCount } from '../../../src/game/protocol/to-count.ts'

it.each([0, 1, 20, Number.MAX_SAFE_INTEGER])('%j is a count', (value) => expect(toCount(value)).toBe(value))

it.each([-1, 0.5, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY, '3', [3], null, undefined, true])('%j is none', (value) =>
  expect(toCount(value)).toBeUndefined(),
)
