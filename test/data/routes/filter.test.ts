import { expect, it } from 'vitest'
import {
  checkRange,
  everything,
  type FilterRoute,
  filtersOf,
  pointParameter,
  select,
  toNumber,
} from '../../../src/data/routes/filter.ts'
import { Database } from '../../../src/data/store/database.ts'

const filters = filtersOf('toys')
const toys = [
  { name: 'Ball', maker: 'Acme', price: 5, places: ['House', 'Garden'] },
  { name: 'Kite', maker: 'Ball & Sons', price: 7 },
  { name: 'Doll', maker: 'Acme', price: undefined },
]
const snapshot = { lastUpdate: 0, rejected: [], warnings: [] }
const database = new Database({ ...snapshot, entries: toys }, {})
const names = ({ filter }: FilterRoute, values: object) => select(database, filter, values as never).map((id) => toys[id]?.name)

it('selects every entry', () => {
  expect(filters.all()).toEqual({
    path: 'filter/getall',
    summary: 'All toys',
    description: 'One page of all toys.',
    filter: everything,
  })
  expect(filters.all(', by name').description).toBe('One page of all toys, by name.')
  expect(everything.parameters).toEqual({})
  expect(names(filters.all(), {})).toEqual(['Ball', 'Kite', 'Doll'])
})

it('selects by a text in one or more columns', () => {
  const one = filters.text('name', 'Kite')
  expect(one).toMatchObject({
    path: 'filter/name',
    summary: 'Toys by name',
    description: 'Toys whose name contains the given text. Case-insensitive; spaces are significant.',
    filter: { parameters: { name: { schema: { description: 'Text to find in the name', examples: ['Kite'] } } } },
  })
  expect(names(one, { name: 'ball' })).toEqual(['Ball'])
  const either = filters.text('search', 'Ball', ['name', 'maker'], 'makers')
  expect(either).toMatchObject({
    path: 'filter/search',
    summary: 'Toys by name or maker',
    description:
      'Toys whose name or maker contains the given text. Case-insensitive; spaces are significant. `filter/makers` lists the values.',
    filter: { parameters: { search: { schema: { description: 'Text to find in the name or maker' } } } },
  })
  expect(names(either, { search: 'ball' })).toEqual(['Ball', 'Kite'])
})

it('selects by a whole value', () => {
  const company = filters.value('company', { field: 'maker', example: 'Acme' })
  expect(company).toMatchObject({
    path: 'filter/company',
    summary: 'Toys by company',
    description: 'Toys with this company.',
    filter: { parameters: { company: { schema: { description: 'The company, exactly', examples: ['Acme'] } } } },
  })
  expect(company.filter.parameters.company?.parse('any text')).toBe('any text')
  expect(names(company, { company: 'Acme' })).toEqual(['Ball', 'Doll'])
  expect(names(company, { company: 'acme' })).toEqual([])
  const title = filters.value('title', {
    ...{ field: 'name', example: 'Ball', choices: ['Ball', 'Kite'], ignoreCase: true, list: 'titles' },
  })
  expect(title).toMatchObject({
    summary: 'Toys by title',
    description: 'Toys with this title. Case-insensitive; spaces are significant. `filter/titles` lists the values.',
    filter: { parameters: { title: { schema: { description: 'The title, exactly', enum: ['Ball', 'Kite'] } } } },
  })
  expect(title.filter.parameters.title?.parse('Doll')).toBeUndefined()
  expect(title.filter.parameters.title?.parse('Kite')).toBe('Kite')
  expect(names(title, { title: 'kITE' })).toEqual(['Kite'])
  const place = filters.value('places', { example: 'House', ignoreCase: true })
  expect(names(place, { places: 'garden' })).toEqual(['Ball'])
})

it('has the order of the database, or of the filter', () => {
  const matches = () => () => true
  const many = new Database({ ...snapshot, entries: Array.from({ length: 11 }, (_, index) => ({ index })) }, {})
  for (const compare of [undefined, () => undefined])
    expect(select(many, { matches, ...(compare && { compare }) }, {})).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  expect(select(database, { matches, compare: () => (a, b) => b - a }, {})).toEqual([2, 1, 0])
})

