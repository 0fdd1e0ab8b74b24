import { expect, it } from 'vitest'
import { createPauses } from '../../src/util/pauses.ts'

it('gives all work that is paused at the same time one budget per turn of the event loop', async () => {
  let time = 0
  const now = () => time
  const [first, second] = [createPauses({ now }), createPauses({ now })]
  time = 2
  expect(first.isDue()).toBe(true)
  await first.take()
  time = 3.9
  expect(first.isDue()).toBe(false)
  time = 4
  expect(first.isDue()).toBe(true)
  await Promise.all([first.take(), second.take()])
  for (const pauses of [first, second]) {
    time = 4.9
    expect(pauses.isDue()).toBe(false)
    time = 5
    expect(pauses.isDue()).toBe(true)
  }
})

it('starts with a part of the budget while other work is paused', async () => {
  let time = 0
  const now = () => time
  const taken = createPauses({ now }).take()
  const started = createPauses({ now })
  time = 1
  expect(started.isDue()).toBe(true)
  await taken
})

it('gives work with priority more time than other work, which still continues', async () => {
  // No period of priority of another test has begun as late.
  let time = Math.ceil(performance.now()) + 2_000
  const now = () => time
  const [first, other] = [createPauses({ now, hasPriority: true }), createPauses({ now })]
  const taken = Promise.all([first.take(), other.take()])
  expect(createPauses({ now }).isDue()).toBe(true)
  await taken
  expect(other.isDue()).toBe(true)
  time += 3.9
  expect(first.isDue()).toBe(false)
  time += 0.1
  expect(first.isDue()).toBe(true)
})

it('limits the time for which work has priority', async () => {
  let time = Math.ceil(performance.now()) + 6_000
  const now = () => time
  /** Whether other work gets its part of the budget beside work with priority. */
  const isShared = async () => {
    const [first, other] = [createPauses({ now, hasPriority: true }), createPauses({ now })]
    await Promise.all([first.take(), other.take()])
    return !other.isDue()
  }
  expect(await isShared()).toBe(false)
  time += 399
  expect(await isShared()).toBe(false)
  time += 1
  expect(await isShared()).toBe(true)
  time += 1_599
  expect(await isShared()).toBe(true)
  time += 1
  expect(await isShared()).toBe(false)
})

it('lets timers run in a pause', async () => {
  let fired = false
  setTimeout(() => (fired = true), 0)
  const pauses = createPauses()
  while (!fired) await pauses.take()
})
