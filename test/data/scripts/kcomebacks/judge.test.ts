import { describe, expect, it } from 'vitest'
import type { Comeback } from '../../../../src/data/databases/kcomebacks.ts'
import { nameOf } from '../../../../src/data/scripts/kcomebacks/compare.ts'
import { findLoss, judge } from '../../../../src/data/scripts/kcomebacks/judge.ts'
import type { MonthNow } from '../../../../src/data/scripts/kcomebacks/month.ts'
import { comeback } from '../../../helpers/data-service.ts'

const entry = (title: string, date = '2024-02-1'): Comeback => comeback({ title, date, types: [], links: [] })
const entries = (count: number, from = 0) => Array.from({ length: count }, (_, index) => entry(`t${from + index}`))
function objection(
  now: readonly Comeback[],
  stored: readonly Comeback[],
  { cancelled = [], elsewhere = [], before = [] }: Others = {},
) {
  const [others, had] = [elsewhere, before].map((list) => new Set(list.map(nameOf))) as [Set<string>, Set<string>]
  return findLoss({ entries: now, cancelled, hasTable: true, markdown: '' }, stored, others, had)?.reason
}
interface Others {
  readonly cancelled?: readonly Comeback[]
  readonly elsewhere?: readonly Comeback[]
  readonly before?: readonly Comeback[]
}

it.each<[what: string, now: readonly Comeback[], stored: readonly Comeback[], others?: Others]>([
  ['nothing is stored', [], []],
  ['nothing has changed', entries(3), entries(3)],
  ['one of two entries is lost', entries(1), entries(2)],
  ['a fifth of them is lost', entries(8), entries(10)],
  ['as many are new as are lost', entries(10, 5), entries(10)],
  ['they are struck out', [], entries(3), { cancelled: entries(3) }],
  ['they are in another month', [], entries(3), { elsewhere: entries(3) }],
  ['the new ones are in another month too, which had others before', entries(2, 9), entries(2), { elsewhere: entries(9, 9) }],
  ['they had no day', [], [entry('a', '2024-02-TBA'), entry('b', '2024-02-?')]],
])('accepts a page if %s', (_what, now, stored, others) => expect(objection(now, stored, others)).toBeUndefined())

it.each<[what: string, now: readonly Comeback[], stored: readonly Comeback[], lost: string, others?: Others]>([
  ['its only entry is lost', [], entries(1), '2024-02-1 IU - t0'],
  ['two of three are lost', entries(1), entries(3), '2024-02-1 IU - t1, 2024-02-1 IU - t2'],
  ['more than a fifth is lost', entries(7), entries(10), '2024-02-1 IU - t7, 2024-02-1 IU - t8, 2024-02-1 IU - t9'],
  [
    'one of two equal entries and others are lost',
    entries(1),
    [...entries(1), ...entries(2)],
    '2024-02-1 IU - t0, 2024-02-1 IU - t1',
  ],
  [
    'the new ones are those of another month',
    entries(2, 9),
    entries(2),
    '2024-02-1 IU - t0, 2024-02-1 IU - t1',
    { before: entries(9, 9) },
  ],
  ['it is emptied, and one is struck out', [], entries(2), '2024-02-1 IU - t1', { cancelled: entries(1) }],
  ['it is emptied, and one had no day', [], [entry('a', '2024-02-TBA'), entry('b')], '2024-02-1 IU - b'],
  [
    'exactly ten are lost',
    [],
    entries(10),
    entries(10)
      .map(({ title }) => `2024-02-1 IU - ${title}`)
      .join(', '),
  ],
  [
    'more are lost than are named',
    [],
    entries(13),
    `${entries(10)
      .map(({ title }) => `2024-02-1 IU - ${title}`)
      .join(', ')} and 3 more`,
  ],
])('refuses a page if %s', (_what, now, stored, lost, others) =>
  expect(objection(now, stored, others)).toBe(
    `the page has ${now.length} entries, but ${stored.length} are stored; missing: ${lost}`,
  ),
)

it.each<[what: string, markdown: string, isPlausible: boolean]>([
  ['nothing of them', '# OST\n|1st|18:00|Someone|else', true],
  ['one of them', '* IU: t8', true],
  ['the artist, and parts of a title', '* IU: t88, t9x', true],
  ['the artist and the titles in lines of their own', 'IU\rt8\rIU\rt9', true],
  ['half of them in a list', '* IU: *t8*\n* [t9](/x) (IU)', false],
  ['half of them in a table of another kind', 'IU|t7\n-|-\nIU|t8', false],
])('takes entries for gone unless the page still names them: %s', (_what, markdown, isPlausible) => {
  const now = { entries: entries(6), cancelled: [], hasTable: true, markdown }
  expect(findLoss(now, entries(10), new Set(), new Set())?.isPlausible).toBe(isPlausible)
  expect(findLoss({ ...now, hasTable: false }, entries(10), new Set(), new Set())?.isPlausible).toBe(false)
})

it('finds an entry that is named in other letter case, with other punctuation', () => {
  const now = { entries: [], cancelled: [], hasTable: true, markdown: '* iu **BLUEMING** -- (Live)' }
  expect(findLoss(now, [entry('Blueming, live')], new Set(), new Set())?.isPlausible).toBe(false)
})

it.each([
  [2, 1, true],
  [2, 2, false],
])('takes entries for gone if another month had %i of those of the page and still has %i: %s', (had, has, isPlausible) => {
  const copied = entries(had, 20)
  const names = copied.map(nameOf)
  const now = { entries: [...entries(6), ...copied], cancelled: [], hasTable: true, markdown: '' }
  expect(findLoss(now, entries(10), new Set(names.slice(0, has)), new Set(names))?.isPlausible).toBe(isPlausible)
})

