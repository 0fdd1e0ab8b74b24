import type { FastifyInstance, onRequestHookHandler } from 'fastify'

declare module 'fastify' {
  interface FastifyReply {
    /** Headers that let pages of other origins read the reply; null where they may not. */
    crossOrigin: Readonly<Record<string, string>> | null
  }
}

/** What a page may read of a reply besides its body. */
const exposed = 'ETag, Link, Retry-After, X-Favicon, X-Snapshot-Age, X-Snapshot-Source, X-Total-Count'

/** Headers that let pages of `origin` read a reply. */
export const crossOriginHeaders = (origin: string): Readonly<Record<string, string>> => ({
  'access-control-allow-origin': origin,
  'access-control-expose-headers': exposed,
  ...(origin !== '*' && { vary: 'Origin' }),
})

/** Sends `allowed` with every reply, errors included, but of routes with `config.crossOrigin: false`. */
export function registerCors(app: FastifyInstance, allowed: Readonly<Record<string, string>>): void {
  const allow: onRequestHookHandler = (_, reply, done) => {
    reply.crossOrigin = allowed
    done()
  }
  app.decorateReply('crossOrigin', null)
  // On each route: to ask every request for its route's settings costs more than to send a prepared reply.
  app.addHook('onRoute', (route) => {
    if (route.config?.crossOrigin !== false) route.onRequest = [allow, ...[route.onRequest ?? []].flat()]
  })
  app.addHook('onRequest', (request, reply, done) => {
    if (request.is404) allow.call(app, request, reply, done)
    else done()
  })
  // Prepared replies carry them themselves.
  app.addHook('onSend', (_, reply, payload, done) => {
    if (reply.crossOrigin === allowed) {
      const vary = reply.getHeader('vary')
      reply.headers(allowed)
      if (vary !== undefined && allowed.vary !== undefined) reply.header('vary', `${vary}, ${allowed.vary}`)
    }
    done(null, payload)
  })
}
