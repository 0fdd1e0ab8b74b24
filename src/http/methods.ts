import type { FastifyInstance } from 'fastify'
import { RequestError } from '../errors.ts'

const others = ['DELETE', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'TRACE'] as const

declare module 'fastify' {
  interface FastifyContextConfig {
    /** May pages of any origin read it? Default yes; false for what has side effects or tells of the client. */
    readonly crossOrigin?: boolean
  }
}

/**
 * Answers every other method on a known path with 405, and a browser's preflight request with what is allowed.
 * Register before the routes.
 */
export function registerMethods(app: FastifyInstance, corsOrigin: string): void {
  app.addHttpMethod('TRACE')
  app.addHook('onRoute', (route) => {
    const methods = [route.method].flat()
    if (!methods.includes('GET')) return
    const readable = route.config?.crossOrigin !== false
    app.route({
      method: [...others],
      url: route.path.slice(route.prefix.length) || '/',
      schema: { hide: true },
      // In onRequest, before a body would be read.
      onRequest: async (request, reply) => {
        const preflight = request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined
        if (preflight && readable) {
          return reply
            .code(204)
            .headers({
              'access-control-allow-origin': corsOrigin,
              'access-control-allow-methods': 'GET, HEAD',
              'access-control-allow-headers': 'If-None-Match, Accept, Authorization',
              'access-control-max-age': '86400',
            })
            .send()
        }
        const path = request.url.split('?')[0]
        throw new RequestError(405, 'METHOD_NOT_ALLOWED', `${request.method} is not possible on ${path}; use GET or HEAD.`, {
          allow: 'GET, HEAD',
        })
      },
      handler: () => undefined,
    })
  })
}
