import { expect, it } from 'vitest'
import type { Comeback } from '../../../../src/data/databases/kcomebacks.ts'
import { Bag, compare, nameOf } from '../../../../src/data/scripts/kcomebacks/compare.ts'

const entry = (title: string, time = '18:00'): Comeback => ({
  ...{ date: '2024-02-1', time, artist: 'IU', title, types: [], links: [] },
})

it('takes each text as often as it is in the bag', () => {
  const bag = new Bag(['a', 'b', 'a'])
  expect(['a', 'a', 'a', 'b', 'b', 'c', 'c'].map((text) => bag.take(text))).toEqual([
    ...[true, true, false, true, false, false, false],
  ])
})

it('names an entry by its artist and title', () => {
  expect(nameOf(entry('a', '18:00'))).toBe(nameOf(entry('a', '19:00')))
  expect(nameOf({ artist: 'a', title: 'b c' })).not.toBe(nameOf({ artist: 'a b', title: 'c' }))
})

it.each<[what: string, before: readonly Comeback[], now: readonly Comeback[], counts: object]>([
  ['nothing', [], [], { added: 0, changed: 0, unchanged: 0 }],
  ['the same', [entry('a'), entry('b')], [entry('b'), entry('a')], { added: 0, changed: 0, unchanged: 2 }],
  ['a new entry', [entry('a')], [entry('a'), entry('b')], { added: 1, changed: 0, unchanged: 1 }],
  ['a removed entry', [entry('a'), entry('b')], [entry('a')], { added: 0, changed: 0, unchanged: 1 }],
  ['another time', [entry('a'), entry('b')], [entry('a', '19:00'), entry('b')], { added: 0, changed: 1, unchanged: 1 }],
  ['another title', [entry('a')], [entry('b')], { added: 1, changed: 0, unchanged: 0 }],
  ['a second equal entry', [entry('a')], [entry('a'), entry('a')], { added: 1, changed: 0, unchanged: 1 }],
  [
    'two changed entries of one name, of which one is new',
    [entry('a')],
    [entry('a', '19:00'), entry('a', '20:00')],
    { added: 1, changed: 1, unchanged: 0 },
  ],
])('counts the differences: %s', (_what, before, now, counts) => expect(compare(before, now)).toEqual(counts))
