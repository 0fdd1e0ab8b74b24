import type { FastifyRequest } from 'fastify'
import ipaddr from 'ipaddr.js'
import { settings } from '../../config/settings.ts'
import { RequestError } from '../../errors.ts'
import { createBearerCheck } from '../../http/bearer.ts'

/** True of an address that only this machine can reach. */
const isLoopback = (host: string): boolean =>
  host === 'localhost' || (ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback')

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
  return createBearerCheck({ token, env: settings.runToken.env, realm: 'script runs' })
}
