import { expect, it } from 'vitest'
import { Slots } from '../../src/history/slots.ts'

const held = (table: Slots) => [...table.buckets()].sort((a, b) => a - b)

function filled(from: number, count: number, maxSlots = 360): Slots {
  const table = new Slots(maxSlots, [0])
  for (let bucket = from; bucket < from + count; bucket++) {
    const at = table.enter(bucket)
    table.words[at] = bucket % 50_000
  }
  return table
}

it('keeps the last buckets with their words, for any number and start', () => {
  for (const from of [0, 7, 359, 170_000_003]) {
    for (const count of [1, 5, 200, 300, 359, 360, 361, 1_000]) {
      const table = filled(from, count)
      const expected = Array.from({ length: Math.min(count, 360) }, (_, index) => from + count - Math.min(count, 360) + index)
      expect(held(table)).toEqual(expected)
      for (const bucket of expected) expect(table.words[table.find(bucket)]).toBe(bucket % 50_000)
      expect(table.find(from + count)).toBe(-1)
    }
  }
})

it('grows with the buckets that it holds, up to its full size', () => {
  const sizes = [0, 1, 10, 100, 10_000].map((count) => filled(0, count).byteLength)
  expect(sizes).toEqual([0, 4 * 6, 16 * 6, 128 * 6, 360 * 6])
})

it('initialises an added bucket, even in a slot that was in use', () => {
  const table = new Slots(4, [7, 8])
  for (let bucket = 0; bucket < 9; bucket++) {
    const at = table.enter(bucket)
    expect([...table.words.subarray(at, at + 2)]).toEqual([7, 8])
    table.words.fill(1, at, at + 2)
  }
})

it('keeps the buckets when their words change', () => {
  const table = filled(1_000, 50)
  const wider = table.converted([0, 9], (to, target, from) => {
    to.words[target] = table.words[from] ?? 0
  })
  expect(held(wider)).toEqual(held(table))
  for (const bucket of held(wider)) expect([...wider.words.subarray(wider.find(bucket)).subarray(0, 2)]).toEqual([bucket, 9])
})
