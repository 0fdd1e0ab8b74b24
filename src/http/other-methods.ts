import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { RequestError } from '../util/errors.ts'
import { isCrossOrigin, preflightHeaders } from './cors.ts'
import { pathOf } from './replies/problem.ts'

declare module 'node:http' {
  interface IncomingMessage {
    /** Method in the request line; undefined if `method` is still that one. */
    originalMethod?: string
  }
}

/**
 * Every method except GET and HEAD is routed as this one. The router has a separate tree of all paths for each method: a tree for
 * each of the more than thirty methods of Node.js took half of the time of a start.
 */
const routedMethod = 'OPTIONS'

/** Must be called before the request is routed. */
export function routeOtherMethod(request: IncomingMessage): void {
  const { method = '' } = request
  if (method === 'GET' || method === 'HEAD' || method === routedMethod) return
  request.originalMethod = method
  request.method = routedMethod
}

/** Method in the request line. */
export const methodOf = ({ originalMethod, method = '' }: IncomingMessage): string => originalMethod ?? method

/**
 * Every route is GET, and HEAD works like GET. Registers all other methods on the same paths with the status 405, and OPTIONS for
 * preflight requests of browsers. Must be called before the routes are registered.
 */
export function registerOtherMethods(app: FastifyInstance): void {
  app.addHook('onRoute', function addOtherMethods(route) {
    if (![route.method].flat().includes('GET')) return
    const crossOrigin = isCrossOrigin(route)
    this.route({
      method: routedMethod,
      url: route.routePath,
      config: { crossOrigin },
      schema: { hide: true },
      // In onRequest, before the body is parsed.
      onRequest(request, reply, done) {
        const method = methodOf(request.raw)
        if (crossOrigin && method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined) {
          reply.code(204).headers(preflightHeaders).send()
          return
        }
        const detail = `${method} is not possible on ${pathOf(request.originalUrl)}; use GET or HEAD.`
        done(new RequestError(405, 'METHOD_NOT_ALLOWED', detail, { allow: 'GET, HEAD' }))
      },
      handler() {},
    })
  })
}
