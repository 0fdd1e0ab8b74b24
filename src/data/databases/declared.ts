import { choiceParameter, optional, type Parameter, type Parameters, textParameter } from '../../http/parameters.ts'
import { invalidParameter } from '../../util/errors.ts'
import { Type } from '../../util/schema.ts'
import {
  anyCase,
  byDates,
  byNumbers,
  byText,
  dateParameter,
  everything,
  type Filter,
  type GivenDate,
  numberParameter,
} from '../routes/filter.ts'
import { compareKeys, intersection, type Selection, type SortKey } from '../store/columns.ts'
import type { Column, Database } from '../store/database.ts'
import { parseDay } from '../store/dates.ts'
import { createFormat, withoutNulls } from '../store/fields.ts'
import type { DatabaseDeclaration, DeclaredField } from './declaration.ts'
import type { DatabaseDefinition, FilterRoute } from './definition.ts'

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

function compareBy(order: readonly string[], fields: DatabaseDeclaration['fields']) {
  const keys = order.map((key) => ({ name: key.replace(/^-/, ''), isDescending: key.startsWith('-') }))
  return (a: Entry, b: Entry): number => {
    for (const { name, isDescending } of keys) {
      const field = fields[name] as DeclaredField
      const difference = compareKeys(sortKey(field, a[name]), sortKey(field, b[name]), isDescending)
      if (difference !== 0) return difference
    }
    return 0
  }
}

function filterOf(noun: string, name: string, { kind, list }: DeclaredField): FilterRoute {
  const route = { path: `filter/${name}`, summary: `${noun} by ${name}` }
  const lists = list ? ` \`filter/get${name}\` lists the values.` : ''
  switch (kind) {
    case 'text':
      return {
        ...{ ...route, description: `Entries whose ${name} contains the given text. ${anyCase}${lists}` },
        filter: byText(name, `Text to find in ${name}`, 'text', (db, text) => db.text(name).find(text)),
      }
    case 'date':
      return {
        ...{
          ...route,
          description: 'Entries whose date is in the range, inclusive. Entries without a calendar date never match.',
        },
        filter: byDates((db, start, end) => db.number(name).between(start, end)),
      }
    case 'number':
      return {
        ...{ ...route, description: 'Entries whose number is in the range, inclusive.' },
        filter: byNumbers((db, start, end) => db.number(name).between(start, end)),
      }
    default:
      return {
        ...{ ...route, description: `Entries with exactly this value.${lists}` },
        filter: byText(
          name,
          'The value, exactly',
          kind === 'boolean' ? 'true' : 'value',
          (db, text) => db.values(name).having(text),
          kind === 'boolean' ? ['true', 'false'] : undefined,
        ),
      }
  }
}

/** The number of a parameter for a number or a date. */
const numberGiven = (value: unknown): number => (typeof value === 'number' ? value : (value as GivenDate).day)

/** What one parameter of the search selects. */
type Condition = (db: Database, value: unknown) => Selection

