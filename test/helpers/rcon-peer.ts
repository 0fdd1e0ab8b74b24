import { once } from 'node:events'
import net from 'node:net'
import { freePort } from './run-tool.ts'

export interface RconPeer {
  readonly port: number
  readonly address: { readonly host: string; readonly port: number }
  /** Every command that arrived. */
  readonly commands: string[]
  /** Logins so far, right or wrong. */
  logins: number
  readonly sockets: Set<net.Socket>
  close(): Promise<void>
}

export interface Request {
  readonly socket: net.Socket
  readonly id: number
  readonly type: number
  readonly body: string
}

/** A packet of a peer; `length` overrides the real length. */
export function packet(id: number, type: number, body: string | Buffer, length?: number): Buffer {
  const text = Buffer.from(body)
  const bytes = Buffer.alloc(14 + text.length)
  bytes.writeInt32LE(length ?? 10 + text.length, 0)
  bytes.writeInt32LE(id, 4)
  bytes.writeInt32LE(type, 8)
  text.copy(bytes, 12)
  return bytes
}

/** Answers a login with any password. */
export const acceptLogin = ({ socket, id }: Request): void => void socket.write(packet(id, 2, ''))

/**
 * An RCON server with answers of the test. Like the game, it requires each packet to arrive in one read, or closes the
 * connection.
 * @param onRequest called with every packet except logins
 */
export async function listenRconPeer(
  onRequest: (request: Request) => void,
  onLogin: (request: Request) => void = acceptLogin,
): Promise<RconPeer> {
  const server = net.createServer((socket) => {
    peer.sockets.add(socket)
    socket.on('close', () => peer.sockets.delete(socket))
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      if (chunk.length < 14 || chunk.length > 1460 || chunk.readInt32LE(0) !== chunk.length - 4) return socket.destroy()
      const request = {
        socket,
        id: chunk.readInt32LE(4),
        type: chunk.readInt32LE(8),
        body: chunk.toString('utf8', 12, chunk.length - 2),
      }
      if (request.type === 3) {
        peer.logins++
        return onLogin(request)
      }
      if (request.type === 2) peer.commands.push(request.body)
      onRequest(request)
    })
  })
  server.listen(await freePort(), '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as net.AddressInfo
  const peer: RconPeer = {
    port,
    address: { host: '127.0.0.1', port },
    commands: [],
    logins: 0,
    sockets: new Set(),
    async close() {
      for (const socket of peer.sockets) socket.destroy()
      if (server.listening) await new Promise((resolve) => server.close(resolve))
    },
  }
  return peer
}
