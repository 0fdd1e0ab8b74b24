import { once } from 'node:events'
import { expect, test } from 'vitest'
import { createPolls } from '../../../src/game/sources/polls.ts'

/** A poll that ends only with its signal. */
async function untilAborted(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await once(signal, 'abort')
  throw signal.reason
}

test('a poll that was ended leaves the next one alone, and closing still ends that', async () => {
  const polls = createPolls('mc.example.org:25565')
  const first = new AbortController()
  expect(await polls.run(first.signal, async () => 'well')).toBe('well')
  // Its signal has no say after its poll.
  first.abort(new Error('first'))

  const second = new AbortController()
  const ended = polls.run(second.signal, untilAborted)
  second.abort(new Error('second'))
  await expect(ended).rejects.toThrow('second')

  expect(await polls.run(new AbortController().signal, async (signal) => signal.aborted)).toBe(false)

  const [one, other] = [1, 2].map(() => polls.run(new AbortController().signal, untilAborted))
  polls.close()
  await expect(one).rejects.toThrow('no longer asked')
  await expect(other).rejects.toThrow('no longer asked')
  await expect(polls.run(new AbortController().signal, async () => 'well')).rejects.toThrow('no longer asked')
})
