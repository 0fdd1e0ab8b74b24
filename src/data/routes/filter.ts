import { choiceParameter, type Parameter, type Parameters, type ParameterValues, textParameter } from '../../http/parameters.ts'
import { invalidParameter } from '../../util/errors.ts'
import { Type } from '../../util/schema.ts'
import type { Selection } from '../store/columns.ts'
import type { Database } from '../store/database.ts'
import { parseDay } from '../store/dates.ts'

/** The selection of one request. */
export interface FilterQuery {
  /** The parameters as given, apart from limit and offset. */
  readonly given: Readonly<Record<string, string>>
  select(db: Database): Selection
}

/** A filter: its parameters, and the entries that it selects. */
export interface Filter<P extends Parameters = Parameters> {
  readonly parameters: P
  /** @throws RequestError INVALID_PARAMETER if the values contradict each other */
  createQuery(values: ParameterValues<P>): FilterQuery
}

/** How texts are compared, for OpenAPI. */
export const anyCase = 'Case-insensitive; spaces are significant.'

/** Every entry. */
export const everything: Filter = {
  parameters: {},
  createQuery: () => ({ given: {}, select: ({ all }) => all }),
}

/** A filter by one text. @param choices the valid texts; default: any */
export const byText = (
  name: string,
  description: string,
  example: string,
  select: (db: Database, text: string) => Selection,
  choices?: readonly string[],
): Filter => {
  const parameter = choices ? choiceParameter({ choices, description, example }) : textParameter({ description, example })
  const parameters: Readonly<Record<string, Parameter<string>>> = { [name]: parameter }
  return {
    parameters,
    createQuery(values: ParameterValues<typeof parameters>) {
      const text = values[name] ?? ''
      return { given: { [name]: text }, select: (db) => select(db, text) }
    },
  }
}

/** A calendar date as given, and as days since 1970-01-01. */
export interface GivenDate {
  readonly text: string
  readonly day: number
}

/** A parameter for a calendar date. */
export const dateParameter = ({
  description,
  example,
}: {
  readonly description: string
  readonly example: string
}): Parameter<GivenDate> => ({
  expected: 'a calendar date of the form YYYY-MM-DD',
  parse(text) {
    const day = parseDay(text)
    return day === undefined ? undefined : { text, day }
  },
  schema: Type.String({
    pattern: '^\\d{4}-\\d{1,2}-\\d{1,2}$',
    description: `${description}: YYYY-MM-DD; month and day may have one digit`,
    examples: [example],
  }),
})

const dates = {
  start: dateParameter({ description: 'First day', example: '2019-01-01' }),
  end: dateParameter({ description: 'Last day, inclusive', example: '2026-12-31' }),
}

/** A filter by a range of days since 1970-01-01, both inclusive. */
export const byDates = (select: (db: Database, start: number, end: number) => Selection): Filter<typeof dates> => ({
  parameters: dates,
  createQuery({ start, end }) {
    if (start.day > end.day) {
      throw invalidParameter(
        `Parameter "start" is "${start.text}", which is after "end" ("${end.text}"); expected a date that is not after it.`,
      )
    }
    return { given: { start: start.text, end: end.text }, select: (db) => select(db, start.day, end.day) }
  },
})

/** A parameter for a decimal number. */
export const numberParameter = (docs: { readonly description: string; readonly example: number }): Parameter<number> => ({
  expected: 'a decimal number',
  parse: (text) => (/^-?\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : undefined),
  schema: Type.Number({ description: docs.description, examples: [docs.example] }),
})

const numbers = {
  start: numberParameter({ description: 'Smallest number', example: 1 }),
  end: numberParameter({ description: 'Largest number, inclusive', example: 10 }),
}

/** A filter by a range of numbers, both inclusive. */
export const byNumbers = (select: (db: Database, start: number, end: number) => Selection): Filter<typeof numbers> => ({
  parameters: numbers,
  createQuery({ start, end }) {
    if (start > end) throw invalidParameter(`Parameter "start" is "${start}", which is more than "end" ("${end}").`)
    return { given: { start: String(start), end: String(end) }, select: (db) => select(db, start, end) }
  },
})
