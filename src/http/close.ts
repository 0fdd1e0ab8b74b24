import type { FastifyInstance } from 'fastify'

/** Milliseconds between two checks for connections that have become idle. */
const idleCheckMs = 50
/** Milliseconds after which all connections are closed, so that a request that never ends cannot keep the service running. */
const closeTimeoutMs = 3000

/**
 * Makes the app close quickly. Fastify closes the connections that are idle at that moment, but a keep-alive connection whose
 * reply is being sent could stay open until its idle timeout of more than a minute.
 */
export function registerClose(app: FastifyInstance): void {
  app.addHook('preClose', (done) => {
    const idle = setInterval(() => app.server.closeIdleConnections(), idleCheckMs)
    const timeout = setTimeout(() => app.server.closeAllConnections(), closeTimeoutMs)
    const end = () => {
      clearInterval(idle)
      clearTimeout(timeout)
    }
    if (app.server.listening) app.server.once('close', end)
    else end()
    done()
  })
}
