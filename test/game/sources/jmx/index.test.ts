import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createJmxSource, type JmxSettings } from '../../../../src/game/sources/jmx/index.ts'
import type { SourceContext } from '../../../../src/game/sources/source.ts'
import { systemClock } from '../../../../src/util/clock.ts'
import { silentLog } from '../../../../src/util/log.ts'
import { selfSigned } from '../../../helpers/certificate.ts'
import { startJavaServer } from '../../../helpers/jolokia.ts'
import { hasTool } from '../../../helpers/require-tool.ts'

const context: SourceContext = { clock: systemClock, log: silentLog, random: () => 0.5, push: () => {} }
const read = async (settings: JmxSettings) => {
  const source = createJmxSource(settings, context)
  try {
    return (await source.poll(AbortSignal.timeout(20_000))).fields
  } finally {
    source.close()
  }
}

describe.skipIf(!hasTool('javac') || !hasTool('mvn'))('the real agent in a JVM', () => {
  it('provides the exact tick times of the last 100 ticks, and the state of the JVM', async () => {
    await using server = await startJavaServer('full')
    const fields = await read({ url: server.url })
    expect(fields.tickDurationMean).toBeCloseTo(0.0505, 9)
    expect(fields).toMatchObject({
      tickDurationP50: 0.05,
      tickDurationP95: 0.095,
      tickDurationP99: 0.099,
      tickDurationMax: 0.1,
    })
    expect(fields.jvmMemoryPools?.map(({ name }) => name)).toContain('Metaspace')
    for (const { usedBytes, maxBytes } of fields.jvmMemoryPools ?? []) {
      expect(usedBytes).toBeGreaterThanOrEqual(0)
      if (maxBytes !== undefined) expect(maxBytes).toBeGreaterThanOrEqual(usedBytes)
    }
    expect(fields.jvmGarbageCollectors?.reduce((sum, { collections }) => sum + collections, 0)).toBeGreaterThan(0)
    expect(fields.jvmThreads).toBeGreaterThan(1)
  })

  it('ignores the ticks that a new server has not run yet', async () => {
    await using server = await startJavaServer('young')
    const fields = await read({ url: server.url })
    expect(fields.tickDurationMean).toBeCloseTo(0.0055, 9)
    expect(fields).toMatchObject({ tickDurationP50: 0.005, tickDurationMax: 0.01 })
  })

  it('omits ticks if the server does not publish them, and logs it once', async () => {
    await using server = await startJavaServer('none')
    const warnings: string[] = []
    const log = { ...silentLog, warn: (_: unknown, text?: string) => void warnings.push(text ?? '') }
    const source = createJmxSource({ url: server.url }, { ...context, log })
    const { fields } = await source.poll(AbortSignal.timeout(20_000))
    await source.poll(AbortSignal.timeout(20_000))
    source.close()
    expect(fields.tickDurationMean).toBeUndefined()
    expect(fields.jvmThreads).toBeGreaterThan(1)
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toContain('enable-jmx-monitoring=true')
  })

  it('logs in, and reports a wrong password as such', async () => {
    await using server = await startJavaServer('full', 'user=watcher,password=right')
    expect((await read({ url: server.url, user: 'watcher', password: 'right' })).tickDurationMax).toBe(0.1)
    await expect(read({ url: server.url, user: 'watcher', password: 'wrong' })).rejects.toMatchObject({ code: 'auth' })
    await expect(read({ url: server.url })).rejects.toMatchObject({ code: 'auth' })
  })
})

const answering = async (listener: RequestListener) => {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/jolokia`, [Symbol.dispose]: () => void server.close() }
}
const ok = (value: unknown) => ({ status: 200, value })

describe('a misconfigured or hostile server', () => {
  it.each<[string, string, RequestListener]>([
    ['another web server', 'unsupported', (_, reply) => void reply.writeHead(404).end('no')],
    ['a redirect', 'unsupported', (_, reply) => void reply.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()],
    ['text', 'malformed', (_, reply) => void reply.end('hello')],
    ['one object', 'malformed', (_, reply) => void reply.end('{}')],
    ['too few replies', 'malformed', (_, reply) => void reply.end(JSON.stringify([ok({})]))],
    ['replies without a status', 'malformed', (_, reply) => void reply.end('[1,2,3,4]')],
    [
      'tick times that are no numbers',
      'malformed',
      (_, reply) => void reply.end(JSON.stringify([ok({ tickTimes: ['1'] }), ok({}), ok({}), ok({})])),
    ],
    ['a reply over 64 KiB', 'too_large', (_, reply) => void reply.end(' '.repeat(70_000))],
    [
      'a reply that is cut off',
      'closed',
      (_, reply) => reply.writeHead(200, { 'content-length': 100 }).write('[', () => reply.destroy()),
    ],
  ])('%s is %s', async (_, code, listener) => {
    using server = await answering(listener)
    await expect(read({ url: server.url })).rejects.toMatchObject({ name: 'SourceError', code })
  })

  it.skipIf(!hasTool('openssl'))('that switches protocols and then breaks TLS is unsupported', async () => {
    const { key, cert } = selfSigned()
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
    onTestFinished(() => void vi.unstubAllEnvs())
    const server = createTlsServer({ key, cert }, (socket) => {
      socket.on('error', () => {})
      socket.once('data', () => {
        socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: other\r\nConnection: Upgrade\r\n\r\n')
        connection?.write('not TLS')
        for (let record = 0; record < 50; record++) socket.write(Buffer.alloc(65_536))
      })
    })
    let connection: Socket | undefined
    server.on('connection', (socket: Socket) => {
      connection = socket
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    await expect(read({ url: `https://127.0.0.1:${port}/jolokia` })).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('HTTP 101'),
    })
    server.close()
    await once(server, 'close')
  })
})
