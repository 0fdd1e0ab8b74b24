import { once } from 'node:events'
import net from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/clock.ts'
import { createFrameReader } from '../../../src/game/protocol/frames.ts'
import { decodeHandshake, decodePing, encodePing, encodeStatus, type Handshake } from '../../../src/game/protocol/status.ts'
import { createStatusSource } from '../../../src/game/sources/status.ts'
import { silentLog } from '../../../src/log.ts'

const context = { clock: systemClock, log: silentLog, random: () => 0, push() {} }
const servers: net.Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) server.close()
})

async function serve(json: string, { pong = true } = {}): Promise<{ port: number; handshakes: Handshake[]; server: net.Server }> {
  const handshakes: Handshake[] = []
  const server = net.createServer((socket) => {
    const reader = createFrameReader()
    let shaken = false
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      reader.push(chunk)
      for (let frame = reader.next(); frame; frame = reader.next()) {
        const payload = decodePing(frame)
        if (!shaken) {
          handshakes.push(decodeHandshake(frame))
          shaken = true
        } else if (payload === undefined) socket.write(encodeStatus(json))
        else if (pong) socket.write(encodePing(payload))
      }
    })
  })
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: (server.address() as net.AddressInfo).port, handshakes, server }
}

describe('status of a modern server', () => {
  it('is read', async () => {
    const { port, handshakes } = await serve(
      JSON.stringify({
        version: { name: 'Paper 1.21.11', protocol: 774 },
        players: { max: 20, online: 1, sample: [{ name: 'Alice', id: '11111111-2222-3333-4444-555555555555' }] },
        description: { text: 'Hello ', extra: [{ text: 'world' }] },
      }),
    )
    const source = createStatusSource({ edition: 'java', host: '127.0.0.1', port }, context)
    const { fields } = await source.poll(AbortSignal.timeout(3_000))
    expect(fields).toEqual({
      edition: 'java',
      version: '1.21.11',
      software: 'Paper',
      protocol: 774,
      motd: 'Hello world',
      playersOnline: 1,
      playersMax: 20,
      players: { players: [{ name: 'Alice', id: '11111111-2222-3333-4444-555555555555' }], complete: false },
      secureChatEnforced: false,
      ip: '127.0.0.1',
      port,
      latency: expect.any(Number),
    })
    expect(fields.latency).toBeGreaterThan(0)
    expect(handshakes).toEqual([{ protocol: -1, host: '127.0.0.1', port, next: 1 }])
  })
})