/** The parameters of the search for one field, with what each of them selects. */
function conditionsOf(name: string, { kind }: DeclaredField): readonly (readonly [string, Parameter<unknown>, Condition])[] {
  const description = (what: string) => ({ description: `${what} ${name}` })
  if (kind === 'text')
    return [
      [
        name,
        textParameter({ ...description('Text to find in'), example: 'text' }),
        (db, text) => db.text(name).find(String(text)),
      ],
    ]
  if (kind !== 'date' && kind !== 'number')
    return [
      [
        name,
        kind === 'boolean'
          ? choiceParameter({ ...description('Exact value of'), choices: ['true', 'false'], example: 'true' })
          : textParameter({ ...description('Exact value of'), example: 'value' }),
        (db, text) => db.values(name).having(String(text)),
      ],
    ]
  const parameter = (what: string): Parameter<unknown> =>
    kind === 'date'
      ? dateParameter({ ...description(what), example: '2026-01-31' })
      : numberParameter({ ...description(what), example: 1 })
  return [
    [name, parameter('Exact value of'), (db, value) => db.number(name).between(numberGiven(value), numberGiven(value))],
    [
      `${name}.from`,
      parameter('Minimum of'),
      (db, value) => db.number(name).between(numberGiven(value), Number.POSITIVE_INFINITY),
    ],
    [`${name}.to`, parameter('Maximum of'), (db, value) => db.number(name).between(Number.NEGATIVE_INFINITY, numberGiven(value))],
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

const written = (value: unknown): string =>
  typeof value === 'object' && value !== null && 'text' in value ? String(value.text) : String(value)

/** Several filters at once, in any order. */
function searchOf(fields: DatabaseDeclaration['fields']): Filter {
  const searched = Object.entries(fields).filter(([, { filter }]) => filter)
  const conditions = searched.flatMap(([name, field]) => conditionsOf(name, field))
  const sortable = Object.keys(fields).filter((name) => fields[name]?.kind !== 'values')
  const sorting: Parameters = sortable.length === 0 ? {} : { sort: sortParameter(sortable), order: orderParameter }
  const all: Parameters = { ...Object.fromEntries(conditions), ...sorting }
  return {
    parameters: Object.fromEntries(Object.entries(all).map(([name, parameter]) => [name, optional(parameter)])),
    createQuery(values) {
      const given = Object.entries(values).filter(([, value]) => value !== undefined)
      const { sort, order } = values as { sort?: readonly string[]; order?: string }
      if (order !== undefined && sort === undefined) throw invalidParameter('Parameter "order" is given without "sort".')
      for (const [name] of searched) {
        const [from, to] = [values[`${name}.from`], values[`${name}.to`]]
        if (from !== undefined && to !== undefined && numberGiven(from) > numberGiven(to))
          throw invalidParameter(
            `Parameter "${name}.from" is "${written(from)}", which is after "${name}.to" ("${written(to)}"); expected a range.`,
          )
      }
      return {
        given: Object.fromEntries(given.map(([name, value]) => [name, written(value)])),
        select(db) {
          const used = conditions.filter(([name]) => values[name] !== undefined)
          const selections = used.map(([name, , select]) => select(db, values[name]))
          const selected = selections.reduce(intersection, db.all)
          if (sort === undefined) return selected
          const keys = sort.map((key) => ({
            column: db.order(`sort ${key.replace(/^-/, '')}`),
            isDescending: key.startsWith('-') !== (order === 'desc'),
          }))
          return selected.slice().sort((a, b) => {
            for (const { column, isDescending } of keys) {
              const difference = column.compare(a, b, isDescending)
              if (difference !== 0) return difference
            }
            return a - b
          })
        },
      }
    },
  }
}

/** The definition of a database of the config file. */
export function defineDatabase(declaration: DatabaseDeclaration): DatabaseDefinition<Entry> {
  const { name, place, fields, order, visible, tag, description } = declaration
  const named = Object.entries(fields)
  return {
    ...{ name, place, noun: `entries of ${name}`, file: `${name}.json`, isPlain: true, tag: { name: tag, description } },
    format: createFormat<Entry>({
      ...{ title: `Entry of ${name}`, fields },
      normalise: (element) => {
        const lists = named.filter(([field, { kind }]) => kind === 'values' && Object.hasOwn(element, field))
        return { ...element, ...Object.fromEntries(lists.map(([field]) => [field, withoutNulls(element[field])])) }
      },
    }),
    columns: () => columnsOf(fields),
    ...(visible !== undefined && { isVisible: (entry: Entry) => entry[visible] !== false }),
    ...(order.length > 0 && { compare: compareBy(order, fields) }),
    filters: [
      { path: 'filter/getall', summary: `All entries of ${name}`, description: 'One page of all entries.', filter: everything },
      ...named.filter(([, { filter }]) => filter).map(([field, declared]) => filterOf(`Entries of ${name}`, field, declared)),
      {
        path: 'search',
        summary: `Entries of ${name} by several fields`,
        description: `Entries that match every given parameter. ${anyCase}`,
        filter: searchOf(fields),
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
