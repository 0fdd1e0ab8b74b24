import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { RequestError } from '../util/errors.ts'

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

export interface BearerOptions {
  /** Called for each request: a token may be replaced while the service runs. */
  readonly token: () => string
  /** Setting that holds the token, named in the error. */
  readonly env: string
  /** What the token protects (RFC 6750, section 3). */
  readonly realm: string
}

/**
 * Creates a check that accepts only requests with the token.
 * @returns a function that throws for every other request
 * @throws RequestError UNAUTHORIZED (401)
 */
export function createBearerCheck({ token, env, realm }: BearerOptions): (request: FastifyRequest) => void {
  return (request) => {
    const given = /^bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
    // Digests have equal length, as timingSafeEqual() requires.
    if (given !== undefined && timingSafeEqual(digest(given), digest(token()))) return
    throw new RequestError(401, 'UNAUTHORIZED', `This needs the header "Authorization: Bearer <${env}>".`, {
      'www-authenticate': `Bearer realm="${realm}"`,
    })
  }
}
