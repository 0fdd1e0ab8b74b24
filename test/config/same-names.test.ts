import { expect, it } from 'vitest'
import { findSameNames } from '../../src/config/config.ts'
import { type Growth, growthOf, isLinear, type Maker } from '../helpers/growth.ts'

function problemsOf(names: readonly (string | undefined)[]): readonly string[] {
  const problems: string[] = []
  findSameNames(names, problems)
  return problems
}

it('reports each name that several servers have once', () => {
  expect(problemsOf(['a', 'b', undefined, 'a', undefined, 'c', 'a', 'b'])).toEqual([
    'two servers have the name "a"; names must be unique',
    'two servers have the name "b"; names must be unique',
  ])
})

it('takes time in proportion to the number of servers', async () => {
  const names = (count: number) => Array.from({ length: count }, (_, index) => `server-${index}`)
  expect(isLinear(await growthOf({ maxSize: 80_000, makers: {}, run: problemsOf as Growth['run'] }, names as Maker))).toBe(true)
})
