import { expect, it } from 'vitest'
import type { Source } from '../../../src/game/sources/source.ts'
import { RunningPolls } from '../../../src/game/watcher/running-polls.ts'
import { manualClock } from '../../helpers/manual-clock.ts'
import { refused, scriptedSource } from '../../helpers/scripted-source.ts'

/** Ends only when its signal is aborted, with the reason. */
const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))

it('passes the deadline to a source, and aborts it then', async () => {
  const clock = manualClock(100)
  const running = new RunningPolls(clock, 2_000)
  let deadlineAt: number | undefined
  const source = scriptedSource('status', clock, untilAborted)
  const recording: Source = {
    ...source,
    poll(signal, at) {
      deadlineAt = at
      return source.poll(signal)
    },
  }
  const poll = running.run(recording, clock.now())
  const failed = expect(poll).rejects.toMatchObject({
    code: 'timeout',
    message: 'status.test:1: no complete reply within 2000 ms',
  })
  await clock.advance(2_000)
  await failed
  expect(deadlineAt).toBe(2_100)
  expect(running.size).toBe(0)
  expect(clock.pending).toBe(0)
})

it('reports whole milliseconds for what is left of a longer timeout', async () => {
  const clock = manualClock()
  const poll = new RunningPolls(clock, 1955.893605).run(scriptedSource('status', clock, untilAborted), clock.now())
  const failed = expect(poll).rejects.toMatchObject({ message: 'status.test:1: no complete reply within 1956 ms' })
  await clock.advance(2_000)
  await failed
})

it('ends the poll of a source that ignores its signal 100 ms later', async () => {
  const clock = manualClock(0)
  const running = new RunningPolls(clock, 2_000)
  const source = scriptedSource('status', clock, 'silent')
  const failed = expect(running.run(source, clock.now())).rejects.toMatchObject({ code: 'timeout' })
  await clock.advance(2_099)
  expect(running.isRunning(source)).toBe(true)
  await clock.advance(1)
  await failed
  expect(running.isRunning(source)).toBe(false)
})

it('shares one deadline: a poll that starts late has the remaining time', async () => {
  const clock = manualClock(0)
  const running = new RunningPolls(clock, 2_000)
  const startedAt = clock.now()
  await clock.advance(1_500)
  const failed = expect(running.run(scriptedSource('status', clock, untilAborted), startedAt)).rejects.toMatchObject({
    code: 'timeout',
  })
  await clock.advance(500)
  await failed
})

it('cancels the polls of sources that are no longer listed, and all on close', async () => {
  const clock = manualClock(0)
  const running = new RunningPolls(clock, 2_000)
  const [kept, removed] = [scriptedSource('status', clock, untilAborted), scriptedSource('query', clock, untilAborted)]
  const startedAt = clock.now()
  const polls = [kept, removed].map((source) => running.run(source, startedAt).catch((error) => error))
  running.keepOnly([kept])
  expect(await polls[1]).toMatchObject({ code: 'aborted', message: 'query.test:1: no longer watched' })
  expect(running.isRunning(kept)).toBe(true)
  running.close()
  expect(await polls[0]).toMatchObject({ code: 'aborted' })
  expect(clock.pending).toBe(0)
})

it('returns what a source has read, and throws its error, even one of the call itself', async () => {
  const clock = manualClock(0)
  const running = new RunningPolls(clock, 2_000)
  const source = scriptedSource('status', clock, { playersOnline: 3 })
  const poll = running.run(source, clock.now())
  expect(running.isRunning(source)).toBe(true)
  expect(running.isRunning(scriptedSource('query', clock))).toBe(false)
  await expect(poll).resolves.toEqual({ source: 'status', at: 0, fields: { playersOnline: 3 } })
  const throwing: Source = {
    ...source,
    poll() {
      throw refused
    },
  }
  await expect(running.run(throwing, clock.now())).rejects.toBe(refused)
  expect(running.size).toBe(0)
  expect(clock.pending).toBe(0)
})
