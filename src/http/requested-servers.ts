import type { FastifyRequest } from 'fastify'
import type { Fleet } from '../game/fleet.ts'
import { invalidParameter } from '../util/errors.ts'
import { type Parameter, textParameter } from './parameters.ts'
import { requireServer } from './server-place.ts'

const expected = 'names of servers separated by commas, each percent-encoded'

/** The parameter in the description of the API. It accepts any text: requestedServers() reads it from the URL and reports errors. */
export const serversParameter: Parameter<string> = {
  ...textParameter({ description: `Only these servers: ${expected}`, example: 'survival,lobby', maxLength: 20_000 }),
  parse: (text: string) => text,
}

/**
 * The servers of `?servers=`; undefined if it is absent. Read from the raw URL, because a decoded query does not distinguish a
 * comma between names from an encoded one within a name.
 * @throws RequestError INVALID_PARAMETER, NOT_FOUND
 */
export function requestedServers(request: FastifyRequest, fleet: Fleet): ReadonlySet<string> | undefined {
  const query = request.raw.url?.split('?').slice(1).join('?') ?? ''
  const values = query.split('&').flatMap((part) => (part.startsWith('servers=') ? [part.slice('servers='.length)] : []))
  const [value] = values
  if (value === undefined) return undefined
  if (values.length > 1) throw invalidParameter(`Parameter "servers" is given ${values.length} times; it must be given once.`)
  const names = value.split(',').flatMap((part) => {
    const name = decode(part)
    return fleet.get(name) === undefined && name.includes(',') ? name.split(',') : [name]
  })
  if (names.includes('')) throw invalidParameter(`Parameter "servers" has an empty name; expected ${expected}.`)
  return new Set(names.map((name) => requireServer(fleet, name, request).server))
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part.replaceAll('+', ' '))
  } catch {
    throw invalidParameter(`Parameter "servers" is not percent-encoded UTF-8; expected ${expected}.`)
  }
}
