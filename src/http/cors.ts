import type { FastifyInstance } from 'fastify'

/** What a page may read of a reply besides its body. */
const exposed = 'ETag, Link, Retry-After, X-Favicon, X-Snapshot-Age, X-Snapshot-Source, X-Total-Count'

/** Lets pages of `origin` read every reply, errors included, but of routes with `config.crossOrigin: false`. */
export function registerCors(app: FastifyInstance, origin: string): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (request.routeOptions.config.crossOrigin !== false) {
      reply.header('access-control-allow-origin', origin)
      reply.header('access-control-expose-headers', exposed)
      if (origin !== '*') reply.header('vary', 'Origin')
    }
    done()
  })
}
