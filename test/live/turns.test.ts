import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createTurns, type Step } from '../../src/live/turns.ts'

/** Pauses after every second part. */
const everySecond = () => {
  let count = 0
  return {
    isDue: () => ++count % 2 === 0,
    take: () => setImmediate(),
  }
}

/** A step that writes `times` parts. */
function stepOf(name: string, times: number, written: string[]): Step {
  let count = 0
  return () => {
    written.push(name)
    return ++count < times
  }
}

it('runs the first part of a step at once if nothing waits, and the steps one after the other with pauses', async () => {
  const written: string[] = []
  const turns = createTurns(everySecond)
  turns.add(stepOf('a', 6, written))
  expect(written).toEqual(['a'])
  await setImmediate()
  expect(written).toEqual(['a', 'a', 'a'])
  turns.add(stepOf('b', 3, written))
  expect(written).toHaveLength(3)
  await setImmediate()
  // The first part of a new step does not wait for the others.
  expect(written.slice(3)).toEqual(['b', 'a'])
  await setImmediate()
  await setImmediate()
  expect(written.slice(5)).toEqual(['a', 'a', 'b', 'b'])
  await setImmediate()
  expect(written).toHaveLength(9)
  turns.add(stepOf('c', 1, written))
  expect(written.at(-1)).toBe('c')
})

it('runs other steps while one waits, and continues it after them', async () => {
  const written: string[] = []
  const turns = createTurns(everySecond)
  const slow = stepOf('slow', 2, written)
  turns.add(() => {
    slow()
    return false
  })
  turns.add(stepOf('a', 2, written))
  turns.resume(slow)
  await setImmediate()
  await setImmediate()
  expect(written).toEqual(['slow', 'a', 'a', 'slow'])
})

it('does not run a deleted step', async () => {
  const written: string[] = []
  const turns = createTurns()
  const step = stepOf('a', 1, written)
  turns.resume(step)
  turns.delete(step)
  await setImmediate()
  await setImmediate()
  expect(written).toEqual([])
})
