import { METHODS } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { RequestError } from '../errors.ts'
import { isCrossOrigin, preflightHeaders } from './cors.ts'
import { pathOf } from './problem.ts'

/**
 * Every route is GET, and HEAD works like GET. Registers all other methods on the same paths with the status 405, and OPTIONS for
 * preflight requests of browsers. Must be called before the routes are registered.
 */
export function registerOtherMethods(app: FastifyInstance): void {
  for (const method of METHODS) {
    // CONNECT never reaches the app: Node.js closes the connection.
    if (method !== 'CONNECT' && !app.supportedMethods.includes(method)) app.addHttpMethod(method)
  }
  const methods = app.supportedMethods.filter((method) => method !== 'GET' && method !== 'HEAD')
  app.addHook('onRoute', function addOtherMethods(route) {
    if (![route.method].flat().includes('GET')) return
    const crossOrigin = isCrossOrigin(route)
    this.route({
      method: methods,
      url: route.routePath,
      config: { crossOrigin },
      schema: { hide: true },
      // In onRequest, before the body is parsed.
      onRequest(request, reply, done) {
        if (crossOrigin && request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined) {
          reply.code(204).headers(preflightHeaders).send()
          return
        }
        const detail = `${request.method} is not possible on ${pathOf(request.originalUrl)}; use GET or HEAD.`
        done(new RequestError(405, 'METHOD_NOT_ALLOWED', detail, { allow: 'GET, HEAD' }))
      },
      handler() {},
    })
  })
}
