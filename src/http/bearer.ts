import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { RequestError } from '../errors.ts'

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

export interface BearerOptions {
  /** Called for each request: a token may be replaced while the service runs. */
  readonly token: () => string
  /** Setting that holds the token, named to who has none. */
  readonly env: string
  /** What the token opens (RFC 6750, section 3). */
  readonly realm: string
}

/**
 * Lets only requests with the token pass.
 * @returns throws for every other request
 * @throws RequestError UNAUTHORIZED (401)
 */
export function createBearerCheck({ token, env, realm }: BearerOptions): (request: FastifyRequest) => void {
  return (request) => {
    const given = /^bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
    // Digests: of one length, and compared in a time that says nothing of where they differ.
    if (given !== undefined && timingSafeEqual(digest(given), digest(token()))) return
    throw new RequestError(401, 'UNAUTHORIZED', `This needs the header "Authorization: Bearer <${env}>".`, {
      'www-authenticate': `Bearer realm="${realm}"`,
    })
  }
}
