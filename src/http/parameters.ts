import { parse } from 'node:querystring'
import type { FastifySchema, FastifySchemaCompiler } from 'fastify'
import { integer as integerKind, type Kind, oneOf } from '../settings/kinds/index.ts'
import { invalidParameter, type RequestError } from '../util/errors.ts'
import { decodePart, isDecodable } from '../util/parse-url.ts'
import { type TSchema, type TUnsafe, Type } from '../util/schema.ts'

/** A query parameter: its documentation, the accepted values and the parsed type. */
export interface Parameter<T> extends Pick<Kind<Exclude<T, undefined>>, 'expected' | 'parse'> {
  /** Its schema in the API description, with the same constraints as `parse`. */
  readonly schema: TSchema
  /** Its value if it is missing; without a default the parameter is required. */
  readonly default?: { readonly value: T }
}

interface Documented<Example> {
  readonly description: string
  readonly example: Example
}

export function integerParameter({
  minimum,
  maximum,
  description,
  example,
}: Documented<number> & { readonly minimum: number; readonly maximum?: number }): Parameter<number> {
  const docs = { minimum, description, examples: [example] }
  if (maximum !== undefined) return { ...integerKind(minimum, maximum), schema: Type.Integer({ ...docs, maximum }) }
  return {
    expected: `an integer of at least ${minimum}`,
    parse: (text) => (/^\d+$/.test(text) && Number(text) >= minimum ? Number(text) : undefined),
    schema: Type.Integer(docs),
  }
}

/** @param maxLength characters, that is code points; default 200 */
export function textParameter({
  description,
  example,
  maxLength = 200,
}: Documented<string> & { readonly maxLength?: number }): Parameter<string> {
  return {
    expected: `a string of 1 to ${maxLength} characters`,
    // A code point takes at most two UTF-16 units, so a longer text does not need to be counted.
    parse: (text) => (text === '' || text.length > 2 * maxLength || [...text].length > maxLength ? undefined : text),
    schema: Type.String({ minLength: 1, maxLength, description, examples: [example] }),
  }
}

export const booleanParameter = ({ description, example }: Documented<boolean>): Parameter<boolean> => ({
  expected: 'true or false',
  parse: (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
  schema: Type.Boolean({ description, examples: [example] }),
})

export const choiceParameter = <const T extends string>({
  choices,
  description,
  example,
}: Documented<T> & { readonly choices: readonly T[] }): Parameter<T> => ({
  ...oneOf(...choices),
  schema: Type.Enum([...choices], { description, examples: [example] }),
})

/** Makes the parameter optional, with a default. */
export const withDefault = <T>(parameter: Parameter<T>, value: T): Parameter<T> => ({
  ...parameter,
  schema: { ...parameter.schema, default: value },
  default: { value },
})

/** Makes the parameter optional, undefined if it is missing. */
export const optional = <T>(parameter: Parameter<T>): Parameter<T | undefined> => ({
  ...parameter,
  default: { value: undefined },
})

/** By name. */
export type Parameters = Readonly<Record<string, Parameter<unknown>>>

export type ParameterValues<P extends Parameters> = {
  readonly [Name in keyof P]: P[Name] extends Parameter<infer T> ? T : never
}

const parametersOf = new WeakMap<object, Parameters>()

/** The `querystring` schema of a route that takes these parameters: `request.query` holds their values. */
export function query<P extends Parameters>(parameters: P): TUnsafe<ParameterValues<P>> {
  const schema = Type.Unsafe<ParameterValues<P>>({
    type: 'object',
    properties: Object.fromEntries(Object.entries(parameters).map(([name, { schema }]) => [name, schema])),
    required: Object.keys(parameters).filter((name) => parameters[name]?.default === undefined),
  })
  parametersOf.set(schema, parameters)
  return schema
}

/** A value in quotes, for messages; a long value is truncated. */
export const shown = (text: string): string => JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}...` : text)

type RawQuery = Readonly<Record<string, string | readonly string[] | undefined>>

/**
 * The values of the parameters in a query; other parameters in it are ignored.
 * @throws RequestError INVALID_PARAMETER that names the parameter, its value and the expected values
 */
export function parseParameters<P extends Parameters>(parameters: P, given: RawQuery): ParameterValues<P> {
  const values: Record<string, unknown> = {}
  for (const [name, parameter] of Object.entries(parameters)) values[name] = parseParameter(name, parameter, given[name])
  return values as ParameterValues<P>
}

function parseParameter<T>(name: string, parameter: Parameter<T>, text: RawQuery[string]): T {
  const { expected } = parameter
  if (text === undefined) {
    if (parameter.default !== undefined) return parameter.default.value
    throw invalidParameter(`Parameter "${name}" is missing; expected ${expected}.`)
  }
  if (typeof text !== 'string') {
    throw invalidParameter(`Parameter "${name}" is given ${text.length} times; it must be given once.`)
  }
  const value = parameter.parse(text)
  if (value === undefined) throw invalidParameter(`Parameter "${name}" is ${shown(text)}; expected ${expected}.`)
  return value as T
}

/** Validates the query of each route by its parameters; no other part of a request is validated by a schema. */
export const compileQuery: FastifySchemaCompiler<FastifySchema> = ({ schema, httpPart }) => {
  const parameters = httpPart === 'querystring' ? parametersOf.get(schema) : undefined
  if (parameters === undefined) return () => true
  return (given: RawQuery) => {
    try {
      return { value: parseParameters(parameters, given) }
    } catch (error) {
      return { error: error as RequestError }
    }
  }
}

const malformed: RawQuery = Object.freeze({})

/** Whether parseQuery() could not decode the query. */
export const isMalformed = (given: unknown): boolean => given === malformed

/** What cannot be decoded in the query of a URL: the first such parameter, or if that is its name, the query. */
export function malformedPart(url: string): string {
  const parts = url.slice(url.indexOf('?') + 1).split('&')
  const [, name = '', value = ''] = /^([^=]*)=(.*)$/.exec(parts.find((part) => !isDecodable(part)) ?? '') ?? []
  return name === '' || !isDecodable(name)
    ? 'The query'
    : `Parameter ${shown(decodePart(name.replaceAll('+', ' ')))} (${shown(value)})`
}

/**
 * Parses a query; a parameter that is given more than once becomes a list. The router calls this where it must not throw: for a
 * query that cannot be decoded, isMalformed() is true.
 */
export function parseQuery(text: string): Record<string, unknown> {
  let isValid = true
  const decode = (part: string): string => {
    try {
      return decodeURIComponent(part)
    } catch {
      isValid = false
      return ''
    }
  }
  const values = parse(text, '&', '=', { decodeURIComponent: decode, maxKeys: 0 })
  return isValid ? values : malformed
}
