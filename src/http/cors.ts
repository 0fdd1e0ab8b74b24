import type { FastifyInstance } from 'fastify'

/** Lets pages of `origin` read every reply, errors included, but of routes with `config.crossOrigin: false`. */
export function registerCors(app: FastifyInstance, origin: string): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (request.routeOptions.config.crossOrigin !== false) {
      reply.header('access-control-allow-origin', origin)
      if (origin !== '*') reply.header('vary', 'Origin')
    }
    done()
  })
}
