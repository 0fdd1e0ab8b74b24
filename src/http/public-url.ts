import type { FastifyRequest } from 'fastify'
import { parseHostPort } from '../util/address.ts'

/**
 * The URL under which the client reaches the service, with a trailing slash; undefined if its Host header, or the header of a
 * trusted proxy that replaces it, is absent or not valid.
 */
export function publicUrlOf({ protocol, host, basePath }: FastifyRequest): string | undefined {
  const isUsable = (protocol === 'http' || protocol === 'https') && parseHostPort(host, 80) !== undefined
  const url = `${protocol}://${host}${basePath}/`
  return isUsable && URL.canParse(url) ? url : undefined
}
