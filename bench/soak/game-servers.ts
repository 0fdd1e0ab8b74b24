import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { encodeFrame, FrameReader } from '../../src/game/protocol/status/frames.ts'
import { decodeHandshake, encodeStatus } from '../../test/helpers/status-packets.ts'
import { hostOf, indexOf } from '../fleet/hosts.ts'

/** The player count changes once per this many polls. */
const changeEvery = 20

/** The polls of one server by one replica. */
export interface PollCount {
  begun: number
  ended: number
  /** Monotonic milliseconds of the last end. */
  endedAt: number
  /** How many began since another replica polled the server; 0 if that was the last one. */
  inARow: number
}

/** Simulated servers, each at a separate loopback address, that count their polls by replica. */
export interface GameServers {
  address(index: number): string
  /** @param by the replica: the host name of the handshake */
  polls(index: number, by: string): PollCount
  /** The polls of all servers that have begun. */
  total(by?: string): number
  /** Servers whose reply is not a status. Closed connections would be followed by other requests in the same poll. */
  readonly down: Set<number>
}

export async function startGameServers(): Promise<GameServers> {
  const counts = new Map<string, Map<number, PollCount>>()
  const down = new Set<number>()
  /** The polls of the replica that polled the server last. */
  const last = new Map<number, PollCount>()
  const polls = (index: number, by: string): PollCount => {
    const servers = counts.get(by) ?? new Map<number, PollCount>()
    const count = servers.get(index) ?? { begun: 0, ended: 0, endedAt: 0, inARow: 0 }
    counts.set(by, servers.set(index, count))
    return count
  }
  const listener = createServer((socket) => {
    const index = indexOf(socket.localAddress ?? '')
    const frames = new FrameReader()
    let received = 0
    let online = 0
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      frames.push(chunk)
      for (let frame = frames.next(); frame !== undefined; frame = frames.next()) {
        if (received === 0) {
          const count = polls(index, decodeHandshake(frame).host)
          online = Math.floor(count.begun++ / changeEvery) % 1_000
          const before = last.get(index)
          if (before !== undefined && before !== count) before.inARow = 0
          count.inARow++
          last.set(index, count)
          socket.on('close', () => {
            count.ended++
            count.endedAt = performance.now()
          })
        } else if (received === 1) {
          const json = { version: { name: '1.21.11', protocol: 774 }, players: { max: 1_000, online }, description: 'soak' }
          socket.write(encodeStatus(down.has(index) ? 'starting' : JSON.stringify(json)))
        } else socket.write(encodeFrame(1, frame.body))
        received++
      }
    })
  })
  listener.listen({ port: 0, host: '0.0.0.0', backlog: 4_096 })
  await once(listener, 'listening')
  const { port } = listener.address() as AddressInfo
  const total = (by: string) => [...(counts.get(by)?.values() ?? [])].reduce((sum, { begun }) => sum + begun, 0)
  return {
    address: (index) => `${hostOf(index)}:${port}`,
    polls,
    total: (by) => (by === undefined ? [...counts.keys()].reduce((sum, name) => sum + total(name), 0) : total(by)),
    down,
  }
}
