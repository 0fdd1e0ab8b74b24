import { optional, type Parameter, type Parameters } from '../../http/parameters.ts'
import { invalidParameter } from '../../util/errors.ts'
import { Type } from '../../util/schema.ts'
import {
  anyCase,
  checkRange,
  type Filter,
  type FilterRoute,
  filtersOf,
  isBetween,
  type Matches,
  pointParameter,
  toNumber,
} from '../routes/filter.ts'
import { listRoute } from '../routes/replies.ts'
import { type Database, fold } from '../store/database.ts'
import { parseDay } from '../store/dates.ts'
import { createFormat } from '../store/fields.ts'
import type { DatabaseDeclaration, DeclaredField } from './declaration.ts'
import type { DatabaseDefinition } from './definition.ts'

type Entry = Readonly<Record<string, unknown>>

/** By what entries are sorted; undefined: last, in either direction. */
type SortKey = string | number | undefined

function sortKey({ kind }: DeclaredField, value: unknown): SortKey {
  if (value === '') return undefined
  if (typeof value === 'string') return kind === 'date' ? parseDay(value) : fold(value)
  return value === null ? undefined : Number(value)
}

function compareKeys(a: SortKey, b: SortKey, isDescending: boolean): number {
  if (a === b) return 0
  if (a === undefined || b === undefined) return a === undefined ? 1 : -1
  return a < b === isDescending ? 1 : -1
}

/** Compares by several keys, such as `-read` and `title`. @param keyOf returns the key of an item by the name of its field */
function compareBy<T>(order: readonly string[], keyOf: (name: string, item: T) => SortKey, isReversed = false) {
  const keys = order.map((key) => ({ name: key.replace(/^-/, ''), isDescending: key.startsWith('-') !== isReversed }))
  return (a: T, b: T): number => {
    for (const { name, isDescending } of keys) {
      const difference = compareKeys(keyOf(name, a), keyOf(name, b), isDescending)
      if (difference !== 0) return difference
    }
    return 0
  }
}

function filterOf(noun: string, name: string, { kind, list: isListed }: DeclaredField): FilterRoute {
  const filters = filtersOf(noun)
  const list = isListed ? `get${name}` : undefined
  if (kind === 'text') return filters.text(name, 'text', [name], list)
  if (kind === 'date' || kind === 'number')
    return filters.range(name, name, kind, `whose ${name} is in the range, inclusive. Those without one never match.`, (db) =>
      db.numbers(name),
    )
  const values = kind === 'boolean' ? { choices: ['true', 'false'], example: 'true' } : { example: 'value' }
  return filters.value(name, { ...values, ...(list !== undefined && { list }) })
}

/** A parameter of the search, and what it selects. */
type Condition = readonly [string, Parameter<unknown>, (db: Database, value: unknown) => Matches]

function conditionsOf(name: string, { kind }: DeclaredField, { filter }: FilterRoute): readonly Condition[] {
  if (kind !== 'date' && kind !== 'number')
    return Object.entries(filter.parameters).map(([parameter, schema]) => [
      ...([parameter, schema] as const),
      (db, value) => filter.matches(db, { [parameter]: value }),
    ])
  const point = (suffix: string, what: string, rangeOf: (number: number) => readonly [number, number]): Condition => [
    ...([name + suffix, pointParameter[kind](`${what} ${name}`)] as const),
    (db, value) => isBetween(db.numbers(name), ...rangeOf(toNumber(value))),
  ]
  return [
    point('', 'Exact value of', (number) => [number, number]),
    point('.from', 'Minimum of', (number) => [number, Number.POSITIVE_INFINITY]),
    point('.to', 'Maximum of', (number) => [Number.NEGATIVE_INFINITY, number]),
  ]
}

const maxSortKeys = 10

