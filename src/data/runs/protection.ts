import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import ipaddr from 'ipaddr.js'
import { RequestError } from '../../errors.ts'

/** True of an address that only this machine can reach. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || (ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback')

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/**
 * Who may start scripts: everybody on this machine while the service listens there only, else who has the token.
 * The function returned throws for everybody else.
 * @throws RequestError PROTECTED_MODE (403), UNAUTHORIZED (401)
 */
export function createProtection(host: string, token: string | undefined): (request: FastifyRequest) => void {
  if (isLoopback(host)) return () => undefined
  if (token === undefined) {
    return () => {
      throw new RequestError(
        403,
        'PROTECTED_MODE',
        'Script runs have side effects, and the service can be reached from other machines: they are off until RUN_TOKEN is set.',
      )
    }
  }
  const expected = digest(token)
  return (request) => {
    const given = /^bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
    // Digests: of one length, and compared in a time that says nothing of where they differ.
    if (given !== undefined && timingSafeEqual(digest(given), expected)) return
    throw new RequestError(401, 'UNAUTHORIZED', 'Script runs need the header "Authorization: Bearer <RUN_TOKEN>".', {
      'www-authenticate': 'Bearer realm="script runs"',
    })
  }
}
