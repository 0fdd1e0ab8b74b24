import type { Socket } from 'node:net'
import { expect, it } from 'vitest'
import { SourceError } from '../../../../src/game/errors.ts'
import { systemNetwork } from '../../../../src/game/network.ts'
import { FrameReader, readVarInt } from '../../../../src/game/protocol/status/frames.ts'
import { StatusSource } from '../../../../src/game/sources/status/index.ts'
import { silentLog } from '../../../../src/util/log.ts'
import { hostileServer } from '../../../helpers/hostile-servers.ts'
import { never } from '../../../helpers/never.ts'
import { patientClock } from '../../../helpers/patient-clock.ts'
import { freePort } from '../../../helpers/run-tool.ts'
import { encodeStatus } from '../../../helpers/status-packets.ts'

/** The protocol of the handshake; undefined for a legacy request. */
function protocolOf(chunk: Buffer): number | undefined {
  if (chunk[0] === 0xfe) return undefined
  const frames = new FrameReader()
  frames.push(chunk)
  return (readVarInt(frames.next()!.body, 0)?.value ?? 0) | 0
}

/** A server that answers each modern request by its protocol, and closes on a legacy one. */
async function serve(answer: (protocol: number, socket: Socket) => unknown) {
  const protocols: number[] = []
  const server = await hostileServer((socket) => {
    socket.once('data', (chunk: Buffer) => {
      const protocol = protocolOf(chunk)
      if (protocol === undefined) return void socket.end()
      protocols.push(protocol)
      answer(protocol, socket)
    })
  })
  return Object.assign(server, { protocols })
}

/** Like a proxy made with Quarry, which closes the connection if it does not know the protocol. */
const like = (name: string, own?: number) => (protocol: number, socket: Socket) =>
  protocol < 0
    ? socket.end()
    : socket.end(encodeStatus(JSON.stringify({ version: { name, protocol: own ?? protocol }, description: 'Hello' })))

let later = 0
const clock = { ...patientClock, now: () => patientClock.now() + later }
const context = { clock, log: silentLog, random: () => 0, push() {} }
const sourceOf = (port: number, network = systemNetwork) =>
  new StatusSource({ edition: 'java', host: '127.0.0.1', port }, { ...context, network })

it('a server that closes on protocol -1 is read by a known number, which is remembered for a while', async () => {
  await using server = await serve(like('Proxy 1.19', 759))
  const source = sourceOf(server.port)
  const read = { version: '1.19', protocol: 759, motd: 'Hello' }
  expect((await source.poll(never())).fields).toMatchObject(read)
  expect(server.protocols).toEqual([-1, 47])
  for (let turn = 0; turn < 3; turn++) expect((await source.poll(never())).fields).toMatchObject(read)
  expect(server.protocols.slice(2)).toEqual([47, 47, 47])
  later += 600_001
  expect((await source.poll(never())).fields).toMatchObject(read)
  expect(server.protocols.slice(5)).toEqual([-1, 47])
})

it('the version that a server repeats from the request is unknown', async () => {
  await using server = await serve(like('1.8.8'))
  const source = sourceOf(server.port)
  for (let turn = 0; turn < 2; turn++) {
    const { fields } = await source.poll(never())
    expect(fields).toMatchObject({ edition: 'java', motd: 'Hello' })
    expect(fields).not.toHaveProperty('version')
    expect(fields).not.toHaveProperty('protocol')
  }
})

it('a server that closes on the known number later is read by -1 again', async () => {
  let isReplaced = false
  await using server = await serve((protocol, socket) => {
    if (isReplaced === protocol < 0) like('1.21.11', 774)(Math.abs(protocol), socket)
    else socket.end()
  })
  const source = sourceOf(server.port)
  await source.poll(never())
  isReplaced = true
  expect((await source.poll(never())).fields).toMatchObject({ protocol: 774 })
  const { length } = server.protocols
  expect((await source.poll(never())).fields).toMatchObject({ protocol: 774 })
  expect(server.protocols.slice(length)).toEqual([-1])
})

it.each<[string, string, (socket: Socket) => unknown]>([
  ['closes during its reply', 'closed', (socket) => socket.end(Buffer.from([5, 0]))],
  ['sends no status', 'malformed', (socket) => socket.end(Buffer.from('SSH-2.0-OpenSSH_9.9\r\n'))],
])('a server that %s is requested once', async (_, code, answer) => {
  await using server = await serve((_protocol, socket) => answer(socket))
  await expect(sourceOf(server.port).poll(never())).rejects.toMatchObject({ code })
  expect(server.protocols).toEqual([-1])
})

it('a server that is down is requested once', async () => {
  let connections = 0
  const network = {
    ...systemNetwork,
    connect: (...args: Parameters<typeof systemNetwork.connect>) => {
      connections++
      return systemNetwork.connect(...args)
    },
  }
  await expect(sourceOf(await freePort(), network).poll(never())).rejects.toMatchObject({ code: 'refused' })
  expect(connections).toBe(1)
})

it('a server that answers neither way fails, at the deadline at the latest', async () => {
  await using server = await serve((protocol, socket) => protocol < 0 && socket.end())
  const deadline = new AbortController()
  const reading = sourceOf(server.port).poll(deadline.signal)
  reading.catch(() => {})
  await expect.poll(() => server.protocols.includes(47)).toBe(true)
  deadline.abort(new SourceError('timeout', 'late'))
  await expect(reading).rejects.toMatchObject({ code: 'timeout' })
  await expect.poll(server.open).toBe(0)
})

it('another server, which SRV records name, is sent -1 first', async () => {
  await using proxy = await serve(like('1.19', 759))
  await using other = await serve((protocol, socket) => like('1.21.11', 774)(Math.abs(protocol), socket))
  let port = proxy.port
  const network = {
    ...systemNetwork,
    lookup: async () => [{ address: '127.0.0.1', family: 4 }],
    resolveSrv: async () => [{ name: 'srv.example.org', port, priority: 0, weight: 0 }],
  }
  const source = new StatusSource({ edition: 'java', host: 'mc.example.org', port: 25_565 }, { ...context, network })
  expect((await source.poll(never())).fields.protocol).toBe(759)
  expect((await source.poll(never())).fields.protocol).toBe(759)
  expect(proxy.protocols.at(-1)).toBe(47)
  port = other.port
  expect((await source.poll(never())).fields.protocol).toBe(774)
  expect(other.protocols).toEqual([-1])
})
