import { createHash, timingSafeEqual } from 'node:crypto'
import type { onRequestAsyncHookHandler } from 'fastify'
import { RequestError } from '../src/errors.ts'

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Lets only requests with the bearer token pass. Digests are compared, so that neither content nor length shows in the time. */
export function authorise(token: string): onRequestAsyncHookHandler {
  const expected = digest(token)
  return async (request) => {
    const given = /^bearer +(.+)$/i.exec(request.headers.authorization ?? '')?.[1]
    if (given !== undefined && timingSafeEqual(digest(given), expected)) return
    throw new RequestError(401, 'UNAUTHORIZED', 'This needs the header Authorization: Bearer <METRICS_TOKEN>.', {
      'www-authenticate': 'Bearer realm="metrics"',
    })
  }
}
