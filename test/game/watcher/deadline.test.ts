import { expect, it } from 'vitest'
import { createDeadline, waitUpTo } from '../../../src/game/watcher/deadline.ts'
import { manualClock } from '../../helpers/manual-clock.ts'

it('returns the remaining time, never below 0', async () => {
  const clock = manualClock(500)
  const deadline = createDeadline(clock, 3_000)
  expect(deadline).toMatchObject({ at: 3_500, timeoutMs: 3_000 })
  await clock.advance(1_000)
  expect(deadline.remainingMs()).toBe(2_000)
  await clock.advance(9_000)
  expect(deadline.remainingMs()).toBe(0)
})

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
