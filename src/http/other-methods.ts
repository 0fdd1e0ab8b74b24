import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, onRequestHookHandler } from 'fastify'
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
 * Every method except HEAD is routed as GET: the router has a separate tree of all paths for each method, which takes long to build.
 * Must be called before the request is routed.
 */
export function routeOtherMethod(request: IncomingMessage): void {
  const { method = '' } = request
  if (method === 'GET' || method === 'HEAD') return
  request.originalMethod = method
  request.method = 'GET'
}

/** Method in the request line. */
export const methodOf = ({ originalMethod, method = '' }: IncomingMessage): string => originalMethod ?? method

/**
 * Every route is GET, and HEAD works like GET. All other methods on the same paths are answered with the status 405, and OPTIONS of
 * preflight requests of browsers with what they may send. Must be called before the routes are registered.
 */
export function registerOtherMethods(app: FastifyInstance): void {
  const answerAs =
    (crossOrigin: boolean): onRequestHookHandler =>
    (request, reply, done) => {
      const { originalMethod: method, headers } = request.raw
      if (method === undefined) return done()
      if (crossOrigin && method === 'OPTIONS' && headers['access-control-request-method'] !== undefined) {
        reply.code(204).headers(preflightHeaders).send()
        return
      }
      const detail = `${method} is not possible on ${pathOf(request.originalUrl)}; use GET or HEAD.`
      done(new RequestError(405, 'METHOD_NOT_ALLOWED', detail, { allow: 'GET, HEAD' }))
    }
  const ofSite = answerAs(false)
  const ofAnyOrigin = answerAs(true)
  // Before the hooks of the route itself, such as those that ask for a token.
  app.addHook('onRoute', (route) => {
    route.onRequest = [isCrossOrigin(route) ? ofAnyOrigin : ofSite, ...[route.onRequest ?? []].flat()]
  })
}
