import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, onRequestHookHandler } from 'fastify'
import { RequestError } from '../util/errors.ts'
import { isCrossOrigin, preflightHeaders } from './cors.ts'
import { pathOf } from './replies/problem.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether a request starts something. */
    readonly hasEffects?: boolean
  }
}
declare module 'node:http' {
  interface IncomingMessage {
    /** Method in the request line; undefined if `method` is still that one. */
    originalMethod?: string
  }
}

/**
 * Every method is routed as GET: the router has a separate tree of all paths for each method, which takes long to build. Node.js
 * sends no body to HEAD whatever the handler writes. Must be called before the request is routed.
 */
export function routeOtherMethod(request: IncomingMessage): void {
  if (request.method === 'GET') return
  request.originalMethod = request.method ?? ''
  request.method = 'GET'
}

/** Method in the request line. */
export const methodOf = ({ originalMethod, method = '' }: IncomingMessage): string => originalMethod ?? method

/**
 * Every route is GET, and HEAD works like GET unless GET has effects. Other methods are answered with the status 405, and OPTIONS of
 * preflight requests of browsers with what they may send. Must be called before the routes are registered.
 */
export function registerOtherMethods(app: FastifyInstance): void {
  // Before the hooks of the route itself, such as those that ask for a token.
  app.addHook('onRoute', (route) => {
    const crossOrigin = isCrossOrigin(route)
    const allowed = route.config?.hasEffects === true ? ['GET'] : ['GET', 'HEAD']
    const answer: onRequestHookHandler = (request, reply, done) => {
      const { originalMethod: method, headers } = request.raw
      if (method === undefined || allowed.includes(method)) return done()
      if (crossOrigin && method === 'OPTIONS' && headers['access-control-request-method'] !== undefined) {
        reply.code(204).headers(preflightHeaders).send()
        return
      }
      const detail = `${method} is not possible on ${pathOf(request.originalUrl)}; use ${allowed.join(' or ')}.`
      done(new RequestError(405, 'METHOD_NOT_ALLOWED', detail, { allow: allowed.join(', ') }))
    }
    route.onRequest = [answer, ...[route.onRequest ?? []].flat()]
  })
}
