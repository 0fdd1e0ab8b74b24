import { createSocket, type RemoteInfo } from 'node:dgram'
import { once } from 'node:events'
import type { AddressInfo, Server, Socket } from 'node:net'

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
export async function listen(server: Server, host: string, port: number): Promise<Listener> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => socket.destroy())
  })
  server.maxConnections = maxConnections
  server.listen(port, host)
  await once(server, 'listening')
  // Errors of accepting a client are ignored.
  server.on('error', () => {})
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

/**
 * Listens for datagrams.
 * @param answer returns the reply; undefined for none
 * @throws the system error if the port is not available
 */
export async function listenUdp(
  host: string,
  port: number,
  answer: (request: Buffer, from: RemoteInfo) => Buffer | undefined,
): Promise<Listener> {
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4')
  socket.on('message', (request, from) => {
    const reply = answer(request, from)
    // Send errors are ignored, like in the game: the reply may be too long for a datagram, or the client gone.
    if (reply !== undefined) socket.send(reply, from.port, from.address, () => {})
  })
  socket.bind(port, host)
  await once(socket, 'listening')
  socket.on('error', () => {})
  return {
    port: socket.address().port,
    async close() {
      const closed = once(socket, 'close')
      socket.close()
      await closed
    },
  }
}