it('selects by a range', () => {
  const range = filters.range('price', 'price', 'number', 'from start to end.', (db) => db.numbers('price'))
  expect(range).toMatchObject({ path: 'filter/price', summary: 'Toys by price', description: 'Toys from start to end.' })
  const { parameters } = range.filter
  expect(parameters).toMatchObject({
    start: { schema: { type: 'number', description: 'Smallest number', examples: [1] } },
    end: { schema: { type: 'number', description: 'Largest number, inclusive', examples: [10] } },
  })
  const [start, end] = [parameters.start?.parse('6'), parameters.end?.parse('7')]
  expect(names(range, { start, end })).toEqual(['Kite'])
  expect(names(range, { start: '5', end: '5' })).toEqual(['Ball'])
  expect(() => range.filter.check?.({ start, end })).not.toThrow()
  expect(() => range.filter.check?.({ start: end, end: start })).toThrow(
    'Parameter "start" is "7", which is more than "end" ("6"); expected one that is not more than it.',
  )
  const days = filters.range('day', 'day', 'date', 'of these days.', () => [])
  const [first, last] = [days.filter.parameters.start?.parse('2026-01-31'), days.filter.parameters.end?.parse('2026-2-1')]
  expect(days.filter.parameters).toMatchObject({
    start: { schema: { type: 'string', examples: ['2019-01-01'] } },
    end: { schema: { type: 'string', examples: ['2026-12-31'] } },
  })
  expect(() => days.filter.check?.({ start: last, end: first })).toThrow(
    'Parameter "start" is "2026-2-1", which is after "end" ("2026-01-31"); expected one that is not after it.',
  )
})

it('compares the ends of a range only if it has both, and accepts one value', () => {
  const [one, two] = ['1', '2.0']
  for (const values of [{}, { from: two }, { to: one }, { from: one, to: two }, { from: one, to: one }]) {
    expect(() => checkRange(values, 'from', 'to')).not.toThrow()
  }
  expect(() => checkRange({ from: two, to: one }, 'from', 'to')).toThrow(
    expect.objectContaining({
      code: 'INVALID_PARAMETER',
      message: 'Parameter "from" is "2.0", which is after "to" ("1"); expected one that is not after it.',
    }),
  )
})

it('reads dates', () => {
  const date = pointParameter.date('A day')
  expect(date).toMatchObject({
    expected: 'a calendar date of the form YYYY-MM-DD',
    schema: { description: 'A day: YYYY-MM-DD; month and day may have one digit', examples: ['2026-01-31'] },
  })
  expect(date.schema).toHaveProperty('pattern', '^\\d{4}-\\d{1,2}-\\d{1,2}$')
  expect(date.parse('1970-1-2')).toBe('1970-1-2')
  expect(toNumber('1970-1-2')).toBe(1)
  expect(date.parse('1970-02-30')).toBeUndefined()
})

it.each([
  ['0', 0],
  ['-12.50', -12.5],
  [String(0.1 + 0.2), 0.1 + 0.2],
  [String(-Math.PI * 1e-6), -Math.PI * 1e-6],
  ['999999999999999900000', 999999999999999900000],
  ['9999999999999999000000', undefined],
  ['0.12345678901234567890123', undefined],
  ['1.', undefined],
  ['.5', undefined],
  ['1.5x', undefined],
  ['x1', undefined],
  ['--1', undefined],
  ['1e3', undefined],
  ['', undefined],
])('reads the number %j as %s', (text, number) => {
  const parameter = pointParameter.number('A number')
  expect(parameter).toMatchObject({ expected: 'a decimal number', schema: { description: 'A number', examples: [1] } })
  expect(parameter.parse(text)).toBe(number === undefined ? undefined : text)
  if (number !== undefined) expect(toNumber(text)).toBe(number)
})
