import { optional, type Parameter, type Parameters } from '../../http/parameters.ts'
import { invalidParameter } from '../../util/errors.ts'
import { Type } from '../../util/schema.ts'
import { anyCase, checkRange, type Filter, type FilterRoute, filtersOf, type Point, pointParameter } from '../routes/filter.ts'
import { compareKeys, intersection, type Selection, type SortKey } from '../store/columns.ts'
import type { Column, Database } from '../store/database.ts'
import { parseDay } from '../store/dates.ts'
import { createFormat } from '../store/fields.ts'
import type { DatabaseDeclaration, DeclaredField } from './declaration.ts'
import type { DatabaseDefinition } from './definition.ts'

type Entry = Readonly<Record<string, unknown>>

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
const dayOf = (value: unknown): number | undefined => (typeof value === 'string' ? parseDay(value) : undefined)
const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)

/** How the values of each kind are searched. */
const columnOf: Readonly<Record<DeclaredField['kind'], (name: string) => Column<Entry>>> = {
  text: (name) => ({ text: (entry) => textOf(entry[name]) }),
  values: (name) => ({ values: (entry) => entry[name] as readonly string[] }),
  boolean: (name) => ({ values: (entry) => (entry[name] === null ? [] : [String(entry[name])]) }),
  link: (name) => ({ values: (entry) => (entry[name] === null ? [] : [textOf(entry[name])]) }),
  date: (name) => ({ number: (entry) => dayOf(entry[name]) }),
  number: (name) => ({ number: (entry) => numberOf(entry[name]) }),
}

/** By what entries are sorted; undefined: last. */
function sortKey({ kind }: DeclaredField, value: unknown): SortKey {
  if (kind === 'date') return dayOf(value)
  if (kind === 'boolean') return value === null ? undefined : Number(value)
  if (kind === 'number') return numberOf(value)
  return typeof value === 'string' ? value.toLowerCase() : undefined
}

const columnsOf = (fields: DatabaseDeclaration['fields']): Readonly<Record<string, Column<Entry>>> =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) => [
      [name, columnOf[field.kind](name)],
      ...(field.kind === 'text' && field.list ? [[`list ${name}`, { values: (entry: Entry) => [textOf(entry[name])] }]] : []),
      ...(field.kind === 'values' ? [] : [[`sort ${name}`, { sort: (entry: Entry) => sortKey(field, entry[name]) }]]),
    ]),
  )

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
    return filters.range(
      name,
      name,
      kind,
      `whose ${name} is in the range, inclusive. Those without one never match.`,
      (db, start, end) => db.number(name).between(start, end),
    )
  const values = kind === 'boolean' ? { choices: ['true', 'false'], example: 'true' } : { example: 'value' }
  return filters.value(name, { ...values, ...(list !== undefined && { list }) })
}

/** A parameter of the search, and what it selects. */
type Condition = readonly [string, Parameter<unknown>, (db: Database, value: unknown) => Selection]

function conditionsOf(name: string, { kind }: DeclaredField, { filter }: FilterRoute): readonly Condition[] {
  if (kind !== 'date' && kind !== 'number')
    return Object.entries(filter.parameters).map(([parameter, schema]) => [
      ...([parameter, schema] as const),
      (db, value) => filter.select(db, { [parameter]: value }),
    ])
  const point = (field: string, what: string, least: (number: number) => number, most: (number: number) => number): Condition => [
    ...([field, pointParameter[kind](`${what} ${name}`)] as const),
    (db, value) => db.number(name).between(least((value as Point).number), most((value as Point).number)),
  ]
  const same = (number: number) => number
  return [
    point(name, 'Exact value of', same, same),
    point(`${name}.from`, 'Minimum of', same, () => Number.POSITIVE_INFINITY),
    point(`${name}.to`, 'Maximum of', () => Number.NEGATIVE_INFINITY, same),
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

/** Several filters at once, in any order. */
function searchOf(fields: DatabaseDeclaration['fields'], routes: ReadonlyMap<string, FilterRoute>): Filter {
  const conditions = [...routes].flatMap(([name, route]) => conditionsOf(name, fields[name] as DeclaredField, route))
  const sortable = Object.keys(fields).filter((name) => fields[name]?.kind !== 'values')
  const sorting: Parameters = sortable.length === 0 ? {} : { sort: sortParameter(sortable), order: orderParameter }
  const all: Parameters = { ...Object.fromEntries(conditions), ...sorting }
  return {
    parameters: Object.fromEntries(Object.entries(all).map(([name, parameter]) => [name, optional(parameter)])),
    check(values) {
      const { sort, order } = values
      if (order !== undefined && sort === undefined) throw invalidParameter('Parameter "order" is given without "sort".')
      for (const name of routes.keys()) checkRange(values, `${name}.from`, `${name}.to`)
    },
    select(db, values) {
      const used = conditions.filter(([name]) => values[name] !== undefined)
      const selected = used.map(([name, , select]) => select(db, values[name])).reduce(intersection, db.all)
      const { sort, order } = values as { sort?: readonly string[]; order?: string }
      if (sort === undefined) return selected
      return selected.slice().sort(compareBy(sort, (name, id: number) => db.keys(`sort ${name}`)[id], order === 'desc'))
    },
  }
}

/** The definition of a database of the config file. */
export function defineDatabase(declaration: DatabaseDeclaration): DatabaseDefinition<Entry> {
  const { name, place, fields, order, visible, tag, description } = declaration
  const named = Object.entries(fields)
  const noun = `entries of ${name}`
  const searched = named.filter(([, { filter }]) => filter)
  const routes = new Map(searched.map(([field, declared]) => [field, filterOf(noun, field, declared)]))
  const sortKeyOf = (field: string, entry: Entry) => sortKey(fields[field] as DeclaredField, entry[field])
  return {
    ...{ name, place, noun, file: `${name}.json`, isPlain: true, tag: { name: tag, description } },
    format: createFormat<Entry>({ title: `Entry of ${name}`, fields }),
    columns: () => columnsOf(fields),
    ...(visible !== undefined && { isVisible: (entry: Entry) => entry[visible] !== false }),
    ...(order.length > 0 && { compare: compareBy(order, sortKeyOf) }),
    filters: [
      filtersOf(noun).all(),
      ...routes.values(),
      {
        path: 'search',
        summary: `Entries of ${name} by several fields`,
        description: `Entries that match every given parameter. ${anyCase}`,
        filter: searchOf(fields, routes),
      },
    ],
    lists: named
      .filter(([, { list }]) => list)
      .map(([field, { kind }]) => ({
        path: `filter/get${field}`,
        summary: `All values of ${field}`,
        column: kind === 'text' ? `list ${field}` : field,
      })),
  }
}
