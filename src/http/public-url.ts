import type { FastifyRequest } from 'fastify'
import { parseHostPort } from '../util/address.ts'
import { parseUrl } from '../util/parse-url.ts'

/**
 * The URL under which the client reaches the service, with a trailing slash; undefined if its Host header, or the header of a
 * trusted proxy that replaces it, is absent or not valid.
 */
export function publicUrlOf({ protocol, host, basePath }: FastifyRequest): string | undefined {
  // Node.js decodes headers as ISO-8859-1, so that an international name in UTF-8 would be another name.
  const isHost = /^[\x21-\x7e]+$/.test(host) && parseHostPort(host, 80) !== undefined
  const isUsable = (protocol === 'http' || protocol === 'https') && isHost
  const url = `${protocol}://${host}${basePath}/`
  return isUsable && parseUrl(url) !== undefined ? url : undefined
}
