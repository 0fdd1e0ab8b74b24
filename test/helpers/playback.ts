import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { WebSocketServer } from 'ws'
import { decodeChunk, encodeRconPacket, maxPacketLength, RconDecoder, rconType } from '../../src/game/protocol/rcon/packets.ts'
import { FrameReader } from '../../src/game/protocol/status/frames.ts'
import type { GivenSources } from '../../src/game/server-settings.ts'

interface Fixture {
  readonly protocol: string
  readonly encoding: 'hex' | 'utf8'
  readonly exchanges: readonly { readonly request: string; readonly sent: string; readonly received: readonly string[] }[]
}

/** The answers of a fixture by request. */
function answersOf(folder: string, protocol: string): ReadonlyMap<string, readonly Buffer[]> | undefined {
  const file = join(folder, `${protocol}.json`)
  if (!existsSync(file)) return undefined
  const { encoding, exchanges } = JSON.parse(readFileSync(file, 'utf8')) as Fixture
  return new Map(exchanges.map(({ request, received }) => [request, received.map((text) => Buffer.from(text, encoding))]))
}

export interface Playback {
  /** The settings of a server to read it from the recording. */
  readonly sources: GivenSources
  close(): Promise<void>
}

type Answers = ReadonlyMap<string, readonly Buffer[]>

async function listen(onSocket: (socket: Socket) => void): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    onSocket(socket)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, port: (server.address() as AddressInfo).port }
}

const playStatus = (answers: Answers) =>
  listen((socket) => {
    const legacy = answers.get('legacy')
    if (legacy !== undefined) {
      socket.once('data', ([first]) => (first === 0xfe ? socket.end(Buffer.concat(legacy)) : socket.destroy()))
      return
    }
    const frames = new FrameReader()
    let count = 0
    socket.on('data', (chunk: Buffer) => {
      frames.push(chunk)
      // The handshake, the status request, the ping.
      for (let frame = frames.next(); frame !== undefined; frame = frames.next())
        for (const bytes of answers.get(['', 'status', 'ping'][count++] ?? '') ?? []) socket.write(bytes)
    })
  })

const playRcon = (answers: Answers) =>
  listen((socket) => {
    const decoder = new RconDecoder()
    socket.on('data', (chunk: Buffer) => {
      for (const { id, type, body } of decodeChunk(decoder, chunk)) {
        const request = type === rconType.login ? 'login' : type === rconType.endMark ? 'end mark' : body
        for (const bytes of answers.get(request) ?? []) {
          const [packet] = [...decodeChunk(new RconDecoder(), bytes)]
          socket.write(encodeRconPacket({ ...packet!, id: packet!.id === -1 ? -1 : id }, maxPacketLength))
        }
      }
    })
  })

/** A UDP socket that passes each datagram to `answer`, and sends the result back. */
async function listenUdp(answer: (datagram: Buffer) => readonly Buffer[]) {
  const socket = createSocket('udp4')
  socket.on('message', (datagram, { address, port }) => {
    for (const bytes of answer(datagram)) socket.send(bytes, port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return socket
}

const playQuery = (answers: Answers) =>
  listenUdp((datagram) =>
    (answers.get(datagram[2] === 9 ? 'challenge' : 'full stat') ?? []).map((bytes) =>
      // The session is that of the request.
      Buffer.concat([bytes.subarray(0, 1), datagram.subarray(3, 7), bytes.subarray(5)]),
    ),
  )

async function playManagement(answers: Answers): Promise<WebSocketServer> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  server.on('connection', (ws) =>
    ws.on('message', (data) => {
      const { id, method } = JSON.parse(String(data)) as { id: number; method: string }
      for (const bytes of answers.get(method) ?? []) ws.send(JSON.stringify({ ...JSON.parse(String(bytes)), id }))
    }),
  )
  return server
}

/**
 * Servers that replay the answers of a recorded server to any client.
 * @param folder written by `tickwarden record`
 */
export async function playBack(folder: string): Promise<Playback> {
  const ends: (() => unknown)[] = []
  const sources: Record<string, object> = {}
  const found = (protocol: string) => answersOf(folder, protocol)
  const [status, rcon, query, management] = ['status', 'rcon', 'query', 'management'].map(found)
  const pong = status?.get('unconnected ping')
  if (pong !== undefined) {
    const socket = await listenUdp(() => pong)
    sources.status = { address: { edition: 'bedrock', host: '127.0.0.1', port: socket.address().port } }
    ends.push(() => socket.close())
  } else if (status !== undefined) {
    const { server, port } = await playStatus(status)
    sources.status = { address: { edition: 'java', host: '127.0.0.1', port } }
    ends.push(() => server.close())
  }
  if (rcon !== undefined) {
    const { server, port } = await playRcon(rcon)
    sources.rcon = { address: { host: '127.0.0.1', port }, password: 'password' }
    ends.push(() => server.close())
  }
  if (query !== undefined) {
    const socket = await playQuery(query)
    sources.query = { address: { host: '127.0.0.1', port: socket.address().port } }
    ends.push(() => socket.close())
  }
  if (management !== undefined) {
    const server = await playManagement(management)
    sources.management = { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`, secret: 'secret' }
    ends.push(() => server.close())
  }
  return {
    sources: sources as GivenSources,
    async close() {
      for (const end of ends) end()
    },
  }
}
