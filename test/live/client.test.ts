import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
// wait: the buffers are full when nothing has been sent for a time.
import { setTimeout } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { createEventClient } from '../../src/live/client.ts'
import { createTurns } from '../../src/live/turns.ts'
import { until } from '../helpers/until.ts'

/** A client on a real connection that does not read until `resume`, with unsent bytes. */
async function stalledClient() {
  const server = createServer()
  const responded = new Promise<ServerResponse>((resolve) => server.once('request', (_, response) => resolve(response)))
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.on('error', () => {}).pause()
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  const sink = await responded
  onTestFinished(() => {
    socket.destroy()
    server.close()
  })
  const reasons: string[] = []
  const backlog = { messages: (function* () {})(), isAhead: () => false }
  const onLeave = (reason: string) => void reasons.push(reason)
  const client = createEventClient({ sink, backlog, turns: createTurns(), pending: () => [], onLeave })
  client.start()
  const bytes = Buffer.alloc(64 * 1024, 'x')
  // Until the buffers of the operating system are full.
  for (let unsentFor = 0; unsentFor < 20; ) {
    if (sink.writableLength === 0) client.send([], () => bytes)
    await setTimeout(5)
    unsentFor = sink.writableLength === 0 ? 0 : unsentFor + 1
  }
  return { client, sink, reasons, resume: () => void socket.resume() }
}

it('drops a client that has read nothing between two heartbeats', async () => {
  const { client, sink, reasons } = await stalledClient()
  client.beat()
  expect(reasons).toEqual([])
  client.beat()
  expect(reasons).toEqual(['dropped'])
  expect(sink.destroyed).toBe(true)
})

it('does not drop a client that reads', async () => {
  const { client, sink, reasons, resume } = await stalledClient()
  client.beat()
  resume()
  for (let beats = 0; beats < 3; beats++) {
    await until(() => sink.writableLength === 0)
    client.beat()
  }
  expect(reasons).toEqual([])
})

it('does not drop a client because of one large event, but one that leaves much unread', async () => {
  const { client, reasons } = await stalledClient()
  const large = Buffer.alloc(400 * 1024, 'x')
  client.send([], () => large)
  expect(reasons).toEqual([])
  client.send([], () => Buffer.from(':\n\n'))
  expect(reasons).toEqual(['dropped'])
})
