import { expect, it } from 'vitest'
import { findSameNames } from '../../src/config/config.ts'

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

it('takes time in proportion to the number of servers', () => {
  const timeOf = (count: number) => {
    const names = Array.from({ length: count }, (_, index) => `server-${index}`)
    const times = [1, 2, 3].map(() => {
      const started = performance.now()
      expect(problemsOf(names)).toEqual([])
      return performance.now() - started
    })
    return Math.min(...times)
  }
  // 16 if each name is compared with every other one.
  expect(timeOf(80_000) / timeOf(20_000)).toBeLessThan(10)
})
