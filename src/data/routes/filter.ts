import { choiceParameter, type Parameter, type Parameters, textParameter } from '../../http/parameters.ts'
import { invalidParameter } from '../../util/errors.ts'
import { Type } from '../../util/schema.ts'
import { type Database, fold, type Selection } from '../store/database.ts'
import { parseDay } from '../store/dates.ts'

export type Values = Readonly<Record<string, unknown>>

/** Whether the entry with an id is selected. */
export type Matches = (id: number) => boolean

/** A filter: its parameters, and the entries that it selects. */
export interface Filter {
  readonly parameters: Parameters
  /** @throws RequestError INVALID_PARAMETER if the values contradict each other */
  check?(values: Values): void
  matches(db: Database, values: Values): Matches
  /** The order of the selected entries; default: that of the database. */
  compare?(db: Database, values: Values): ((a: number, b: number) => number) | undefined
}

export function select(db: Database, filter: Pick<Filter, 'matches' | 'compare'>, values: Values): Selection {
  const found = db.all.filter(filter.matches(db, values))
  const compare = filter.compare?.(db, values)
  return compare === undefined ? found : found.sort(compare)
}

/** The OpenAPI texts of a route, and its path below that of the database. */
export interface RouteDocs {
  readonly path: string
  readonly summary: string
  readonly description: string
}

/** A route that returns a page of the entries that its filter selects. */
export interface FilterRoute extends RouteDocs {
  readonly filter: Filter
  /** If it returns all of them in one page: the error for parameters that are not valid, as an example. */
  readonly unpaged?: string
}

/** How texts are compared, for OpenAPI. */
export const anyCase = 'Case-insensitive; spaces are significant.'

export const everything: Filter = { parameters: {}, matches: () => () => true }

const byText = (name: string, parameter: Parameter<string>, matches: (db: Database, text: string) => Matches): Filter => ({
  parameters: { [name]: parameter },
  matches: (db, values) => matches(db, String(values[name])),
})

/** The number of a date or number as given: of a date, the days since 1970-01-01. */
export const toNumber = (text: unknown): number => parseDay(String(text)) ?? Number(text)

/** Creates a parameter for a date or a number, which is parsed to its text: the links to other pages have it as given. */
export const pointParameter = {
  date: (description: string, example = '2026-01-31'): Parameter<string> => ({
    expected: 'a calendar date of the form YYYY-MM-DD',
    parse: (text) => (parseDay(text) === undefined ? undefined : text),
    schema: Type.String({
      pattern: '^\\d{4}-\\d{1,2}-\\d{1,2}$',
      description: `${description}: YYYY-MM-DD; month and day may have one digit`,
      examples: [example],
    }),
  }),
  number: (description: string, example = '1'): Parameter<string> => ({
    expected: 'a decimal number',
    // As many digits as JavaScript prints without an exponent.
    parse: (text) => (/^-?\d{1,21}(\.\d{1,22})?$/.test(text) ? text : undefined),
    schema: Type.Number({ description, examples: [Number(example)] }),
  }),
}

/**
 * @param kind of the values: of numbers, the message says that one is more than the other
 * @throws RequestError INVALID_PARAMETER if the value of `start` is after that of `end`
 */
export function checkRange(values: Values, start: string, end: string, kind = 'date'): void {
  const [from, to] = [values[start], values[end]]
  if (from === undefined || to === undefined || toNumber(from) <= toNumber(to)) return
  const after = kind === 'number' ? 'more than' : 'after'
  throw invalidParameter(
    `Parameter "${start}" is "${from}", which is ${after} "${end}" ("${to}"); expected one that is not ${after} it.`,
  )
}

const ends = {
  date: {
    start: pointParameter.date('First day', '2019-01-01'),
    end: pointParameter.date('Last day, inclusive', '2026-12-31'),
  },
  number: { start: pointParameter.number('Smallest number'), end: pointParameter.number('Largest number, inclusive', '10') },
}

type Numbers = readonly (number | undefined)[]

/** Matches the entries whose number is in [min, max]; those without a number are in no range. */
export const isBetween =
  (numbers: Numbers, min: number, max: number): Matches =>
  (id) => {
    const number = numbers[id] ?? Number.NaN
    return number >= min && number <= max
  }

interface ValueFilter {
  /** The field that has the values; default: that of the same name. */
  readonly field?: string
  readonly example: string
  /** The valid values; default: any. */
  readonly choices?: readonly string[]
  readonly ignoreCase?: true
  /** The route that lists the values, without `filter/`. */
  readonly list?: string
}

const listedBy = (list: string | undefined): string => (list === undefined ? '' : ` \`filter/${list}\` lists the values.`)

/** Creates the filters of a database, with their OpenAPI texts. @param noun what it has, in the plural: `comebacks` */
export function filtersOf(noun: string) {
  const plural = `${noun[0]?.toUpperCase()}${noun.slice(1)}`
  const route = (name: string, by: string, description: string, filter: Filter): FilterRoute => ({
    ...{ path: `filter/${name}`, summary: `${plural} by ${by}`, filter },
    description: `${plural} ${description}`,
  })
  return {
    all: (order = ''): FilterRoute => ({
      ...{ path: 'filter/getall', summary: `All ${noun}`, description: `One page of all ${noun}${order}.`, filter: everything },
    }),
    text(name: string, example: string, fields: readonly string[] = [name], list?: string): FilterRoute {
      const where = fields.join(' or ')
      const parameter = textParameter({ description: `Text to find in the ${where}`, example })
      const filter = byText(name, parameter, (db, text) => {
        const wanted = fold(text)
        const columns = fields.map((field) => db.texts(field))
        return (id) => columns.some((texts) => texts[id]?.includes(wanted))
      })
      return route(name, where, `whose ${where} contains the given text. ${anyCase}${listedBy(list)}`, filter)
    },
    value(name: string, { field = name, example, choices, ignoreCase, list }: ValueFilter): FilterRoute {
      const docs = { description: `The ${name}, exactly`, example }
      const parameter = choices ? choiceParameter({ ...docs, choices }) : textParameter(docs)
      const filter = byText(name, parameter, (db, text) => {
        const lists = db.values(field)
        if (!ignoreCase) return (id) => lists[id]?.includes(text) === true
        const wanted = fold(text)
        return (id) => lists[id]?.some((value) => fold(value) === wanted) === true
      })
      return route(name, name, `with this ${name}.${ignoreCase ? ` ${anyCase}` : ''}${listedBy(list)}`, filter)
    },
    range: (name: string, by: string, kind: 'date' | 'number', description: string, numbersOf: (db: Database) => Numbers) =>
      route(name, by, description, {
        parameters: ends[kind],
        check: (values) => checkRange(values, 'start', 'end', kind),
        matches: (db, { start, end }) => isBetween(numbersOf(db), toNumber(start), toNumber(end)),
      }),
  }
}
