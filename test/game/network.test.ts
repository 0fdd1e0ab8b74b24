import { getEventListeners, once } from 'node:events'
import net, { type AddressInfo } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { addressesOf, addressOfServer, createNetwork, type Network, systemNetwork } from '../../src/game/network.ts'
import { hostileServer } from '../helpers/hostile-servers.ts'
import { manualClock } from '../helpers/manual-clock.ts'
import { never } from '../helpers/never.ts'
import { freePort } from '../helpers/run-tool.ts'

const v4 = { address: '127.0.0.1', family: 4 }
const v6 = { address: '::1', family: 6 }
/** The system refuses it at once, like an address that it has no route to. */
const unreachable = { address: '255.255.255.255', family: 4 }

/** A server on 127.0.0.1 that greets. */
async function listen(): Promise<number> {
  const server = net.createServer((socket) => socket.on('error', () => {}).end('hello'))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

async function connect(
  addresses: Parameters<typeof systemNetwork.connect>[0],
  port: number,
  { signal } = new AbortController(),
): Promise<net.Socket> {
  const socket = await systemNetwork.connect(addresses, port, signal, { usesChunksAtOnce: true })
  onTestFinished(() => void socket.destroy())
  return socket
}

/**
 * A server whose queue of connections is full: the system drops the first packet of another one, which is sent again after a second.
 * @returns its port, and a function that makes room
 */
async function busyServer(): Promise<{ readonly port: number; readonly makeRoom: () => void }> {
  const gate = new Int32Array(new SharedArrayBuffer(4))
  const worker = new Worker(
    `const { createServer } = require('node:net')
     const { parentPort, workerData } = require('node:worker_threads')
     const server = createServer((socket) => socket.on('error', () => {}))
     server.listen({ host: '127.0.0.1', port: 0, backlog: 1 }, () => {
       parentPort.postMessage(server.address().port)
       Atomics.wait(workerData, 0, 0)
     })`,
    { eval: true, workerData: gate },
  )
  const makeRoom = () => {
    Atomics.store(gate, 0, 1)
    Atomics.notify(gate, 0)
  }
  const [port] = (await once(worker, 'message')) as [number]
  const waiting = Array.from({ length: 4 }, () => net.connect(port, '127.0.0.1').on('error', () => {}))
  onTestFinished(async () => {
    makeRoom()
    for (const socket of waiting) socket.destroy()
    await worker.terminate()
  })
  await Promise.all(waiting.slice(0, 2).map((socket) => once(socket, 'connect')))
  return { port, makeRoom }
}

describe('a connection to a name with several addresses', () => {
  it.each([
    ['the first', [v4, unreachable]],
    ['the last', [unreachable, { address: 'fe80::1', family: 6 }, v4]],
    ['one in between', [v6, v4, unreachable]],
  ])('is made to %s if the others cannot be reached', async (_, addresses) => {
    const socket = await connect(addresses, await listen())
    expect(socket).toMatchObject({ remoteAddress: '127.0.0.1', localAddress: '127.0.0.1', localPort: expect.any(Number) })
    expect(String(await once(socket, 'data'))).toBe('hello')
    await once(socket, 'end')
  })

  it('is made to a server that takes long to accept it, although the other address cannot be reached', async () => {
    const { port, makeRoom } = await busyServer()
    const connecting = connect([v4, unreachable], port)
    for (let turn = 0; turn < 3; turn++) await setImmediate()
    makeRoom()
    expect((await connecting).remoteAddress).toBe('127.0.0.1')
  })

  it('fails with the error of the first address that refuses it', async () => {
    const port = await freePort()
    const refused = { code: 'ECONNREFUSED', address: '127.0.0.1' }
    await expect(connect([v4, v6, unreachable], port)).rejects.toMatchObject(refused)
    // Not with that of an address that this machine has no route to.
    await expect(connect([unreachable, v4], port)).rejects.toMatchObject(refused)
    await expect(connect([], port)).rejects.toMatchObject({ code: 'ENOTFOUND' })
  })

  it('is given up when it is aborted', async () => {
    const { port } = await busyServer()
    const opened = vi.spyOn(net, 'connect')
    const deadline = new AbortController()
    const connecting = connect([v4, { address: '127.0.0.2', family: 4 }], port, deadline)
    for (let turn = 0; turn < 3; turn++) await setImmediate()
    deadline.abort(new Error('late'))
    await expect(connecting).rejects.toThrow('late')
    const sockets = opened.mock.results.map(({ value }) => value as net.Socket)
    opened.mockRestore()
    expect(sockets.map(({ destroyed }) => destroyed)).toEqual(sockets.map(() => true))
    expect(sockets.length).toBeGreaterThan(0)
  })
})

/** For documentation (RFC 5737): it never answers, or there is no route. */
const silent = [{ address: '192.0.2.1', family: 4 }]

it('connects, and listens to the signal no longer', async () => {
  await using server = await hostileServer(() => {})
  const { signal } = new AbortController()
  const socket = await systemNetwork.connect([v4], server.port, signal)
  expect(socket.remotePort).toBe(server.port)
  expect(getEventListeners(signal, 'abort')).toEqual([])
  // Nobody listens yet.
  socket.destroy(new Error('reset'))
})

it('rejects with the error of the system', async () => {
  const { signal } = new AbortController()
  await expect(systemNetwork.connect([v4], await freePort(), signal)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

it('rejects with the reason of the signal while it connects', async () => {
  const deadline = new AbortController()
  const connecting = systemNetwork.connect(silent, 25565, deadline.signal)
  deadline.abort(new Error('late'))
  await expect(connecting).rejects.toThrow('late')
})

it('opens no connection if it is already aborted', async () => {
  await using server = await hostileServer(() => {})
  await expect(systemNetwork.connect([v4], server.port, AbortSignal.abort(new Error('late')))).rejects.toThrow('late')
  expect(server.accepted()).toBe(0)
})

it.each<[string, readonly { address: string; family: number }[], Partial<Network>, string | undefined]>([
  ['one IPv4 address', [{ address: '192.0.2.7', family: 4 }], {}, '192.0.2.7'],
  ['several addresses', [v4, ...silent], {}, '127.0.0.2'],
  ['an IPv6 address, as the system writes it', [{ address: '0:0::1', family: 6 }], {}, '127.0.0.2'],
  ['an address behind a proxy', [{ address: '192.0.2.7', family: 0 }], { tcpOnly: true }, '192.0.2.7'],
  ['a name behind a proxy', [{ address: 'mc.example', family: 0 }], { tcpOnly: true }, undefined],
  ['nothing behind a proxy', [], { tcpOnly: true }, undefined],
])('the address of a server with %s', (_, addresses, network, expected) => {
  const socket = { remoteAddress: '127.0.0.2' } as Parameters<typeof addressOfServer>[0]
  expect(addressOfServer(socket, addresses, { ...systemNetwork, ...network })).toBe(expected)
})

it('looks up a name again, long before its TTL ends, if no server was reached at its address', async () => {
  const clock = manualClock()
  const answers = [unreachable, v4]
  const network = createNetwork({
    clock,
    servers: 1,
    resolver: {
      addresses: async () => ({ value: [answers.shift() ?? v6], ttlSeconds: 600 }),
      srv: async () => ({ value: [] }),
      close() {},
    },
  })
  const port = await listen()
  const reach = async () => network.connect(await addressesOf('mc.example.org', network, never()), port, never())
  await expect(reach()).rejects.toThrow()
  await clock.advance(30_000)
  const socket = await reach()
  socket.destroy()
  await clock.advance(60_000)
  expect(await addressesOf('mc.example.org', network, never())).toEqual([v4])
})
