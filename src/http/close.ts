import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** Milliseconds between two checks for connections that have become idle. */
const idleCheckMs = 50
/** Milliseconds after which all connections are closed, so that a reply that never ends cannot keep the service running. */
const closeTimeoutMs = 2_000

/**
 * Makes the app close quickly: connections without a complete request are closed immediately, and the others once their reply has been sent.
 * Fastify closes only the connections that are idle at that moment, but one whose request is incomplete, or whose reply is being
 * sent, could stay open until its timeout of more than a minute.
 */
export function registerClose(app: FastifyInstance): void {
  /** The last request of each open connection whose reply has not ended. */
  const open = new Map<Socket, IncomingMessage | undefined>()
  app.server.on('connection', (socket: Socket) => {
    open.set(socket, undefined)
    socket.once('close', () => open.delete(socket))
  })
  app.server.on('request', (request, response) => {
    const { socket } = request
    if (open.has(socket)) open.set(socket, request)
    response.once('close', () => {
      if (open.get(socket) === request) open.set(socket, undefined)
    })
  })
  app.addHook('preClose', (done) => {
    const closeIdle = () => {
      app.server.closeIdleConnections()
      for (const [socket, request] of open) if (request?.complete !== true) socket.destroy()
    }
    const idle = setInterval(closeIdle, idleCheckMs)
    const timeout = setTimeout(() => app.server.closeAllConnections(), closeTimeoutMs)
    const end = () => {
      clearInterval(idle)
      clearTimeout(timeout)
    }
    if (app.server.listening) app.server.once('close', end)
    else end()
    closeIdle()
    done()
  })
}
