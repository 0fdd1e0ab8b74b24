import { once } from 'node:events'
import net from 'node:net'
import { hostileReplies, otherReplies } from './hostile-replies.ts'
import { freePort } from './run-tool.ts'
import { encodeStatus } from './status-packets.ts'

export interface HostileServer extends AsyncDisposable {
  readonly port: number
  /** Connections that the client has not closed. */
  readonly open: () => number
  /** Connections so far. */
  readonly accepted: () => number
}

/** A TCP server on loopback that passes each connection to `behave`; everything ends with the test. */
export async function hostileServer(behave: (socket: net.Socket) => void, port?: number): Promise<HostileServer> {
  const sockets = new Set<net.Socket>()
  let accepted = 0
  const server = net.createServer({ allowHalfOpen: true }, (socket) => {
    accepted++
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    // The socket counts as open until the client ends its side.
    socket.on('end', () => socket.destroy())
    behave(socket)
  })
  server.listen(port ?? (await freePort()), '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as net.AddressInfo).port,
    open: () => sockets.size,
    accepted: () => accepted,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Writes `chunk` for as long as the client reads it. */
function stream(socket: net.Socket, chunk: Buffer): void {
  const more = () => {
    while (!socket.destroyed && socket.write(chunk));
  }
  socket.on('drain', more)
  more()
}

const onRequest = (answer: (socket: net.Socket) => void) => (socket: net.Socket) => {
  socket.once('data', () => answer(socket))
  socket.resume()
}
const answer = (bytes: Buffer) => onRequest((socket) => void socket.write(bytes))
const status = (json: string) => answer(encodeStatus(json))

/** Kinds of misbehaving servers, each with the expected error. */
export const hostile: Readonly<Record<string, { readonly behave: (socket: net.Socket) => void; readonly code: string }>> = {
  'sends nothing': { behave: (socket) => void socket.resume(), code: 'timeout' },
  'sends one byte a second': {
    behave(socket) {
      const timer = setInterval(() => socket.write(Buffer.from([0x7f])), 1_000)
      socket.on('close', () => clearInterval(timer))
      socket.resume()
      socket.write(Buffer.from([0x7f]))
    },
    code: 'timeout',
  },
  'sends its answer in single bytes without end': {
    behave: onRequest((socket) => {
      socket.setNoDelay(true)
      socket.write(Buffer.from('ffff3f00', 'hex'))
      const timer = setInterval(() => socket.write(Buffer.from([0x7f])), 1)
      socket.on('close', () => clearInterval(timer))
    }),
    code: 'timeout',
  },
  'claims 2 GB and streams without end': {
    behave: onRequest((socket) => {
      socket.write(Buffer.from('ffffffff07', 'hex'))
      stream(socket, Buffer.alloc(65_536, 0x41))
    }),
    code: 'too_large',
  },
  'claims one byte more than 1 MiB': { behave: answer(Buffer.from('85804000', 'hex')), code: 'too_large' },
  'nests 400,000 arrays': { behave: status('['.repeat(400_000)), code: 'malformed' },
  'sends garbage': { behave: onRequest((socket) => stream(socket, Buffer.alloc(65_536, 0x58))), code: 'malformed' },
  'speaks HTTP': {
    behave: answer(Buffer.from('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n'.repeat(3))),
    code: 'malformed',
  },
  'sends an over-long VarInt': { behave: answer(Buffer.alloc(64, 0xff)), code: 'malformed' },
  'ends its side after the handshake': { behave: onRequest((socket) => socket.end()), code: 'closed' },
  'ends its side within the answer': { behave: onRequest((socket) => socket.end(Buffer.from('640062', 'hex'))), code: 'closed' },
  'resets the connection': { behave: onRequest((socket) => socket.resetAndDestroy()), code: 'closed' },
  'answers null': { behave: status('null'), code: 'malformed' },
  'answers an array': { behave: status('[{"version":{}}]'), code: 'malformed' },
  'answers a number': { behave: status('17'), code: 'malformed' },
  'answers half a JSON': { behave: status('{"version":'), code: 'malformed' },
  'answers with another packet': { behave: answer(Buffer.from('0205aa', 'hex')), code: 'malformed' },
  'sends a favicon of 20 MB': {
    behave: status(JSON.stringify({ favicon: `data:image/png;base64,${'A'.repeat(20_000_000)}` })),
    code: 'too_large',
  },
  'lists 100,000 players': {
    behave: status(
      JSON.stringify({
        players: {
          online: 100_000,
          sample: Array.from({ length: 100_000 }, (_, index) => ({
            name: `Player${index}`,
            id: `069a79f4-44e9-4726-a5be-${String(index).padStart(12, '0')}`,
          })),
        },
      }),
    ),
    code: 'too_large',
  },
}

/** Sends a reply in pieces of seven bytes. */
const drip = (bytes: Buffer) =>
  onRequest((socket) => {
    let at = 0
    const timer = setInterval(() => {
      socket.write(bytes.subarray(at, at + 7))
      at += 7
    }, 1)
    socket.on('close', () => clearInterval(timer))
  })

/** Sends a status reply that differs each time, and repeats the bytes of each ping. */
function statusAndPong(json: string) {
  const replies = [encodeStatus(json), encodeStatus(`${json} `)]
  let count = 0
  return (socket: net.Socket) =>
    void socket.once('data', () => {
      socket.write(replies[count++ % 2]!)
      socket.on('data', (ping: Buffer) => void socket.write(ping))
    })
}

/** Starts so many servers: for each kind and each reply of `hostile-replies.ts`, more than 70, and some a second time. */
export function startHostileServers(count: number): Promise<readonly HostileServer[]> {
  const all = [
    ...Object.values(hostile).map(({ behave }) => behave),
    ...Object.values(hostileReplies).map((make) => statusAndPong(make())),
    ...Object.values(otherReplies).map((bytes) => onRequest((socket) => void socket.write(bytes))),
    drip(encodeStatus(hostileReplies['a text of 1 MiB']!())),
  ]
  return Promise.all(Array.from({ length: count }, (_, index) => hostileServer(all[index % all.length]!)))
}