it.each([
  [50, false],
  [49, true],
])('looks only for the first hundred of the missing entries: %i are named', (named, isPlausible) => {
  const markdown = entries(named, 100 - named)
    .map(({ title }) => `* IU: ${title}\n`)
    .join('')
  const now = { entries: [], cancelled: [], hasTable: true, markdown }
  expect(findLoss(now, entries(150), new Set(), new Set())?.isPlausible).toBe(isPlausible)
})

describe('judge', () => {
  const [jan, feb, mar, unlinked] = ['2024-01', '2024-02', '2024-03', '2024-04'] as const
  /** Entries with a day: `a.b` is one of the artist a on the 1st, and one of b on the 3rd. */
  const rows = (month: string, artists: string) =>
    [...artists].flatMap((artist, index) => (artist === '.' ? [] : { ...entry('t', `${month}-${index + 1}`), artist }))
  type Pages = Readonly<Record<string, string>>
  const listOf = (pages: Pages) => new Map(Object.entries(pages).map(([key, artists]) => [key, rows(key, artists)]))
  const judged = (stored: Pages, now: Pages) => {
    const pages = [...listOf(now)].map(([key, list]) => [key, { entries: list, cancelled: [], hasTable: true, markdown: '' }])
    const { objections, refused } = judge({
      stored: listOf(stored),
      pages: new Map(pages as [string, MonthNow][]),
      pageOf: (key) => (key === unlinked ? undefined : `page of ${key}`),
      isAccepted: () => false,
    })
    expect([...objections.keys()]).toEqual([...refused])
    return Object.fromEntries([...objections].map(([key, { reason, isPlausible }]) => [key, [reason, isPlausible]]))
  }

  it.each<[what: string, stored: Pages, now: Pages]>([
    ['a fifth of its rows are in another page', { [jan]: 'ab' }, { [feb]: 'abcdefghij' }],
    ['one row is in another page', { [jan]: 'a' }, { [feb]: 'a' }],
    ['it has half of the rows that another page had', { [jan]: 'abcd' }, { [jan]: '..cd', [feb]: 'ab' }],
    ['half of its rows were in another page', { [jan]: 'ab' }, { [jan]: '', [feb]: 'abcd' }],
    ['it has kept half of its rows', { [jan]: 'abc', [feb]: '...de' }, { [jan]: '', [feb]: 'abcd' }],
    ['it has the rows of another month on other days', { [jan]: 'abcd' }, { [jan]: '', [feb]: '.abcd' }],
  ])('accepts a page if %s', (_what, stored, now) => expect(judged(stored, now)).toEqual({}))

  it('refuses a page of which more than a fifth is in another page', () => {
    const reason = '2 of the 9 dated entries of the page are also in page of 2024-01'
    expect(judged({ [jan]: 'ab' }, { [feb]: 'abcdefghi' })).toEqual({ [feb]: [reason, false] })
  })

  it.each([
    [4, [feb]],
    [5, []],
  ])('takes rows of %i months for those of another page: %j', (count, refused) => {
    const months = Array.from({ length: count }, (_, index) => [`2023-0${index + 1}`, 'ab'])
    expect(Object.keys(judged(Object.fromEntries(months), { [feb]: 'ab' }))).toEqual(refused)
  })

  it('refuses a page that has most of the rows that another page had', () => {
    const reason = '3 of the 5 dated entries of the page were in page of 2024-01'
    expect(judged({ [jan]: 'abc' }, { [jan]: '', [feb]: 'abcde' })).toEqual({
      [feb]: [reason, true],
      [jan]: [expect.stringContaining('the page has 0 entries, but 3 are stored'), true],
    })
  })

  it('takes the rows of a month without a page for moved, though its entries are kept', () => {
    const reason = '3 of the 3 dated entries of the page were in 2024-04'
    expect(judged({ [unlinked]: 'abc' }, { [feb]: 'abc' })).toEqual({ [feb]: [reason, true] })
  })

  it('refuses every page whose rows have moved to a page that is refused, one after the other', () => {
    const stored = { [jan]: 'abcd', [feb]: 'efgh', [mar]: 'ijkl' }
    const objections = judged(stored, { [jan]: '', [feb]: '.abcd', [mar]: '.efgh' })
    expect(Object.keys(objections)).toEqual([mar, feb, jan])
  })

  it('refuses the rest of a chain of moves that is longer than any that people make', () => {
    const keys = Array.from({ length: 12 }, (_, index) => `2024-${String(index + 1).padStart(2, '0')}`)
    const artistsOf = (index: number) => String.fromCodePoint(...[0, 1, 2, 3].map((offset) => 0x3400 + 4 * index + offset))
    const stored = Object.fromEntries(keys.map((key, index) => [key, artistsOf(index)]))
    const now = Object.fromEntries(keys.map((key, index) => [key, index === 0 ? '' : `.${artistsOf(index - 1)}`]))
    // The other page has nothing to do with them.
    const objections = judged({ ...stored, '2023-06': 'xy' }, { ...now, '2023-06': 'xyz' })
    expect(Object.keys(objections).toSorted()).toEqual(keys)
    const depend = ['its entries depend on those of too many pages that are refused', false]
    expect(Object.values(objections).filter((objection) => objection[0] === depend[0])).toEqual(Array(4).fill(depend))
  })

  it('accepts pages that exchange rows', () => {
    expect(judged({ [jan]: 'abcdef', [feb]: 'ghijkl' }, { [jan]: 'abcjkl', [feb]: 'ghidef' })).toEqual({})
  })
})
