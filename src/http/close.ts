import type { FastifyInstance } from 'fastify'

/** Milliseconds between two looks for connections that have become idle. */
const sweep = 50
/** Milliseconds after which connections are cut that still are not idle: a request that never ends must not keep the service. */
const patience = 3000

/**
 * Lets the app close in good time. Fastify closes the connections that are idle at that moment, but one whose reply is
 * under way just then may stay open, kept alive, until its own time limit of more than a minute.
 */
export function registerClose(app: FastifyInstance): void {
  app.addHook('preClose', (done) => {
    const idle = setInterval(() => app.server.closeIdleConnections(), sweep)
    const rest = setTimeout(() => app.server.closeAllConnections(), patience)
    const end = () => {
      clearInterval(idle)
      clearTimeout(rest)
    }
    if (app.server.listening) app.server.once('close', end)
    else end()
    done()
  })
}
