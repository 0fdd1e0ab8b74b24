import { once } from 'node:events'
import net, { type AddressInfo } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { describe, expect, it, onTestFinished } from 'vitest'
import { systemNetwork } from '../../src/game/network.ts'
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

function connect(addresses: Parameters<typeof systemNetwork.connect>[0], port: number): net.Socket {
  const socket = systemNetwork.connect(addresses, port, { usesChunksAtOnce: true })
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
    const socket = connect(addresses, await listen())
    await once(socket, 'connect')
    expect(socket).toMatchObject({ remoteAddress: '127.0.0.1', localAddress: '127.0.0.1', localPort: expect.any(Number) })
    expect(String(await once(socket, 'data'))).toBe('hello')
    await once(socket, 'end')
  })

  it('is made to a server that takes long to accept it, although the other address cannot be reached', async () => {
    const { port, makeRoom } = await busyServer()
    const socket = connect([v4, unreachable], port)
    const connected = once(socket, 'connect')
    for (let turn = 0; turn < 3; turn++) await setImmediate()
    makeRoom()
    await connected
    expect(socket.remoteAddress).toBe('127.0.0.1')
  })

  it('fails with the first error if all addresses refuse it', async () => {
    const port = await freePort()
    const socket = connect([v4, v6, unreachable], port)
    expect(await once(socket, 'error')).toMatchObject([{ code: 'ECONNREFUSED', address: '127.0.0.1' }])
    await expect(once(connect([], port), 'connect')).rejects.toMatchObject({ code: 'dns' })
  })

  it('is given up when it is destroyed', async () => {
    const { port } = await busyServer()
    const countSockets = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length
    const before = countSockets()
    const socket = connect([v4, { address: '127.0.0.2', family: 4 }], port)
    for (let turn = 0; turn < 3; turn++) await setImmediate()
    socket.destroy()
    await once(socket, 'close')
    // Sockets of earlier test files may be closed at the same time.
    await expect.poll(countSockets).toBeLessThanOrEqual(before)
  })
})
