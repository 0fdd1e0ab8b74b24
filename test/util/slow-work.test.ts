import { expect, it } from 'vitest'
import { measureWork, slowWorkOf } from '../../src/util/slow-work.ts'
import { burnCpu } from '../helpers/burn-cpu.ts'

it('counts work that held the event loop, also if it throws', () => {
  const before = slowWorkOf('toy')
  const took: number[] = []
  expect(measureWork('toy', () => 1, took.push.bind(took))).toBe(1)
  expect(took).toEqual([])
  const throwing = () => {
    burnCpu()
    throw new Error('not valid')
  }
  expect(() => measureWork('toy', throwing, (milliseconds) => took.push(milliseconds))).toThrow('not valid')
  expect(took).toHaveLength(1)
  expect(slowWorkOf('toy')).toBe(before + 1)
})

it('does not count time in which the process did nothing, as while it is suspended', () => {
  const before = slowWorkOf('toy')
  const suspended = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)
  expect(measureWork('toy', suspended, () => expect.unreachable())).toBe('timed-out')
  expect(slowWorkOf('toy')).toBe(before)
})
