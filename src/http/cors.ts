import type { FastifyInstance, onRequestHookHandler, RouteOptions } from 'fastify'

declare module 'fastify' {
  interface FastifyReply {
    /** Headers that allow pages of other origins to read the reply; null if they may not. */
    crossOrigin: Readonly<Record<string, string>> | null
  }
  interface FastifyContextConfig {
    /**
     * Whether pages of other origins may read the reply. Default: true under /api/v1 and /v1 except /v1/run. False for replies
     * that show the request.
     */
    readonly crossOrigin?: boolean
  }
}

/** Headers of a reply that a page may read. */
const exposed = 'ETag, Link, Retry-After, X-Demo, X-Favicon, X-Snapshot-Age, X-Snapshot-Source, X-Total-Count'

/** The reply to a preflight request. */
export const preflightHeaders = {
  'access-control-allow-methods': 'GET, HEAD',
  'access-control-allow-headers': 'If-None-Match, If-Modified-Since, Accept, Authorization, Last-Event-ID',
  'access-control-max-age': '86400',
} as const

/** Headers that let pages of `origin` read a reply. */
export const crossOriginHeaders = (origin: string): Readonly<Record<string, string>> => ({
  'access-control-allow-origin': origin,
  'access-control-expose-headers': exposed,
  ...(origin !== '*' && { vary: 'Origin' }),
})

const isPublicPath = (path: string): boolean => /^\/(api\/)?v1\//.test(path) && !/^\/v1\/run(\/|$)/.test(path)

/** Whether pages of other origins may read replies of the route. */
export const isCrossOrigin = ({ url, config }: Pick<RouteOptions, 'url' | 'config'>): boolean =>
  config?.crossOrigin ?? isPublicPath(url)

/**
 * Adds `allowed` to every reply of a cross-origin route and of unknown paths next to them, including errors. Not @fastify/cors:
 * it always adds a route `OPTIONS *`, which unknown paths would match, and sets headers on Fastify's reply, which prepared and
 * direct replies do not send.
 */
export function registerCors(app: FastifyInstance, allowed: Readonly<Record<string, string>>): void {
  const allow: onRequestHookHandler = (_, reply, done) => {
    reply.crossOrigin = allowed
    done()
  }
  app.decorateReply('crossOrigin', null)
  // Added to each route: reading the route's settings on every request costs more than sending a prepared reply.
  app.addHook('onRoute', (route) => {
    if (isCrossOrigin(route)) route.onRequest = [allow, ...[route.onRequest ?? []].flat()]
  })
  app.addHook('onRequest', (request, reply, done) => {
    if (request.is404 && isPublicPath(request.url)) reply.crossOrigin = allowed
    done()
  })
  // Prepared replies include the headers already.
  app.addHook('onSend', (_, reply, payload, done) => {
    if (reply.crossOrigin === allowed) {
      const vary = reply.getHeader('vary')
      reply.headers(allowed)
      if (vary !== undefined && allowed.vary !== undefined) reply.header('vary', `${vary}, ${allowed.vary}`)
    }
    done(null, payload)
  })
}
