import { expect, it } from 'vitest'
import { backoffMs, withJitter } from '../../src/util/backoff.ts'

it('doubles the pause with each failure, up to the maximum', () => {
  const pauses = [1, 2, 3, 4, 5, 6, 2_000].map((failures) => backoffMs(failures, { firstMs: 1_000, maxMs: 10_000 }))
  expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 10_000, 10_000, 10_000])
})

it('only shortens a pause by jitter', () => {
  expect(withJitter(1_000, 0.1, () => 0)).toBe(1_000)
  expect(withJitter(1_000, 0.1, () => 1)).toBe(900)
})
