import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'

/** One protocol of the demo server, listening. */
export interface Listener {
  readonly port: number
  /** Ends every connection and resolves when the port is free. */
  close(): Promise<void>
}

/** A client that keeps more connections open than this is sent away: the server is for trying things out. */
const maxConnections = 200

/**
 * Listens for TCP clients. A socket's errors end that socket only.
 * @param port 0: a free one
 * @throws the system's error when the port cannot be had
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
  // A client that could not be accepted is that client's loss.
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
