import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'

/** The listening port of one protocol of the demo server. */
export interface Listener {
  readonly port: number
  /** Closes every connection and resolves when the port is free. */
  close(): Promise<void>
}

/** Further connections are closed. */
const maxConnections = 200

/**
 * Listens for TCP clients. An error of a socket closes only that socket.
 * @param port 0 for a free port
 * @throws the system error if the port is not available
 */
export async function listenTcp(host: string, port: number, accept: (socket: Socket) => void): Promise<Listener> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => socket.destroy())
    socket.setNoDelay(true)
    accept(socket)
  })
  server.maxConnections = maxConnections
  server.listen(port, host)
  await once(server, 'listening')
  // Errors of accepting a client are ignored.
  server.on('error', () => {})
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    close() {
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      return closed.then(() => undefined)
    },
  }
}
