import { describe, expect, it } from 'vitest'
import { growthOf, isLinear } from './helpers/growth.ts'
import { cases } from './helpers/growth-cases.ts'

it('detects work that grows with the square of the input', async () => {
  const run = (text: string) => Array.from(text, (_, index) => text.slice(0, index).replaceAll('b', 'c'))
  const make = (size: number) => 'ab'.repeat(size / 2)
  expect(isLinear(await growthOf({ maxSize: 1e6, makers: {}, run }, make))).toBe(false)
})

describe('time grows no faster than the input of', () => {
  it.each(Object.keys(cases))('%s', async (name) => {
    const growth = cases[name]!
    for (const [input, make] of Object.entries(growth.makers)) {
      const ratio = await growthOf(growth, make)
      expect(isLinear(ratio), `${input}: four times the size takes ${ratio?.toFixed(1)} times as long`).toBe(true)
    }
  })
})
