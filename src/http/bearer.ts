import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { RequestError } from '../errors.ts'

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

export interface BearerOptions {
  readonly token: string
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
  // Digests: of one length, and compared in a time that says nothing of where they differ.
  const expected = digest(token)
  return (request) => {
    const given = /^bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
    if (given !== undefined && timingSafeEqual(digest(given), expected)) return
    throw new RequestError(401, 'UNAUTHORIZED', `This needs the header "Authorization: Bearer <${env}>".`, {
      'www-authenticate': `Bearer realm="${realm}"`,
    })
  }
}
