import { type Parameter, type Parameters, type ParameterValues, textParameter } from '../../http/parameters.ts'
import { invalidParameter } from '../../util/errors.ts'
import type { Selection } from '../store/columns.ts'
import type { Database } from '../store/database.ts'
import { dateParameter } from '../store/dates.ts'

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

/** A filter by one text. */
export const byText = (
  name: string,
  description: string,
  example: string,
  select: (db: Database, text: string) => Selection,
): Filter => {
  const parameters: Readonly<Record<string, Parameter<string>>> = { [name]: textParameter({ description, example }) }
  return {
    parameters,
    createQuery(values: ParameterValues<typeof parameters>) {
      const text = values[name] ?? ''
      return { given: { [name]: text }, select: (db) => select(db, text) }
    },
  }
}

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
