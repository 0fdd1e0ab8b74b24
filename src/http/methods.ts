import type { FastifyInstance } from 'fastify'
import { RequestError } from '../errors.ts'
import { pathOf } from './problem.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** May pages of any origin read it? Default yes; false for what has side effects or tells of the client. */
    readonly crossOrigin?: boolean
  }
}

/** The pattern of a route (`/a/:name/*`) as an expression for paths, a trailing slash allowed. */
function toExpression(pattern: string): RegExp {
  const literal = pattern.replace(/\/$/, '').replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`^${literal.replaceAll(/:[^/]+/g, '[^/]+').replaceAll('*', '.*')}/?$`)
}

/** As the router reads it: `%2F` and other codes of what has a meaning in a URL stay; one that is not valid is on no route. */
function decodePath(path: string): string {
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}

/**
 * Answers every other method on a known path with 405, and a browser's preflight request with what is allowed.
 * Register after the cross-origin headers and before the routes.
 */
export function registerMethods(app: FastifyInstance): void {
  const known: { readonly path: RegExp; readonly crossOrigin: boolean }[] = []
  app.addHook('onRoute', (route) => {
    if (![route.method].flat().includes('GET')) return
    known.push({ path: toExpression(route.url), crossOrigin: route.config?.crossOrigin !== false })
  })
  // In onRequest, before a body would be read. A method without a route has ended up where unknown paths do.
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) return done()
    const path = pathOf(request.url)
    const decoded = decodePath(path)
    const route = known.find((candidate) => candidate.path.test(decoded))
    if (route === undefined || request.method === 'GET' || request.method === 'HEAD') return done()
    const preflight = request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined
    if (preflight && route.crossOrigin) {
      reply
        .code(204)
        .headers({
          'access-control-allow-methods': 'GET, HEAD',
          'access-control-allow-headers': 'If-None-Match, Accept, Authorization',
          'access-control-max-age': '86400',
        })
        .send()
      return
    }
    if (!route.crossOrigin) reply.crossOrigin = null
    const detail = `${request.method} is not possible on ${path}; use GET or HEAD.`
    done(new RequestError(405, 'METHOD_NOT_ALLOWED', detail, { allow: 'GET, HEAD' }))
  })
}
