import { expect, it } from 'vitest'
import { orderSrv } from '../../../src/game/protocol/srv.ts'

const record = (name: string, priority: number, weight: number, port = 25565) => ({ name, port, priority, weight })
const names = (...args: Parameters<typeof orderSrv>) => orderSrv(...args).map(({ name }) => name)

it('sorts by priority, lowest first', () => {
  expect(names([record('c', 20, 100), record('a', 0, 0), record('b', 10, 5)], () => 0.5)).toEqual(['a', 'b', 'c'])
})

it('selects by weight within a priority', () => {
  const records = [record('light', 0, 10), record('heavy', 0, 90)]
  expect(names(records, () => 0)).toEqual(['light', 'heavy'])
  expect(names(records, () => 0.5)).toEqual(['heavy', 'light'])
  let first = 0
  for (let draw = 0; draw < 1_000; draw++) if (names(records, () => draw / 1_000)[0] === 'heavy') first++
  expect(first).toBeGreaterThan(880)
  expect(first).toBeLessThan(920)
})

it('selects weight 0 rarely', () => {
  const records = [record('heavy', 0, 100), record('none', 0, 0)]
  expect(names(records, () => 0)).toEqual(['none', 'heavy'])
  expect(names(records, () => 0.02)).toEqual(['heavy', 'none'])
})

it('drops records without a target, and does not modify its argument', () => {
  const records = Object.freeze([record('.', 0, 0), record('', 0, 0), record('a', 0, 0, 0), record('b', 0, 0)])
  expect(names(records, () => 0)).toEqual(['b'])
})

it('limits an answer with thousands of records', () => {
  expect(
    names(
      Array.from({ length: 5_000 }, (_, index) => record(`t${index}`, 0, 1)),
      () => 0.99,
    ),
  ).toHaveLength(64)
})
