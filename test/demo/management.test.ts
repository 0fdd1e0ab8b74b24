import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { type DemoOptions, type DemoServer, demoSettings, startDemoServer } from '../../src/demo/demo-server.ts'
import { readingMethods } from '../../src/game/protocol/management.ts'
import { manualClock } from '../helpers/manual-clock.ts'
import { hasTool } from '../helpers/require-tool.ts'
import { ensure } from '../tools/ensure.mjs'

let demo: DemoServer | undefined
afterEach(() => demo?.close())

async function start(options: DemoOptions = {}): Promise<DemoServer> {
  demo = await startDemoServer({ scenario: 'steady', ...options })
  return demo
}

interface Message {
  readonly id?: unknown
  readonly method?: string
  readonly params?: unknown
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string }
}

/** A WebSocket and the messages that came over it. */
async function dial(server: DemoServer, options: object = {}) {
  const { url, secret } = server.management!
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${secret}` }, ...options })
  const messages: Message[] = []
  socket.on('message', (data) => messages.push(JSON.parse(String(data))))
  await once(socket, 'open')
  async function until(wanted: (message: Message) => boolean): Promise<Message> {
    for (;;) {
      const found = messages.find(wanted)
      if (found !== undefined) return found
      await once(socket, 'message')
    }
  }
  return {
    socket,
    messages,
    until,
    async send(text: string): Promise<Message> {
      const before = messages.length
      socket.send(text)
      return until((message) => messages.indexOf(message) >= before)
    },
    async call(method: string): Promise<Message> {
      socket.send(JSON.stringify({ jsonrpc: '2.0', id: method, method, params: [] }))
      return until(({ id }) => id === method)
    },
  }
}

describe('the management protocol of the demo server', () => {
  it.each([
    ['1.21.10', '1.0.0'],
    ['1.21.11', '2.0.0'],
    ['26.1', '3.0.0'],
  ])('of %s is version %s', async (era, version) => {
    const client = await dial(await start({ era }))
    const { result } = await client.call('rpc.discover')
    expect(result).toMatchObject({ info: { version } })
  })

  it('does not exist before 1.21.9', async () => {
    expect((await start({ era: '1.21.8' })).management).toBeUndefined()
  })

  it('answers every method that it describes', async () => {
    const server = await start({ players: 2 })
    const client = await dial(server)
    const { result } = (await client.call('rpc.discover')) as { result: { methods: { name: string }[] } }
    expect(result.methods.map(({ name }) => name)).toEqual(expect.arrayContaining([...readingMethods]))
    for (const { name } of result.methods) expect(await client.call(name)).toHaveProperty('result')
    const players = server.world.players().map(({ name, id }) => ({ id, name }))
    expect((await client.call('minecraft:players')).result).toEqual(players)
    expect((await client.call('minecraft:server/status')).result).toEqual({
      players,
      started: true,
      version: { name: '1.21.11', protocol: 774 },
    })
  })

  it('omits players from the status when none are online', async () => {
    const client = await dial(await start({ players: 0 }))
    expect((await client.call('minecraft:server/status')).result).not.toHaveProperty('players')
    expect((await client.call('minecraft:players')).result).toEqual([])
  })

  it.each([
    ['array', (value: object) => [value]],
    ['object', (value: object) => ({ player: value })],
  ] as const)('sends notifications of joins and leaves, with parameters as %s', async (notificationParams, form) => {
    const server = await start({ notificationParams })
    const client = await dial(server)
    const player = server.world.join()
    const params = form({ id: player.id, name: player.name })
    expect(await client.until(({ method }) => method === 'minecraft:notification/players/joined')).toMatchObject({ params })
    server.world.leave(player.name)
    expect(await client.until(({ method }) => method === 'minecraft:notification/players/left')).toMatchObject({ params })
  })

  it('sends notifications of saves and the stop', async () => {
    const server = await start()
    const client = await dial(server)
    server.world.save()
    await client.until(({ method }) => method === 'minecraft:notification/server/saved')
    const closed = once(client.socket, 'close')
    await server.close()
    expect((await closed)[0]).toBe(1001)
    expect(client.messages.at(-1)?.method).toBe('minecraft:notification/server/stopping')
  })

  it.each([
    ['no secret', {}],
    ['a wrong secret', { headers: { authorization: 'Bearer wrong' } }],
  ])('answers 401 to %s', async (_what, options) => {
    const { management } = await start()
    const socket = new WebSocket(management!.url, options)
    const [, response] = await once(socket, 'unexpected-response')
    expect(response.statusCode).toBe(401)
    let body = ''
    for await (const chunk of response) body += chunk
    expect(JSON.parse(body)).toMatchObject({ error: 'Unauthorized' })
  })

  it.each([
    ['no JSON', '{', { id: null, error: { code: -32700 } }],
    ['no call', '{"id":1}', { id: null, error: { code: -32600 } }],
    ['a batch', '[]', { id: null, error: { code: -32600 } }],
    ['a method that does not exist', '{"jsonrpc":"2.0","id":1,"method":"a"}', { id: 1, error: { code: -32601 } }],
    [
      'a method that would change something',
      '{"jsonrpc":"2.0","id":1,"method":"minecraft:server/stop"}',
      { id: 1, error: { code: -32601 } },
    ],
  ])('answers %s', async (_what, text, answer) => {
    const client = await dial(await start())
    expect(await client.send(text)).toMatchObject(answer)
  })

  it('closes the connection on a message that is too long or not text', async () => {
    const server = await start()
    const long = await dial(server)
    long.socket.send('x'.repeat(70_000))
    expect((await once(long.socket, 'close'))[0]).toBe(1009)
    const binary = await dial(server)
    binary.socket.send(Buffer.from([1, 2, 3]))
    expect((await once(binary.socket, 'close'))[0]).toBe(1003)
  })

  it('disconnects a client that sends requests endlessly while the main thread is hung', async () => {
    const clock = manualClock()
    const server = await start({ clock })
    const client = await dial(server)
    server.world.play('hung')
    await clock.advance(1_000)
    const closed = once(client.socket, 'close')
    for (let index = 0; index < 200; index++) client.socket.send('{}')
    await closed
    expect(client.messages).toHaveLength(0)
  })

  it('closes immediately while one client does not read and another has not finished its request', async () => {
    const server = await start()
    const port = Number(new URL(server.management!.url).port)
    const halfway = connect(port, '127.0.0.1')
    await once(halfway, 'connect')
    halfway.write('GET / HTTP/1.1\r\n')
    halfway.on('error', () => {})
    const client = await dial(server)
    client.socket.pause()
    await server.close()
    client.socket.terminate()
    halfway.destroy()
  })

  it.skipIf(!hasTool('openssl'))('is served over TLS, with the fingerprint in the settings', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'demo-tls-'))
    const [keyFile, certFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
    execFileSync(
      'openssl',
      [
        ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
        ...['-subj', '/CN=localhost', '-keyout', keyFile, '-out', certFile],
      ],
      { stdio: 'ignore' },
    )
    const managementTls = { key: readFileSync(keyFile, 'utf8'), cert: readFileSync(certFile, 'utf8') }
    rmSync(folder, { recursive: true })
    const server = await start({ managementTls })
    const settings = demoSettings(server, 'demo')
    expect(settings.sources.management?.url).toMatch(/^wss:/)
    const client = await dial(server, { ca: managementTls.cert, checkServerIdentity: () => undefined })
    const { _socket: tls } = client.socket as unknown as { _socket: import('node:tls').TLSSocket }
    expect(tls.getPeerCertificate().fingerprint256.replaceAll(':', '').toLowerCase()).toBe(
      settings.sources.management?.fingerprint,
    )
    expect((await client.call('minecraft:serversettings/difficulty')).result).toBe('normal')
  })
})

describe('mc-server-management reads the demo server', () => {
  beforeAll(() => ensure('test/peers'))

  it.each([
    ['1.21.10', 'array'],
    ['26.3', 'object'],
  ] as const)('%s, parameters as %s', async (era, notificationParams) => {
    const peer = new URL('../peers/node_modules/mc-server-management/dist/index.node.mjs', import.meta.url).href
    const { MinecraftServer, WebSocketConnection } = await import(peer)
    const world = await start({ era, notificationParams, players: 3 })
    const connection = await WebSocketConnection.connect(world.management!.url, world.management!.secret, { reconnect: false })
    try {
      const server = new MinecraftServer(connection)
      const status = await server.getStatus()
      expect(status).toMatchObject({ started: true, version: { name: era } })
      expect(status.players).toHaveLength(3)
      expect(await server.settings().getMOTD()).toBe('Tickwarden demo server')
      expect(await server.settings().getMaxPlayers()).toBe(20)
      const joined = once(server as never, 'minecraft:notification/players/joined')
      const player = world.world.join()
      expect((await joined)[0]).toMatchObject({ id: player.id, name: player.name })
    } finally {
      connection.close()
    }
  })
})
