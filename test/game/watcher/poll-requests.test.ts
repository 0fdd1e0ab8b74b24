import { expect, it } from 'vitest'
import { PollRequests } from '../../../src/game/watcher/poll-requests.ts'
import { manualClock } from '../../helpers/manual-clock.ts'

it('polls at the time of the earliest request, once', async () => {
  const clock = manualClock(0)
  const polls: number[] = []
  const requests = new PollRequests(clock, () => polls.push(clock.now()) > 0)
  requests.request('management', 5_000)
  requests.request('management', 2_000)
  requests.request('management', 8_000)
  await clock.advance(10_000)
  expect(polls).toEqual([2_000])
})

it('polls a source at most once a second, however many it requests', async () => {
  const clock = manualClock(0)
  const polls: number[] = []
  const requests = new PollRequests(clock, () => polls.push(clock.now()) > 0)
  for (let index = 0; index < 100; index++) {
    requests.request('management', clock.now())
    await clock.advance(30)
  }
  await clock.advance(10_000)
  expect(polls).toEqual([0, 1_000, 2_000, 3_000])
})

it('polls again after a poll that was running at the requested time', async () => {
  const clock = manualClock(0)
  let isRunning = true
  const polls: number[] = []
  const requests = new PollRequests(clock, () => {
    if (!isRunning) polls.push(clock.now())
    return !isRunning
  })
  requests.request('management', 0)
  await clock.advance(500)
  isRunning = false
  await clock.advance(500)
  expect(polls).toEqual([1_000])
})

it('does not poll after it was closed', async () => {
  const clock = manualClock(0)
  const requests = new PollRequests(clock, () => {
    throw new Error('polled')
  })
  requests.request('management', 1_000)
  requests.close()
  requests.request('management', 1_000)
  expect(clock.pending).toBe(0)
  // Also before the first request.
  const others = new PollRequests(clock, () => true)
  others.close()
  others.request('management', 1_000)
  expect(clock.pending).toBe(0)
})

it('can be closed without any request', () => {
  expect(() => new PollRequests(manualClock(0), () => true).close()).not.toThrow()
})