/** `-read,title` */
function sortParameter(sortable: readonly string[]): Parameter<readonly string[]> {
  const expected = `up to ${maxSortKeys} of ${sortable.join(', ')}, separated by commas, each with a leading "-" for descending order`
  return {
    expected,
    parse(text) {
      const keys = text.split(',', maxSortKeys + 1)
      return keys.length <= maxSortKeys && keys.every((key) => sortable.includes(key.replace(/^-/, ''))) ? keys : undefined
    },
    schema: Type.String({ description: `Fields to sort by: ${expected}`, examples: sortable.slice(0, 1) }),
  }
}

const orderParameter: Parameter<string> = {
  expected: 'asc or desc',
  parse: (text) => (text === 'asc' || text === 'desc' ? text : undefined),
  schema: Type.String({ enum: ['asc', 'desc'], description: 'Direction of `sort`; desc reverses it', examples: ['asc'] }),
}

function searchOf(
  fields: DatabaseDeclaration['fields'],
  routes: ReadonlyMap<string, FilterRoute>,
  keyOf: (name: string, entry: Entry) => SortKey,
): Filter {
  const conditions = [...routes].flatMap(([name, route]) => conditionsOf(name, fields[name] as DeclaredField, route))
  const sortable = Object.keys(fields).filter((name) => fields[name]?.kind !== 'values')
  const sorting: Parameters = sortable.length === 0 ? {} : { sort: sortParameter(sortable), order: orderParameter }
  const all: Parameters = { ...Object.fromEntries(conditions), ...sorting }
  return {
    parameters: Object.fromEntries(Object.entries(all).map(([name, parameter]) => [name, optional(parameter)])),
    check(values) {
      const { sort, order } = values
      if (order !== undefined && sort === undefined) throw invalidParameter('Parameter "order" is given without "sort".')
      for (const name of routes.keys()) checkRange(values, `${name}.from`, `${name}.to`, fields[name]?.kind)
    },
    matches(db, values) {
      const used = conditions.filter(([name]) => values[name] !== undefined)
      const matches = used.map(([name, , matchesOf]) => matchesOf(db, values[name]))
      return (id) => matches.every((isMatch) => isMatch(id))
    },
    compare(db, values) {
      const { sort, order } = values as { sort?: readonly string[]; order?: string }
      if (sort === undefined) return undefined
      const keysOf = (name: string) => (db as Database<Entry>).column(`keys of ${name}`, (entry) => keyOf(name, entry))
      const columns = new Map(sort.map((key) => key.replace(/^-/, '')).map((name) => [name, keysOf(name)]))
      return compareBy(sort, (name, id: number) => columns.get(name)?.[id], order === 'desc')
    },
  }
}

export function defineDatabase(declaration: DatabaseDeclaration): DatabaseDefinition<Entry> {
  const { name, place, fields, order, visible, tag, description } = declaration
  const named = Object.entries(fields)
  const noun = `entries of ${name}`
  const listed = `values of all ${visible === undefined ? '' : 'visible '}${noun}`
  const searched = named.filter(([, { filter }]) => filter)
  const routes = new Map(searched.map(([field, declared]) => [field, filterOf(noun, field, declared)]))
  const sortKeyOf = (field: string, entry: Entry) => sortKey(fields[field] as DeclaredField, entry[field])
  return {
    ...{ name, place, noun, isPlain: true, tag: { name: tag, description } },
    format: createFormat<Entry>({ title: `Entry of ${name}`, fields }),
    ...(visible !== undefined && { isVisible: (entry: Entry) => entry[visible] !== false }),
    ...(order.length > 0 && { compare: compareBy(order, sortKeyOf) }),
    filters: [
      filtersOf(noun).all(),
      ...routes.values(),
      {
        path: 'search',
        summary: `Entries of ${name} by several fields`,
        description: `Entries that match every given parameter. ${anyCase}`,
        filter: searchOf(fields, routes, sortKeyOf),
      },
    ],
    replies: named
      .filter(([, { list }]) => list)
      .map(([field]) => listRoute(`filter/get${field}`, `All values of ${field}`, field, listed)),
  }
}
