import { beforeEach, describe, expect, it } from 'vitest'
import { filtersOf, isBetween, select } from '../../../src/data/routes/filter.ts'
import { valueList } from '../../../src/data/routes/replies.ts'
import { Database, fold } from '../../../src/data/store/database.ts'

const filters = filtersOf('toys')
const databaseOf = (entries: readonly object[], content = {}) =>
  new Database({ entries, lastUpdate: 0, rejected: [], warnings: [] }, content)
const find = (texts: readonly string[], text: string) =>
  select(databaseOf(texts.map((name) => ({ name }))), filters.text('name', 'a').filter, { name: text })

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
  ['\n', []],
  ['x', []],
])('finds the texts that contain %j', (text, ids) => {
  expect(find(['ab', 'bAc', '', 'cCcc'], text)).toEqual(ids)
})

const lists = [['b', 'a', 'b'], ['A'], ['', 'a'], []]
const having = (field: string, text: string, ignoreCase?: true) => {
  const { filter } = filters.value('name', { field, example: 'a', ...(ignoreCase && { ignoreCase }) })
  const entries = lists.map((tags) => ({ tags, sizes: Object.fromEntries(tags.map((tag) => [tag, 1])), first: tags[0] ?? null }))
  return select(databaseOf(entries), filter, { name: text })
}

it('finds whole values, of an object its keys', () => {
  for (const field of ['tags', 'sizes']) {
    expect(having(field, 'b')).toEqual([0])
    expect(having(field, 'a')).toEqual([0, 2])
    expect(having(field, '')).toEqual([2])
    expect(having(field, 'c')).toEqual([])
    expect(having(field, 'A', true)).toEqual([0, 1, 2])
  }
  expect(having('first', 'b')).toEqual([0])
  expect(having('first', 'null')).toEqual([])
})

it('lists the distinct values of a field by code point, without empty ones', () => {
  const list = (...values: readonly unknown[]) => {
    const reply = valueList(databaseOf(values.map((value) => ({ value }))), 'value')
    return JSON.parse(String(reply.body))
  }
  expect(list(['b', 'a', 'b'], ['A'], ['', 'a'], [])).toEqual({ results: ['A', 'a', 'b'], total_results: 3 })
  expect(list('\u{1f380}', '\uffee', 'z', '가').results).toEqual(['z', '가', '\uffee', '\u{1f380}'])
  expect(list(true, null, { Java: 1 }).results).toEqual(['Java', 'true'])
})

it('finds numbers and days in a range, inclusive', () => {
  const db = databaseOf([1, null, '1970-01-04', 2, '1970-01-TBA'].map((value) => ({ value })))
  const between = (min: number, max: number) => db.all.filter(isBetween(db.numbers('value'), min, max))
  expect(db.numbers('value')).toEqual([1, undefined, 3, 2, undefined])
  expect(between(1, 2)).toEqual([0, 3])
  expect(between(2, 3)).toEqual([2, 3])
  expect(between(-10, 10)).toEqual([0, 2, 3])
  expect(between(4, 5)).toEqual([])
})

it('serves visible entries in their order, and pages of them', () => {
  const entries = [3, 1, 2, 0].map((size) => ({ size }))
  type Toy = (typeof entries)[number]
  const db = databaseOf(entries, { isVisible: ({ size }: Toy) => size > 0, compare: (a: Toy, b: Toy) => a.size - b.size })
  expect(db.all).toEqual([0, 1, 2])
  expect(db.page(db.all, 1, 5)).toBe('{"results":[{"size":2},{"size":3}],"count":2}')
  expect(db.page([], 0, 5)).toBe('{"results":[],"count":0}')
})

it('computes a column once', () => {
  const db = databaseOf([{ size: 1 }, { size: 2 }])
  const column = db.column('double', (entry) => 2 * (entry as { size: number }).size)
  expect(column).toEqual([2, 4])
  expect(db.column('double', () => 0)).toBe(column)
  const columns = ['size', 'name'].flatMap((field) => [db.texts(field), db.values(field), db.numbers(field)])
  expect(new Set([column, ...columns]).size).toBe(7)
  expect(db.texts('size')).toBe(columns[0])
})

it('says when its content last changed', () => {
  const { snapshot } = databaseOf([])
  expect([new Database(snapshot, {}).modified, new Database(snapshot, {}, 5).modified]).toEqual([0, 5])
})

describe('the cache of replies', () => {
  const half = 8 * 1024 * 1024
  const keyLength = 2
  let made: string[]
  let db: ReturnType<typeof databaseOf>
  /** Asks for a reply that takes `size` bytes of the cache. */
  const get = (key: string, size: number, isCompressible = false) =>
    db.reply(key, () => {
      made.push(key)
      const bodySize = Math.floor((size - 200 - 2 * keyLength) / (isCompressible ? 1.5 : 1))
      return { body: Buffer.alloc(bodySize), headers: {}, isCompressible }
    })
  beforeEach(() => {
    made = []
    db = databaseOf([])
  })

  it('returns a reply that was made before', () => {
    const reply = get('/a', 300)
    expect(get('/a', 400)).toBe(reply)
    expect(get('/b', 300)).not.toBe(reply)
    expect(made).toEqual(['/a', '/b'])
  })

  it.each([
    [half, false, true],
    [half + 1, false, false],
    [half, true, true],
    [half + 2, true, false],
  ])('keeps one of %i bytes, compressible %s: %s', (size, isCompressible, isKept) => {
    for (let count = 0; count < 2; count++) get('/a', size, isCompressible)
    expect(made).toHaveLength(isKept ? 1 : 2)
  })

  it('drops the reply that was not used for the longest time when it has 16 MiB', () => {
    for (const key of ['/a', '/b', '/a', '/c', '/a', '/b']) get(key, half)
    expect(made).toEqual(['/a', '/b', '/c', '/b'])
  })
})
