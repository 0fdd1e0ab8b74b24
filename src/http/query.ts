import type { FastifyRequest } from 'fastify'
import { integer, type Kind } from '../config/kinds.ts'
import { invalidParameter } from '../errors.ts'

/** One query parameter: its text to its value, in the form of a setting. */
export type Parameter<T> = Kind<T>

export { integer }

export const nonEmptyText: Parameter<string> = {
  expected: 'a text that is not empty',
  parse: (text) => (text === '' ? undefined : text),
}

/** A value in quotes: messages repeat it only as far as it helps to recognise it. */
export const shown = (text: string): string => JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}...` : text)

/**
 * The value of an optional parameter; unknown parameters of the request are ignored.
 * @throws RequestError INVALID_PARAMETER that names the parameter, its value and what was expected
 */
export function optional<T>(request: FastifyRequest, name: string, parameter: Parameter<T>): T | undefined {
  const given = (request.query as Record<string, string | readonly string[] | undefined>)[name]
  if (given === undefined) return undefined
  if (typeof given !== 'string')
    throw invalidParameter(`Parameter "${name}" is given ${given.length} times; it must be given once.`)
  const value = parameter.parse(given)
  if (value === undefined) throw invalidParameter(`Parameter "${name}" is ${shown(given)}; expected ${parameter.expected}.`)
  return value
}

/** As optional(), but a missing parameter is an error too. */
export function required<T>(request: FastifyRequest, name: string, parameter: Parameter<T>): T {
  const value = optional(request, name, parameter)
  if (value === undefined) throw invalidParameter(`Parameter "${name}" is missing; expected ${parameter.expected}.`)
  return value
}
