import type { FastifyInstance, onRequestHookHandler } from 'fastify'

declare module 'fastify' {
  interface FastifyReply {
    /** Header names and values in turn that let pages of other origins read the reply; null where they may not. */
    crossOrigin: readonly string[] | null
  }
}

/** What a page may read of a reply besides its body. */
const exposed = 'ETag, Link, Retry-After, X-Favicon, X-Snapshot-Age, X-Snapshot-Source, X-Total-Count'

/** Lets pages of `origin` read every reply, errors included, but of routes with `config.crossOrigin: false`. */
export function registerCors(app: FastifyInstance, origin: string): void {
  const names: Readonly<Record<string, string>> = {
    'access-control-allow-origin': origin,
    'access-control-expose-headers': exposed,
    ...(origin !== '*' && { vary: 'Origin' }),
  }
  const allowed = Object.entries(names).flat()
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
      reply.headers(names)
      if (vary !== undefined && names.vary !== undefined) reply.header('vary', `${vary}, ${names.vary}`)
    }
    done(null, payload)
  })
}
