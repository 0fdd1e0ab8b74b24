import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { freePort } from './run-tool.ts'

export interface QueryAnswers {
  hostname: Buffer
  version: string
  plugins: string
  map: string
  names: readonly string[]
  online?: number
  gameId?: string
  /** A token of four raw bytes; then the full stat has eight bytes after the token, as with Nukkit. */
  rawToken?: Buffer
  /** Sent after it; default: NUL. */
  rawTokenEnd?: Buffer
}

/** The full stat as the game writes it, with the values in its order. */
export function fullStat(
  session: Buffer,
  { hostname, version, plugins, map, names, online = names.length, gameId = 'MINECRAFT' }: QueryAnswers,
  port: number,
) {
  const pairs: [string, Buffer | string][] = [
    ['hostname', hostname],
    ['gametype', 'SMP'],
    ['game_id', gameId],
    ['version', version],
    ['plugins', plugins],
    ['map', map],
    ['numplayers', String(online)],
    ['maxplayers', '20'],
    ['hostport', String(port)],
    ['hostip', '127.0.0.1'],
  ]
  const values = pairs.flatMap(([key, value]) => [Buffer.from(`${key}\0`), Buffer.from(value), Buffer.from([0])])
  const players = names.map((name) => Buffer.from(`${name}\0`))
  return Buffer.concat([
    Buffer.from([0]),
    session,
    Buffer.from('splitnum\0\x80\0', 'latin1'),
    ...values,
    Buffer.from('\0\x01player_\0\0'),
    ...players,
    Buffer.from([0]),
  ])
}

/** The basic stat. */
export function basicStat(session: Buffer, { hostname, map, names, online = names.length }: QueryAnswers, port: number) {
  const texts = Buffer.from(`\0SMP\0${map}\0${online}\x0020\0`)
  return Buffer.concat([
    Buffer.from([0]),
    session,
    hostname,
    texts,
    Buffer.from([port & 0xff, port >> 8]),
    Buffer.from('127.0.0.1\0'),
  ])
}

/** A query server like that of the game: a token per peer, no reply to a wrong one. `lose` drops the next datagrams. */
export async function queryServer(given: Partial<QueryAnswers> = {}) {
  const socket = createSocket('udp4')
  const answers: QueryAnswers = {
    hostname: Buffer.from('A §aMinecraft Server', 'latin1'),
    version: '1.21.4',
    plugins: '',
    map: 'world',
    names: ['Alice', 'Bob'],
    ...given,
  }
  const tokens = new Map<string, number>()
  const server = {
    port: 0,
    answers,
    lose: 0,
    requests: 0,
    reply: undefined as ((stat: Buffer) => Buffer) | undefined,
    close: () => socket.close(),
  }
  socket.on('message', (datagram, { address, port }) => {
    server.requests++
    if (server.lose-- > 0) return
    const session = datagram.subarray(3, 7)
    const { rawToken, rawTokenEnd = Buffer.from([0]) } = server.answers
    if (rawToken !== undefined) {
      const isFull = datagram.length === 19 && datagram.subarray(7, 11).equals(rawToken)
      const reply =
        datagram[2] === 9
          ? Buffer.concat([Buffer.from([9]), session, rawToken, rawTokenEnd])
          : isFull
            ? fullStat(session, server.answers, server.port)
            : basicStat(session, server.answers, server.port)
      socket.send(server.reply ? server.reply(reply) : reply, port, address)
    } else if (datagram[2] === 9) {
      const token = 9_513_307 + tokens.size
      tokens.set(`${address}:${port}`, token)
      socket.send(Buffer.concat([Buffer.from([9]), session, Buffer.from(`${token}\0`)]), port, address)
    } else if (datagram.length === 15 && datagram.readInt32BE(7) === tokens.get(`${address}:${port}`)) {
      const stat = fullStat(session, server.answers, server.port)
      socket.send(server.reply ? server.reply(stat) : stat, port, address)
    }
  })
  socket.bind(await freePort(), '127.0.0.1')
  await once(socket, 'listening')
  server.port = socket.address().port
  return server
}
