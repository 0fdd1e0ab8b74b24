import { expect, it } from 'vitest'
import { waitUpTo } from '../../src/util/wait-up-to.ts'
import { manualClock } from '../helpers/manual-clock.ts'

it('waits for work that ends in time, and no longer than the maximum for other work', async () => {
  const clock = manualClock(0)
  await waitUpTo(Promise.resolve(), 1_000, clock)
  expect(clock.pending).toBe(0)
  await expect(waitUpTo(Promise.reject(new Error('failed')), 1_000, clock)).rejects.toThrow('failed')
  let ended = false
  const waiting = waitUpTo(new Promise(() => {}), 1_000, clock).then(() => {
    ended = true
  })
  await clock.advance(999)
  expect(ended).toBe(false)
  await clock.advance(1)
  await waiting
  expect(clock.pending).toBe(0)
})
