import { execFile } from 'node:child_process'
import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { createServer } from 'node:net'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { SourceError } from '../../../../src/game/errors.ts'
import type { Fields } from '../../../../src/game/fields.ts'
import { type Network, systemNetwork } from '../../../../src/game/network.ts'
import { createBedrockReader } from '../../../../src/game/sources/status/bedrock-status.ts'
import { StatusSource } from '../../../../src/game/sources/status/index.ts'
import { createNetherNetReader } from '../../../../src/game/sources/status/nethernet.ts'
import { systemClock } from '../../../../src/util/clock.ts'
import { silentLog } from '../../../../src/util/log.ts'
import { bedrockServer, pong } from '../../../helpers/bedrock-server.ts'
import { selfSigned } from '../../../helpers/certificate.ts'
import { hostileServer } from '../../../helpers/hostile-servers.ts'
import { never } from '../../../helpers/never.ts'
import { freePort } from '../../../helpers/run-tool.ts'

const listen = async (server: Server) => {
  // Free for UDP too, so that RakNet is refused.
  const port = await freePort()
  server.listen(port, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  return {
    port,
    [Symbol.asyncDispose]: async () => {
      // A server that is not a web server has no such method.
      ;(server as Partial<Server>).closeAllConnections?.()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
const answering = (listener: RequestListener) => listen(createHttpServer(listener))
const read = (port: number, signal = never()) => createNetherNetReader({ host: '127.0.0.1', port }, systemNetwork)(signal)
const reply = { name: '§aNether', level: 'World', version: '1.26.60', protocol: '1001', players: 3, maxPlayers: 30, gameType: 1 }
const context = { clock: systemClock, log: silentLog, random: () => 0, push() {} }

describe('a Bedrock server with NetherNet', () => {
  it('is read', async () => {
    const requests: string[] = []
    await using server = await answering((request, response) => {
      requests.push(`${request.method} ${request.url}`)
      response.end(JSON.stringify(reply))
    })
    expect(await read(server.port)).toEqual({
      edition: 'bedrock',
      transport: 'nethernet',
      motd: 'Nether\nWorld',
      formattedMotd: '§aNether\nWorld',
      version: '1.26.60',
      protocol: 1001,
      playersOnline: 3,
      playersMax: 30,
      defaultGameMode: 'CREATIVE',
      rawStatus: { version: '1.26.60', playersOnline: 3, playersMax: 30 },
      ip: '127.0.0.1',
      port: server.port,
      latency: expect.any(Number),
    })
    expect(requests).toEqual(['GET /v1/join'])
  })

  it('is reached at a link-local address by its interface, which is not sent', async () => {
    const hosts: (string | undefined)[] = []
    await using server = await answering((request, response) => {
      hosts.push(request.headers.host)
      response.end(JSON.stringify(reply))
    })
    const local = 'fe80::1%eth0'
    const connect: Network['connect'] = (addresses, port, signal) => {
      expect(addresses).toEqual([{ address: local, family: 6 }])
      return systemNetwork.connect([{ address: '127.0.0.1', family: 4 }], port, signal)
    }
    const fields = await createNetherNetReader({ host: local, port: server.port }, { ...systemNetwork, connect })(never())
    expect(fields).toMatchObject({ transport: 'nethernet', playersOnline: 3 })
    expect(hosts).toEqual([`[fe80::1]:${server.port}`])
  })

  it.each([
    ['no body', 204, ''],
    ['a word', 200, 'OK'],
    ['a word in quotes', 200, '"OK"'],
    ['a list', 200, '[1]'],
    ['null', 200, 'null'],
  ])('is up with %s, with unknown values', async (_, status, body) => {
    await using server = await answering((_, response) => void response.writeHead(status).end(body))
    expect(await read(server.port)).toEqual({
      edition: 'bedrock',
      transport: 'nethernet',
      rawStatus: { version: '' },
      ip: '127.0.0.1',
      port: server.port,
      latency: expect.any(Number),
    })
  })

  it.each([
    [0, 'SURVIVAL'],
    [2, 'ADVENTURE'],
    [5, undefined],
    [6, 'SPECTATOR'],
    ['1', undefined],
  ])('game type %j is %s', async (gameType, mode) => {
    await using server = await answering(
      (_, response) => void response.end(JSON.stringify({ protocol: 5, players: 0, gameType })),
    )
    const fields = await read(server.port)
    expect(fields).toMatchObject({ protocol: 5, playersOnline: 0, players: { players: [], complete: true } })
    expect(fields.defaultGameMode).toBe(mode)
  })

  it.each<[string, string, RequestListener]>([
    ['another web server', 'unsupported', (_, response) => void response.writeHead(404).end('{"name":"x"}')],
    ['a redirect', 'unsupported', (_, response) => void response.writeHead(301, { location: '/elsewhere' }).end()],
    ['a body over 64 KiB', 'too_large', (_, response) => void response.end(`{"name":"${'x'.repeat(70_000)}"}`)],
  ])('%s is %s', async (_, code, listener) => {
    let requests = 0
    await using server = await answering((request, response) => {
      requests++
      listener(request, response)
    })
    await expect(read(server.port)).rejects.toMatchObject({ name: 'SourceError', code })
    expect(requests).toBe(1)
  })

  it('fails for a server with another reply, or none until the deadline', async () => {
    await using other = await hostileServer((socket) => void socket.once('data', () => socket.end('SSH-2.0-OpenSSH_9.9\r\n')))
    await expect(read(other.port)).rejects.toMatchObject({ code: 'malformed' })
    await using silent = await hostileServer((socket) => void socket.resume())
    const late = new SourceError('timeout', 'late')
    const deadline = new AbortController()
    const reading = read(silent.port, deadline.signal)
    await expect.poll(silent.open).toBe(1)
    deadline.abort(late)
    await expect(reading).rejects.toBe(late)
    await expect.poll(silent.open).toBe(0)
  })

  it('behind a reverse proxy is read over HTTPS if its certificate is trusted', async () => {
    const { key, cert, certFile } = selfSigned()
    await using server = await listen(
      createSecureServer({ key, cert }, (_, response) => void response.end(JSON.stringify(reply))),
    )
    await expect(read(server.port)).rejects.toBeInstanceOf(SourceError)
    // Node.js reads the certificates to trust when it starts.
    const built = (path: string) => JSON.stringify(new URL(`../../../../dist/src/game/${path}`, import.meta.url).href)
    const script = `
      import { createNetherNetReader } from ${built('sources/status/nethernet.js')}
      import { systemNetwork } from ${built('network.js')}
      const read = createNetherNetReader({ host: 'localhost', port: ${server.port} }, systemNetwork)
      console.log((await read(AbortSignal.timeout(20_000))).version)`
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], {
      env: { ...process.env, NODE_EXTRA_CA_CERTS: certFile },
    })
    expect(stdout.trim()).toBe('1.26.60')
  })
})

describe('bedrock://', () => {
  const source = (port: number) => new StatusSource({ edition: 'bedrock', host: '127.0.0.1', port }, context)

  it('reads the transport that answers, and reports it', async () => {
    await using modern = await answering((_, response) => void response.end(JSON.stringify(reply)))
    expect((await source(modern.port).poll(never())).fields.transport).toBe('nethernet')
    await using old = await bedrockServer((send) => send(pong('MCPE;Pocket;70;0.14.3;0;20')))
    expect((await source(old.port).poll(never())).fields.transport).toBe('raknet')
  })

  it('stays with the transport that answered, and tries the other one when it fails', async () => {
    const requested: string[] = []
    const up = { raknet: true, nethernet: false }
    const reader = (transport: 'raknet' | 'nethernet') => async (): Promise<Partial<Fields>> => {
      requested.push(transport)
      if (!up[transport]) throw new SourceError('refused', transport)
      return { transport }
    }
    const readBedrock = createBedrockReader('server', { raknet: reader('raknet'), nethernet: reader('nethernet') })
    const readings = async () => {
      requested.length = 0
      const fields = await readBedrock(never()).catch((error: SourceError) => ({ transport: error.code }))
      return [requested.join(' '), fields.transport]
    }
    expect(await readings()).toEqual(['raknet nethernet', 'raknet'])
    expect(await readings()).toEqual(['raknet', 'raknet'])
    Object.assign(up, { raknet: false, nethernet: true })
    expect(await readings()).toEqual(['raknet nethernet', 'nethernet'])
    expect(await readings()).toEqual(['nethernet', 'nethernet'])
    Object.assign(up, { nethernet: false })
    expect(await readings()).toEqual(['nethernet raknet', 'refused'])
    expect(await readings()).toEqual(['raknet nethernet', 'refused'])
  })

  it('reports the errors of both transports in one message', async () => {
    const port = await freePort()
    // The port is closed for UDP and TCP.
    await expect(source(port).poll(never())).rejects.toMatchObject({
      code: 'refused',
      message: expect.stringMatching(
        /^127\.0\.0\.1:\d+: no reply by either transport; RakNet \(UDP\): connection refused \(.*\); NetherNet \(TCP\): connection refused \(.*\)$/,
      ),
    })
    await using web = await answering((_, response) => void response.writeHead(404).end())
    await expect(source(web.port).poll(never())).rejects.toMatchObject({
      message: expect.stringMatching(
        /RakNet \(UDP\): connection refused .*; NetherNet \(TCP\): not a NetherNet server \(HTTP 404\)$/,
      ),
    })
  })

  it.each<[string, string, RequestListener]>([
    ['HTTP 404', 'malformed', (_, response) => void response.writeHead(404).end()],
    ['a redirect', 'malformed', (_, response) => void response.writeHead(302, { location: 'https://example.org/' }).end()],
    ['HTTP 400', 'malformed', (_, response) => void response.writeHead(400).end()],
    ['HTTP 500', 'malformed', (_, response) => void response.writeHead(500).end()],
    ['a body of 5 MB', 'too_large', (_, response) => void response.end(Buffer.alloc(5_000_000, 'x'))],
    ['half a body', 'closed', (request, response) => void response.write('{', () => request.socket.destroy())],
  ])('is not refused if a web server replies with %s: %s', async (_, code, listener) => {
    await using web = await answering((request, response) => {
      if (code === 'closed') response.writeHead(200, { 'content-length': 100 })
      listener(request, response)
    })
    await expect(source(web.port).poll(never())).rejects.toMatchObject({ code })
  })

  it.each<[string, (options: { key: Buffer; cert: Buffer }) => Server]>([
    ['that is not trusted', (options) => createSecureServer(options, (_, response) => void response.end('{}'))],
    [
      'of a server that replies to plain requests with HTTP 400',
      (options) => {
        const secure = createSecureServer(options, (_, response) => void response.end('{}'))
        const plain = createHttpServer((_, response) => void response.writeHead(400).end())
        return createServer((socket) => {
          socket.once('data', (first) => {
            socket.pause()
            socket.unshift(first)
            ;(first[0] === 0x16 ? secure : plain).emit('connection', socket)
            process.nextTick(() => socket.resume())
          })
        }) as unknown as Server
      },
    ],
  ])('keeps the reason for a certificate %s', async (_, create) => {
    const { key, cert } = selfSigned()
    await using server = await listen(create({ key, cert }))
    await expect(source(server.port).poll(never())).rejects.toMatchObject({
      code: 'tls',
      message: expect.stringMatching(/NetherNet \(TCP\): TLS handshake failed \(self-signed certificate.*\)$/),
    })
  })

  it('keeps the reason if the server supports no common version of TLS', async () => {
    const { key, cert } = selfSigned()
    const options = { key, cert, minVersion: 'TLSv1', maxVersion: 'TLSv1.1' } as const
    await using server = await listen(createSecureServer(options, (_, response) => void response.end('{}')))
    await expect(source(server.port).poll(never())).rejects.toMatchObject({
      code: 'tls',
      message: expect.stringMatching(/NetherNet \(TCP\): TLS handshake failed \(.*alert/s),
    })
  })

  it('names both at the deadline too, and after one of them has answered', async () => {
    await using silent = await bedrockServer(() => {})
    const signal = AbortSignal.timeout(60_000)
    const controller = new AbortController()
    const reading = source(silent.port).poll(controller.signal)
    await expect.poll(() => silent.pings.length).toBeGreaterThan(1)
    controller.abort(new SourceError('timeout', `127.0.0.1:${silent.port}: no complete reply within 3000 ms`))
    await expect(reading).rejects.toMatchObject({
      code: 'timeout',
      message: expect.stringMatching(
        /RakNet \(UDP\): no complete reply within 3000 ms; NetherNet \(TCP\): connection refused \(.*\)$/,
      ),
    })
    const old = await bedrockServer((send) => send(pong('MCPE;Pocket;70;0.14.3;0;20')))
    const restarted = source(old.port)
    await restarted.poll(signal)
    await old[Symbol.asyncDispose]()
    await expect(restarted.poll(signal)).rejects.toMatchObject({
      message: expect.stringMatching(/RakNet \(UDP\): .*; NetherNet \(TCP\): connection refused/),
    })
  })

  it('aborts the other attempt', async () => {
    await using silent = await hostileServer((socket) => void socket.resume())
    const controller = new AbortController()
    const reading = source(silent.port).poll(controller.signal)
    await expect.poll(silent.open).toBe(1)
    controller.abort(new SourceError('timeout', 'late'))
    await expect(reading).rejects.toMatchObject({ code: 'timeout' })
    await expect.poll(silent.open).toBe(0)
  })
})
