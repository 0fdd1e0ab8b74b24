import { expect, it } from 'vitest'
import { createTickRing } from '../../../../src/game/sources/jmx/tick-ring.ts'

const ring = (name: string, max = 0.05) => ({ mean: 0.02, p50: 0.02, p95: 0.04, p99: 0.05, max, ring: name })

it('that does not change while a tick should have been run shows a hung server', () => {
  const ticks = createTickRing()
  expect(ticks.read(ring('a'), 0)).toBe(true)
  expect(ticks.read(ring('b'), 5_000)).toBe(true)
  expect(ticks.activity()).toEqual({ answeredAt: 5_000 })
  expect(ticks.read(ring('b'), 10_000)).toBe(false)
  expect(ticks.activity()).toMatchObject({ waitingSince: 5_000, lastSentAt: 10_000, showsTicks: true })
  expect(ticks.read(ring('c'), 15_000)).toBe(true)
  expect(ticks.activity()).toEqual({ answeredAt: 15_000 })
})

it('may be the same in two reads within one tick, however long ticks take', () => {
  const ticks = createTickRing()
  ticks.read(ring('a'), 0)
  expect(ticks.read(ring('a'), 1_000)).toBe(true)
  const slow = createTickRing()
  slow.read(ring('a', 4), 0)
  expect(slow.read(ring('a', 4), 5_000)).toBe(true)
  const { waitingSince = 0, lateAfterMs = 0 } = slow.activity()
  expect(5_000 - waitingSince).toBeLessThan(lateAfterMs)
})

it('is not compared across a failure, nor before the first tick', () => {
  const ticks = createTickRing()
  ticks.read(ring('a'), 0)
  ticks.forget()
  expect(ticks.activity()).toEqual({})
  expect(ticks.read(ring('a'), 5_000)).toBe(true)
  expect(ticks.read(undefined, 10_000)).toBe(false)
  expect(ticks.activity()).toEqual({})
})
