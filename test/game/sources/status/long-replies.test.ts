import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it, vi } from 'vitest'
import { type Network, systemNetwork } from '../../../../src/game/network.ts'
import { encodeHello, pingJava } from '../../../../src/game/sources/status/java-ping.ts'
import { systemClock } from '../../../../src/util/clock.ts'
import { hostileServer } from '../../../helpers/hostile-servers.ts'
import { encodeStatus } from '../../../helpers/status-packets.ts'
import { until } from '../../../helpers/until.ts'

const long = encodeStatus(JSON.stringify({ description: 'x'.repeat(200_000) }))
const read = vi.fn((_: { readonly body: Buffer }) => 'decoded')

function ping(port: number, signal = new AbortController().signal, network: Network = systemNetwork) {
  const server = { host: '127.0.0.1', port }
  const options = { network, addresses: [{ address: server.host, family: 4 }], server, hello: encodeHello(server.host, port) }
  return pingJava({ ...options, decoder: { read }, clock: systemClock, phases: undefined, signal, ping: true })
}

it.each([
  ['and a pong', (bytes: Buffer) => bytes],
  ['in the same bytes as another packet', (bytes: Buffer) => Buffer.concat([bytes, Buffer.from('0205aa', 'hex')])],
])('a long reply is read once: %s', async (_, reply) => {
  await using server = await hostileServer((socket) => {
    socket.once('data', () => {
      socket.write(reply(long))
      socket.on('data', (data) => void socket.write(data))
    })
  })
  read.mockClear()
  expect((await ping(server.port)).reply).toBe('decoded')
  expect(read).toHaveBeenCalledTimes(1)
  expect(read.mock.calls[0]?.[0].body.length).toBeGreaterThan(200_000)
})

it('a server may close the connection after a long reply', async () => {
  await using server = await hostileServer((socket) => void socket.once('data', () => socket.end(long)))
  expect((await ping(server.port)).reply).toBe('decoded')
})

it('an error of a long reply is that of its decoder', async () => {
  await using server = await hostileServer((socket) => void socket.once('data', () => socket.end(long)))
  read.mockImplementationOnce(() => {
    throw new Error('broken')
  })
  await expect(ping(server.port)).rejects.toThrow('broken')
})

it('long replies of several servers that arrive at once are read one per turn of the event loop', async () => {
  read.mockReset().mockReturnValue('decoded')
  const sockets = Array.from({ length: 3 }, () =>
    Object.assign(new EventEmitter(), { write() {}, destroy() {}, pause() {}, resume() {} }),
  )
  const pings = sockets.map((socket) =>
    ping(1, undefined, { ...systemNetwork, connect: async () => socket as unknown as Socket }),
  )
  await nextTurn()
  for (const socket of sockets) socket.emit('data', long)
  for (const count of [0, 1, 2, 3]) {
    expect(read).toHaveBeenCalledTimes(count)
    await nextTurn()
  }
  for (const socket of sockets) socket.emit('close')
  expect((await Promise.all(pings)).map(({ reply }) => reply)).toEqual(['decoded', 'decoded', 'decoded'])
})

it('a long reply that waits is not read after the end of the poll', async () => {
  await using server = await hostileServer((socket) => void socket.once('data', () => socket.end(long)))
  read.mockReset().mockReturnValue('decoded')
  const own = new AbortController()
  read.mockImplementationOnce(() => {
    own.abort(new Error('too late'))
    return 'decoded'
  })
  const polls = await Promise.allSettled([ping(server.port, own.signal), ping(server.port, own.signal)])
  await until(() => server.open() === 0)
  await nextTurn()
  expect(polls.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(read).toHaveBeenCalledTimes(1)
})
