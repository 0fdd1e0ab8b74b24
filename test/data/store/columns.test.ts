import { expect, it } from 'vitest'
import {
  compareKeys,
  fold,
  intersection,
  NumberColumn,
  type Selection,
  TextColumn,
  union,
  ValueIndex,
} from '../../../src/data/store/columns.ts'

const list = (selection: Selection) => [...selection]
const select = (...ids: readonly number[]) => Uint32Array.from(ids)

it('compares texts without case, and with combining characters composed', () => {
  expect(fold('Love POEM')).toBe('love poem')
  expect(fold('E\u0301')).toBe('\u00e9')
  expect(fold('a\u0300')).toBe('\u00e0')
  expect(fold('\u1112\u1161\u11ab')).toBe('\ud55c')
})

it.each([
  ['', [0, 1, 2, 3]],
  ['b', [0, 1]],
  ['AB', [0]],
  ['ab', [0]],
  ['ba', [1]],
  ['c', [1, 3]],
  ['bac', [1]],
  ['cc', [3]],
  ['b\nb', []],
  ['ab\nbac', []],
  ['\n', []],
  ['c\n', []],
  ['x', []],
])('finds the texts that contain %j', (query, ids) => {
  expect(list(new TextColumn(['ab', 'bAc', '', 'cCcc']).find(query))).toEqual(ids)
})

it('finds a text that follows one that only seems to contain it', () => {
  // The first hit extends from the first text into the second one, and overlaps with the hit in the third.
  expect(list(new TextColumn(['a\n', 'a\na', 'b']).find('a\na'))).toEqual([1])
  expect(list(new TextColumn(['a', 'a\na']).find('a\na'))).toEqual([1])
  expect(list(new TextColumn([]).find(''))).toEqual([])
  expect(list(new TextColumn(['']).find(''))).toEqual([0])
  expect(list(new TextColumn(['', '']).find(''))).toEqual([0, 1])
  expect(list(new TextColumn(['x', 'y', 'ab', 'z', 'ab']).find('ab'))).toEqual([2, 4])
})

it('indexes the values of entries', () => {
  const index = new ValueIndex([['b', 'a', 'b'], ['A'], ['', 'a'], []])
  expect(index.values).toEqual(['A', 'a', 'b'])
  expect(list(index.having('b'))).toEqual([0])
  expect(list(index.having('a'))).toEqual([0, 2])
  expect(list(index.having(''))).toEqual([2])
  expect(list(index.having('c'))).toEqual([])
})

it('treats values with an equal key as equal', () => {
  const index = new ValueIndex([['b', 'B'], ['a'], ['B']], fold)
  expect(index.values).toEqual(['B', 'a', 'b'])
  expect(list(index.having('b'))).toEqual([0, 2])
  expect(list(index.having('A'))).toEqual([1])
})

it('sorts values by code point', () => {
  expect(new ValueIndex([['\u{1f380}', '\uffee', 'z', '가']]).values).toEqual(['z', '가', '\uffee', '\u{1f380}'])
})

it('finds numbers in a range, inclusive', () => {
  const column = new NumberColumn([1, undefined, 3, 2])
  expect(list(column.between(1, 2))).toEqual([0, 3])
  expect(list(column.between(2, 3))).toEqual([2, 3])
  expect(list(column.between(-10, 10))).toEqual([0, 2, 3])
  expect(list(column.between(4, 5))).toEqual([])
})

it('joins selections', () => {
  expect(list(union(select(0, 9, 10), select(2, 10)))).toEqual([0, 2, 9, 10])
  expect(list(intersection(select(0, 9, 10), select(2, 9, 10)))).toEqual([9, 10])
  expect(list(intersection(select(0), select()))).toEqual([])
})

it('compares keys, those that are missing last', () => {
  const order = (isDescending: boolean) =>
    [undefined, 'b', 'a', undefined, 'c'].toSorted((a, b) => compareKeys(a, b, isDescending))
  expect(order(false)).toEqual(['a', 'b', 'c', undefined, undefined])
  expect([...order(true)]).toEqual(['c', 'b', 'a', undefined, undefined])
  for (const isDescending of [false, true]) {
    expect(compareKeys(1, 1, isDescending)).toBe(0)
    expect(compareKeys(undefined, undefined, isDescending)).toBe(0)
    expect(compareKeys(undefined, 1, isDescending)).toBe(1)
    expect(compareKeys(1, undefined, isDescending)).toBe(-1)
  }
  expect(compareKeys(1, 2, false)).toBe(-1)
  expect(compareKeys(1, 2, true)).toBe(1)
  expect(compareKeys(2, 1, false)).toBe(1)
  expect(compareKeys(2, 1, true)).toBe(-1)
})
