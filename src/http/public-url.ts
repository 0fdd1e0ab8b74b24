import type { FastifyRequest } from 'fastify'
import { parseHostPort } from '../game/protocol/address.ts'

/**
 * The URL under which the client reaches the service, with a trailing slash; undefined if the request does not tell, because its
 * Host header, or what a trusted proxy sends instead, is absent or no address.
 */
export function publicUrlOf({ protocol, host, basePath }: FastifyRequest): string | undefined {
  const isUsable = (protocol === 'http' || protocol === 'https') && parseHostPort(host, 80) !== undefined
  const url = `${protocol}://${host}${basePath}/`
  return isUsable && URL.canParse(url) ? url : undefined
}
