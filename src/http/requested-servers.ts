import type { FastifyRequest } from 'fastify'
import type { Fleet } from '../game/fleet.ts'
import { invalidParameter } from '../util/errors.ts'
import { type Parameter, textParameter } from './parameters.ts'
import { requireServer } from './server-place.ts'

const expected = 'names of servers separated by commas, each percent-encoded'

/** Any text: requestedServers() reads it and reports errors. */
export const serversParameter: Parameter<string> = {
  ...textParameter({ description: `Only these servers: ${expected}`, example: 'survival,lobby', maxLength: 20_000 }),
  parse: (text: string) => text,
}

/** Of a query that has been decoded, which is not possible for one that is malformed. */
const decode = (part: string): string => decodeURIComponent(part.replaceAll('+', ' '))

/**
 * The servers of `?servers=`; undefined if it is absent. Read from the raw URL, because a decoded query does not distinguish a
 * comma between names from an encoded one within a name.
 * @throws RequestError INVALID_PARAMETER, NOT_FOUND
 */
export function requestedServers(request: FastifyRequest, fleet: Fleet): ReadonlySet<string> | undefined {
  const query = request.raw.url?.split('?').slice(1).join('?') ?? ''
  const part = query.split('&').find((pair) => decode(pair.split('=', 1)[0] ?? '') === 'servers')
  if (part === undefined) return undefined
  const value = part.includes('=') ? part.slice(part.indexOf('=') + 1) : ''
  const names = value.split(',').flatMap((each) => {
    const name = decode(each)
    return fleet.get(name) === undefined ? name.split(',') : [name]
  })
  if (names.includes('')) throw invalidParameter(`Parameter "servers" has an empty name; expected ${expected}.`)
  return new Set(names.map((name) => requireServer(fleet, name, request).server))
}
