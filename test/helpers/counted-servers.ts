import { once } from 'node:events'
import net, { type AddressInfo } from 'node:net'
import { encodeFrame, FrameReader } from '../../src/game/protocol/status/frames.ts'
import { decodeHandshake, encodeStatus } from './status-packets.ts'
import { onTestFinished } from './test-end.ts'

/** The poller: the host name in the handshake. */
export interface Poll {
  readonly server: number
  readonly by: string
  readonly at: number
}

export interface CountedServers {
  /** `host:port` of each. */
  readonly addresses: readonly string[]
  readonly polls: readonly Poll[]
  newestPoll(server: number): Poll | undefined
  /** Servers that close every connection at once. */
  readonly down: Set<number>
  /** When a server replied with this player count. */
  repliedAt(server: number, online: number): number
  /** When it noticed that the poller had read that reply, which a busy machine delays. */
  readAt(server: number, online: number): number
  /** By server, the pollers since then with at least this many polls. */
  pollersSince(at: number, atLeast?: number): ReadonlyMap<number, ReadonlySet<string>>
}

/** @param online of every reply of a server, one more than before, so that a value shows how old it is */
const jsonOf = (online: number) =>
  JSON.stringify({ version: { name: '1.21.11', protocol: 774 }, players: { max: 1_000_000, online }, description: 'counted' })
const pong = 1

/** Game servers, each at a separate loopback address, that count their polls by poller. */
export async function startCountedServers(count: number): Promise<CountedServers> {
  const polls: Poll[] = []
  const newest = new Map<number, Poll>()
  const add = (poll: Poll) => {
    polls.push(poll)
    newest.set(poll.server, poll)
  }
  const replies = new Map<number, number[]>()
  const reads = new Map<number, number[]>()
  const down = new Set<number>()
  const sockets = new Set<net.Socket>()
  const listener = net.createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    const [, , high, low] = (socket.localAddress ?? '').replace('::ffff:', '').split('.').map(Number)
    const server = (high! - 1) * 250 + low! - 1
    if (down.has(server)) return void socket.destroy()
    const frames = new FrameReader()
    let greeted = false
    let isAnswered = false
    let isRead = () => {}
    // Without a ping, it is closed once the reply is read.
    socket.once('close', () => isRead())
    socket.on('data', (chunk) => {
      // What follows if a server is down: a request in the format of old versions, and one with TLS.
      if (!greeted && (chunk[0] === 0xfe || (chunk[0] === 0x16 && chunk[1] === 0x03))) return void socket.destroy()
      frames.push(chunk)
      for (let frame = frames.next(); frame !== undefined; frame = frames.next()) {
        if (!greeted) add({ server, by: decodeHandshake(frame).host, at: performance.now() })
        else if (isAnswered) {
          isRead()
          socket.write(encodeFrame(pong, frame.body))
        } else {
          isAnswered = true
          const times = replies.get(server) ?? []
          replies.set(server, times)
          const count = times.push(performance.now())
          const ends = reads.get(server) ?? []
          reads.set(server, ends)
          isRead = () => {
            ends[count - 1] ??= performance.now()
          }
          socket.write(encodeStatus(jsonOf(count)))
        }
        greeted = true
      }
    })
  })
  listener.listen({ port: 0, host: '0.0.0.0', backlog: 1_024 })
  await once(listener, 'listening')
  const { port } = listener.address() as AddressInfo
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    listener.close()
    await once(listener, 'close')
  })
  return {
    addresses: Array.from({ length: count }, (_, index) => `127.0.${1 + Math.floor(index / 250)}.${(index % 250) + 1}:${port}`),
    polls,
    down,
    repliedAt: (server, online) => replies.get(server)?.[online - 1] ?? Number.NaN,
    readAt: (server, online) => reads.get(server)?.[online - 1] ?? Number.NaN,
    newestPoll: (server) => newest.get(server),
    pollersSince(since, atLeast = 1) {
      const counts = new Map<number, Map<string, number>>()
      const first = polls.findLastIndex(({ at }) => at < since) + 1
      for (const { server, by } of polls.slice(first)) {
        const of = counts.get(server) ?? new Map<string, number>()
        counts.set(server, of.set(by, (of.get(by) ?? 0) + 1))
      }
      return new Map(
        [...counts].map(([server, of]) => [server, new Set([...of].flatMap(([by, n]) => (n >= atLeast ? [by] : [])))]),
      )
    },
  }
}
