import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createTurns } from '../../src/live/turns.ts'

/** A step that writes `bytes` as often as `times`. */
function stepOf(name: string, bytes: number, times: number, written: string[], add: (step: () => number) => void) {
  let count = 0
  const step = () => {
    written.push(name)
    if (++count < times) add(step)
    return bytes
  }
  return step
}

it('runs a step at once if nothing waits, and the steps one after the other within a bound for each turn', async () => {
  const written: string[] = []
  const turns = createTurns(() => written.push('turn'))
  turns.add(stepOf('a', 100_000, 4, written, turns.addLater))
  // 256 KiB per turn.
  expect(written).toEqual(['turn', 'a', 'a', 'a'])
  turns.add(stepOf('b', 100_000, 2, written, turns.addLater))
  expect(written).toHaveLength(4)
  await setImmediate()
  expect(written.slice(4)).toEqual(['turn', 'a', 'b', 'b'])
  await setImmediate()
  expect(written).toHaveLength(8)
})

it('does not run a deleted step', async () => {
  const written: string[] = []
  const turns = createTurns(() => {})
  const step = stepOf('a', 1, 1, written, turns.addLater)
  turns.addLater(step)
  turns.delete(step)
  await setImmediate()
  expect(written).toEqual([])
})
