import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createTurns, type Step } from '../../src/live/turns.ts'

/** Pauses after every second part. */
function everySecond() {
  let count = 0
  return { isDue: () => count++ % 2 === 0, take: () => setImmediate() }
}

/** A step that writes `times` parts. */
function stepOf(name: string, times: number, written: string[]): Step {
  let count = 0
  return () => {
    written.push(name)
    return ++count < times
  }
}

it('runs the steps one after the other, with pauses', async () => {
  const written: string[] = []
  const turns = createTurns(everySecond())
  const all = [turns(stepOf('a', 5, written)), turns(stepOf('b', 3, written))]
  expect(written).toEqual([])
  await setImmediate()
  await setImmediate()
  expect(written).toEqual(['a', 'a', 'a', 'a'])
  await Promise.all(all)
  expect(written).toEqual(['a', 'a', 'a', 'a', 'a', 'b', 'b', 'b'])
  await turns(stepOf('c', 1, written))
  expect(written.at(-1)).toBe('c')
})
