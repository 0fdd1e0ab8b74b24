import { expect, it, vi } from 'vitest'
import { retry } from '../../../src/data/scripts/retry.ts'
import { manualClock } from '../../helpers/manual-clock.ts'

const failing = () => vi.fn<() => Promise<string>>().mockRejectedValue(new Error('down'))

it('makes attempts with pauses between them until one succeeds', async () => {
  const clock = manualClock(0)
  const attempt = failing().mockRejectedValueOnce(new Error('down')).mockRejectedValueOnce(new Error('down'))
  attempt.mockResolvedValueOnce('up')
  const options = {
    clock,
    signal: new AbortController().signal,
    maxRetries: 5,
    pauseMs: (_: unknown, failures: number) => failures * 100,
  }
  const result = retry(attempt, options)
  await clock.advance(99)
  expect(attempt).toHaveBeenCalledTimes(1)
  await clock.advance(1)
  expect(attempt).toHaveBeenCalledTimes(2)
  await clock.advance(200)
  expect(await result).toBe('up')
  expect(clock.pending).toBe(0)
})

it('throws the error of the last attempt, with or without retries', async () => {
  const options = { clock: manualClock(0), signal: new AbortController().signal, maxRetries: 2 }
  const all = failing()
  await expect(retry(all, { ...options, pauseMs: () => 0 })).rejects.toThrow('down')
  expect(all).toHaveBeenCalledTimes(3)
  const one = failing()
  await expect(retry(one, { ...options, pauseMs: () => undefined })).rejects.toThrow('down')
  expect(one).toHaveBeenCalledTimes(1)
})

it('ends during a pause when it is aborted', async () => {
  const clock = manualClock(0)
  const stop = new AbortController()
  const result = retry(failing(), { clock, signal: stop.signal, maxRetries: 2, pauseMs: () => 1_000 })
  await clock.advance(10)
  stop.abort(new Error('stopped'))
  await expect(result).rejects.toThrow('stopped')
  expect(clock.pending).toBe(0)
})
