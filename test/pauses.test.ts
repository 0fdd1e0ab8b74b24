import { expect, it } from 'vitest'
import { createPauses } from '../src/pauses.ts'

it('gives all work that is paused at the same time one budget per turn of the event loop', async () => {
  let time = 0
  const now = () => time
  const [first, second] = [createPauses(now), createPauses(now)]
  time = 4
  expect(first.isDue()).toBe(true)
  await first.take()
  time = 7.9
  expect(first.isDue()).toBe(false)
  time = 8
  expect(first.isDue()).toBe(true)
  await Promise.all([first.take(), second.take()])
  for (const pauses of [first, second]) {
    time = 9.9
    expect(pauses.isDue()).toBe(false)
    time = 10
    expect(pauses.isDue()).toBe(true)
  }
})

it('starts with a part of the budget while other work is paused', async () => {
  let time = 0
  const now = () => time
  const taken = createPauses(now).take()
  const started = createPauses(now)
  time = 2
  expect(started.isDue()).toBe(true)
  await taken
})

it('lets timers run in a pause', async () => {
  let fired = false
  setTimeout(() => (fired = true), 0)
  const pauses = createPauses()
  for (const end = performance.now() + 5_000; !fired && performance.now() < end; ) await pauses.take()
  expect(fired).toBe(true)
})
