import { getEventListeners, once } from 'node:events'
import net from 'node:net'
import { expect, it, vi } from 'vitest'
import { SourceError } from '../../../../src/game/errors.ts'
import { guardTcp } from '../../../../src/game/sources/status/loopback-relay.ts'
import { hostileServer } from '../../../helpers/hostile-servers.ts'

/** Of a library that does not notice the end of its connection. */
const never = new Promise<never>(() => {})
const target = 'old.test:25565'

/** Guards a request to `port`, with a clock that counts its readings. */
function guard<T>(
  port: number,
  request: (port: number) => Promise<T>,
  {
    maxBytes = 100,
    signal = new AbortController().signal,
    upstream = net.connect(port, '127.0.0.1'),
    suffix,
  }: { maxBytes?: number; signal?: AbortSignal; upstream?: net.Socket; suffix?: Buffer } = {},
) {
  const ended: string[] = []
  let time = 0
  const options = {
    target,
    signal,
    suffix,
    now: () => time++,
    phases: { start() {}, end: (phase: string) => void ended.push(phase) },
  }
  return { upstream, signal, ended, result: guardTcp(upstream, maxBytes, options, request) }
}

/** Sends a byte through the relay, and returns what it receives until the connection ends. */
async function send(port: number): Promise<string> {
  const socket = net.connect(port, '127.0.0.1')
  socket.on('error', () => {})
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  socket.write('?')
  await once(socket, 'close')
  return String(Buffer.concat(chunks))
}

const serverOf = (...replies: readonly string[]) =>
  hostileServer((socket) => {
    socket.once('data', (request: Buffer) => {
      for (const reply of replies) socket.write(reply)
      socket.end(String(request))
    })
  })

it('passes the request and the reply on, and measures them', async () => {
  await using server = await hostileServer((socket) => {
    socket.on(
      'data',
      (request: Buffer) => void (String(request) === '?' ? socket.write('a'.repeat(90)) : socket.end('b'.repeat(10))),
    )
  })
  const { result, ended, upstream, signal } = guard(server.port, async (port) => {
    const socket = net.connect(port, '127.0.0.1')
    socket.write('?')
    const first = String(...(await once(socket, 'data')))
    expect(ended).toEqual(['first_byte'])
    socket.write('!')
    return first + String(...(await once(socket, 'data')))
  })
  const { value, latency } = await result
  expect(value).toBe('a'.repeat(90) + 'b'.repeat(10))
  // The clock is read at the beginning, for each part of the request, and for the first byte of the reply.
  expect([latency, ended]).toEqual([1, ['first_byte']])
  expect(upstream.destroyed).toBe(true)
  expect(getEventListeners(signal, 'abort')).toEqual([])
  await expect.poll(server.open).toBe(0)
})

it('sends the suffix right after the request', async () => {
  await using server = await serverOf()
  expect((await guard(server.port, send, { suffix: Buffer.from('!') }).result).value).toBe('?!')
})

it.each([
  ['', 'exhausted'],
  [', also if the connection has failed before', 'refused'],
])('fails if no file descriptor is free to listen%s', async (before, code) => {
  const isEarlier = before !== ''
  const upstream = new net.Socket()
  const listen = vi.spyOn(net.Server.prototype, 'listen').mockImplementation(function (this: net.Server) {
    const error = Object.assign(new Error('listen EMFILE: too many open files 127.0.0.1'), { code: 'EMFILE' })
    if (isEarlier) upstream.emit('error', Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }))
    setImmediate(() => {
      if (this.listenerCount('error') === 0) unheard = true
      else this.emit('error', error)
    })
    return this
  })
  let unheard = false
  const { result } = guard(0, async () => never, { upstream })
  await expect(result).rejects.toMatchObject({ code })
  await new Promise(setImmediate)
  listen.mockRestore()
  // An error without a listener ends the process.
  expect(unheard).toBe(false)
})

it('refuses a reply that is longer than the limit', async () => {
  await using server = await serverOf('a'.repeat(100))
  const { result } = guard(server.port, async (port) => {
    await send(port)
    return never
  })
  await expect(result).rejects.toMatchObject({
    code: 'too_large',
    message: `${target}: the reply is longer than 100 bytes`,
  })
})

it.each<[unknown, object]>([
  [new Error('odd'), { code: 'malformed', message: `${target}: odd` }],
  ['odd', { code: 'malformed', message: `${target}: the reply cannot be parsed` }],
  [new SourceError('unsupported', 'old'), { code: 'unsupported', message: 'old' }],
])('a request that fails with %s', async (thrown, expected) => {
  await using server = await serverOf()
  const { result, upstream } = guard(server.port, () => Promise.reject(thrown))
  await expect(result).rejects.toMatchObject(expected)
  expect(upstream.destroyed).toBe(true)
})

it('a connection that ends during the reply is the reason why it cannot be parsed', async () => {
  await using server = await serverOf('half')
  const { result } = guard(server.port, async (port) => {
    throw new Error(await send(port))
  })
  await expect(result).rejects.toMatchObject({
    code: 'closed',
    message: `${target}: the connection was closed during the reply`,
  })
})

it('a connection that fails at once fails, without a request', async () => {
  const upstream = new net.Socket()
  const { result } = guard(0, () => expect.fail('sent a request'), { upstream })
  // Before the relay listens.
  upstream.emit('error', Object.assign(new Error('x'), { code: 'ECONNRESET' }))
  await expect(result).rejects.toMatchObject({ code: 'closed' })
})

it('a server that closes the connection before the request is sent ends it', async () => {
  await using server = await hostileServer((socket) => socket.end())
  const upstream = net.connect(server.port, '127.0.0.1')
  await once(upstream, 'connect')
  // A library that takes its time to connect.
  const { result } = guard(server.port, () => never, { upstream })
  await expect(result).rejects.toMatchObject({ code: 'closed' })
})

it('is aborted', async () => {
  await using server = await hostileServer((socket) => void socket.resume())
  const deadline = new AbortController()
  const { result, upstream } = guard(server.port, send, { signal: deadline.signal })
  result.catch(() => {})
  await once(upstream, 'connect')
  deadline.abort(new SourceError('timeout', 'late'))
  await expect(result).rejects.toMatchObject({ code: 'timeout', message: 'late', progress: 'connected' })
  expect(upstream.destroyed).toBe(true)
})

it('is aborted at once, for a reason that may be any', async () => {
  const upstream = new net.Socket()
  const { result } = guard(0, () => expect.fail('sent a request'), { upstream, signal: AbortSignal.abort('stopped') })
  await expect(result).rejects.toMatchObject({ code: 'internal', message: `${target}: stopped` })
  expect(upstream.destroyed).toBe(true)
})

it('accepts one connection, on the loopback address only', async () => {
  await using server = await serverOf('reply')
  const request = async (port: number) => {
    await expect(once(net.connect(port, '127.0.0.2'), 'connect')).rejects.toThrow()
    const first = net.connect(port, '127.0.0.1')
    first.write('?')
    const reply = String(...(await once(first, 'data')))
    await expect(once(net.connect(port, '127.0.0.1'), 'connect')).rejects.toThrow()
    return reply
  }
  const upstream = net.connect(server.port, '127.0.0.1')
  const options = { target, signal: new AbortController().signal, now: () => 0 }
  expect((await guardTcp(upstream, 100, options, request)).value).toMatch(/^reply/)
  expect(server.accepted()).toBe(1)
})
