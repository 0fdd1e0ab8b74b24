import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { type DemoServer, startDemoServer } from '../../../src/demo/demo-server.ts'
import { SourceError } from '../../../src/game/errors.ts'
import { type Network, systemNetwork } from '../../../src/game/network.ts'
import { createDirectorySource } from '../../../src/game/sources/directory/index.ts'
import { createJmxSource } from '../../../src/game/sources/jmx/index.ts'
import { ManagementSource } from '../../../src/game/sources/management/management-source.ts'
import { sourceNames } from '../../../src/game/sources/names.ts'
import { createQuerySource } from '../../../src/game/sources/query/index.ts'
import { RconSource } from '../../../src/game/sources/rcon/rcon-source.ts'
import type { Source, SourceContext } from '../../../src/game/sources/source.ts'
import { StatusSource } from '../../../src/game/sources/status/index.ts'
import { systemClock } from '../../../src/util/clock.ts'
import { silentLog } from '../../../src/util/log.ts'
import { hostileServer } from '../../helpers/hostile-servers.ts'
import { managementServer } from '../../helpers/management-server.ts'
import { queryServer } from '../../helpers/query-server.ts'
import { listenRconPeer, packet } from '../../helpers/rcon-peer.ts'
import { encodeStatus } from '../../helpers/status-packets.ts'
import { until } from '../../helpers/until.ts'
import { type Subject, testSource } from './testSource.ts'

const host = '127.0.0.1'
const secret = 'a'.repeat(40)
type ByPort = (port: number, context: SourceContext) => Source
const makers = {
  status: (port, context) => new StatusSource({ edition: 'java', host, port }, context),
  rcon: (port, context) => new RconSource({ address: { host, port }, password: 'password' }, context),
  management: (port, context) => new ManagementSource({ url: `ws://${host}:${port}`, secret }, context),
  query: (port, context) => createQuerySource({ host, port }, context),
  jmx: (port, context) => createJmxSource({ url: `http://${host}:${port}/jolokia` }, context),
} satisfies Record<string, ByPort>

const demo = (make: (server: DemoServer, context: SourceContext) => Source) => async (): Promise<Subject> => {
  const server = await startDemoServer()
  return { make: (context) => make(server, context), close: () => server.close() }
}

const tcp = (make: ByPort, behave: (socket: net.Socket) => void) => async (): Promise<Subject> => {
  const server = await hostileServer(behave)
  return { make: (context) => make(server.port, context), close: () => server[Symbol.asyncDispose]() }
}

const udp = (reply: (request: Buffer) => readonly Buffer[]) => async (): Promise<Subject> => {
  const socket = createSocket('udp4')
  socket.on('message', (request, { address, port }) => {
    for (const datagram of reply(request)) socket.send(datagram, port, address)
  })
  socket.bind(0, host)
  await once(socket, 'listening')
  const { port } = socket.address()
  return { make: (context) => makers.query(port, context), close: () => socket.close() }
}

const silent = (socket: net.Socket) => void socket.resume()
const hostileTcp = (make: ByPort) => ({
  'says nothing': tcp(make, silent),
  'hangs up at once': tcp(make, (socket) => socket.destroy()),
  'hangs up when it is asked': tcp(make, (socket) => void socket.once('data', () => socket.destroy())),
  'answers garbage': tcp(make, (socket) => void socket.once('data', () => socket.write(Buffer.alloc(5000, 0xff)))),
  'answers garbage without end': tcp(make, (socket) => {
    const chunk = Buffer.alloc(65_536, 0x80)
    const more = () => {
      while (!socket.destroyed && socket.write(chunk));
    }
    socket.on('drain', more)
    socket.resume()
    socket.once('data', more)
  }),
  'is a web server': tcp(
    make,
    (socket) => void socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n')),
  ),
  'switches to another protocol': tcp(
    make,
    (socket) =>
      void socket.once('data', () =>
        socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: other\r\nConnection: Upgrade\r\n\r\n'),
      ),
  ),
})

const folder = (files: Record<string, string | Buffer>) => {
  const path = mkdtempSync(join(tmpdir(), 'tickwarden-conformance-'))
  mkdirSync(join(path, 'logs'))
  for (const [name, content] of Object.entries(files)) writeFileSync(join(path, name), content)
  return {
    make: (context: SourceContext) => createDirectorySource(path, context),
    close: () => rmSync(path, { recursive: true }),
    path,
  }
}

it('is run for every source', () => {
  const tested = [...readFileSync(import.meta.filename, 'utf8').matchAll(/^testSource\('(\w+)'/gm)].map(([, name]) => name)
  expect(tested.sort()).toEqual([...sourceNames].sort())
})

testSource('status', {
  good: demo(({ address }, context) => new StatusSource(address, context)),
  partial: async () => ({
    ...(await tcp(
      makers.status,
      (socket) => void socket.once('data', () => socket.write(encodeStatus('{"description":"Hi"}'))),
    )()),
    fields: { motd: 'Hi' },
  }),
  silent: tcp(makers.status, silent),
  hostile: hostileTcp(makers.status),
})

const rconPeer = async (answers: Record<string, string>): Promise<Subject> => {
  const peer = await listenRconPeer(({ socket, id, type, body }) => {
    const text = type === 2 ? (answers[body] ?? 'Unknown or incomplete command, see below for error') : 'Unknown request 64'
    socket.write(packet(id, 0, text))
  })
  return { make: (context) => makers.rcon(peer.port, context), close: () => peer.close() }
}

testSource('rcon', {
  good: demo(({ rcon }, context) => new RconSource(rcon, context)),
  quick: () => rconPeer({ 'list uuids': 'There are 0 of a max of 20 players online: ', 'time query gametime': 'The time is 5' }),
  partial: async () => ({
    ...(await rconPeer({ 'list uuids': 'There are 0 of a max of 20 players online: ' })),
    fields: { playersOnline: 0, playersMax: 20 },
  }),
  silent: tcp(makers.rcon, silent),
  hostile: hostileTcp(makers.rcon),
})

const management = async (change: (results: Record<string, unknown>) => void = () => {}): Promise<Subject> => {
  const server = await managementServer()
  change(server.results)
  return { make: (context) => makers.management(server.port, context), close: () => server.close() }
}

testSource('management', {
  good: demo(({ management: settings }, context) => new ManagementSource(settings!, context)),
  quick: management,
  partial: async () => ({
    ...(await management((results) => {
      results['minecraft:serversettings/motd'] = new Error('internal')
      delete results['minecraft:server/status']
    })),
    fields: { playersOnline: 1, difficulty: 'easy' },
  }),
  silent: tcp(makers.management, silent),
  hostile: hostileTcp(makers.management),
})

testSource('query', {
  good: demo(({ query }, context) => createQuerySource(query, context)),
  quick: async () => {
    const server = await queryServer()
    return { make: (context) => makers.query(server.port, context), close: server.close }
  },
  partial: async () => {
    const server = await queryServer()
    server.reply = (stat) => stat.subarray(0, stat.length - 8)
    return {
      make: (context) => makers.query(server.port, context),
      close: server.close,
      fields: { playersOnline: 2, map: 'world' },
    }
  },
  silent: udp(() => []),
  hostile: {
    'says nothing': udp(() => []),
    'answers garbage': udp(() => [Buffer.alloc(100, 0xff)]),
    'answers with nothing in it': udp(() => [Buffer.alloc(0)]),
    'floods with garbage': udp(() => Array.from({ length: 500 }, () => Buffer.alloc(1400, 9))),
    'gives a token that is none': udp((request) => [
      Buffer.concat([Buffer.from([9]), request.subarray(3, 7), Buffer.from('x\0')]),
    ]),
    'answers everything with the token': udp((request) => [
      Buffer.concat([Buffer.from([9]), request.subarray(3, 7), Buffer.from('7\0')]),
    ]),
  },
})

const jolokia = (server: object) => async (): Promise<Subject> => {
  const beans = [server, { 'java.lang:name=Heap,type=MemoryPool': { Usage: { used: 5, max: -1 } } }, {}, { ThreadCount: 3 }]
  const reply = JSON.stringify(beans.map((value) => ({ status: 200, value })))
  const listener = createServer((_, response) => void response.end(reply)).listen(0, host)
  await once(listener, 'listening')
  const { port } = listener.address() as net.AddressInfo
  return { make: (context) => makers.jmx(port, context), close: () => listener.close() }
}

testSource('jmx', {
  good: jolokia({ tickTimes: [1e6, 2e6], averageTickTime: 0.03 }),
  partial: async () => ({
    ...(await jolokia({ tickTimes: [0, 0], averageTickTime: 0 })()),
    fields: { jvmThreads: 3, jvmMemoryPools: [{ name: 'Heap', usedBytes: 5 }] },
  }),
  silent: tcp(makers.jmx, silent),
  hostile: hostileTcp(makers.jmx),
})

testSource('directory', {
  good: async () => {
    const made = folder({ 'server.properties': 'motd=Hi\nmax-players=20\nserver-port=25565\n' })
    appendFileSync(join(made.path, 'logs/latest.log'), '[12:34:56] [Server thread/INFO]: Done (3.5s)! For help\n')
    return made
  },
  partial: async () => ({
    ...folder({
      'server.properties': 'motd=Hi',
      'server-icon.png': Buffer.alloc(2 * 1024 * 1024),
      'version_history.json': '{{{',
    }),
    fields: { motd: 'Hi' },
  }),
  hostile: {
    'is an empty folder': async () => folder({}),
    'has garbage for files': async () =>
      folder({
        'server-icon.png': Buffer.alloc(2 * 1024 * 1024),
        'server.properties': Buffer.alloc(2 * 1024 * 1024, 0xff),
        'version_history.json': '[',
      }),
  },
})

const named: Readonly<Record<string, (host: string, context: SourceContext) => Source>> = {
  'the status of Java': (host, context) => new StatusSource({ edition: 'java', host, port: 25566 }, context),
  'the status of Bedrock': (host, context) => new StatusSource({ edition: 'bedrock', host, port: 19132 }, context),
  RCON: (host, context) => new RconSource({ address: { host, port: 25575 }, password: 'password' }, context),
  management: (host, context) => new ManagementSource({ url: `ws://${host}:25585`, secret }, context),
  query: (host, context) => createQuerySource({ host, port: 25566 }, context),
  JMX: (host, context) => createJmxSource({ url: `http://${host}:8778/jolokia` }, context),
}

it.each(Object.entries(named))('%s: a silent name server is the reason at the deadline, not the server', async (_, make) => {
  const network = { ...systemNetwork, lookup: () => new Promise<never>(() => {}) }
  const source = make('mc.example.org', { clock: systemClock, log: silentLog, random: () => 0.5, push() {}, network })
  onTestFinished(() => source.close())
  const late = new AbortController()
  const poll = expect(source.poll(late.signal)).rejects.toMatchObject({
    code: 'dns',
    message: expect.stringContaining('mc.example.org: no reply from the name server in time'),
  })
  late.abort(new SourceError('timeout', 'mc.example.org: no complete reply'))
  await poll
})

it.each(['RCON', 'management'])('%s: looks up a name only once in a poll while its name server fails', async (kind) => {
  let lookups = 0
  const lookup = () => {
    lookups++
    return Promise.reject(Object.assign(new Error('queryA ESERVFAIL'), { code: 'ESERVFAIL' }))
  }
  const network = { ...systemNetwork, lookup }
  const source = named[kind]!('mc.example.org', { clock: systemClock, log: silentLog, random: () => 0.5, push() {}, network })
  onTestFinished(() => source.close())
  await expect(source.poll(new AbortController().signal)).rejects.toMatchObject({ code: 'dns' })
  expect(lookups).toBe(1)
})

it.each(['the status of Bedrock', 'query'])('%s: looks up the name again soon if it is not reached', async (kind) => {
  const late = new AbortController()
  const doubted: string[] = []
  const network: Network = {
    ...systemNetwork,
    async lookup() {
      setImmediate(() => late.abort(new SourceError('timeout', 'mc.example.org: no complete reply')))
      return [{ address: host, family: 4 }]
    },
    doubt: (name) => doubted.push(name),
  }
  const source = named[kind]!('mc.example.org', { clock: systemClock, log: silentLog, random: () => 0.5, push() {}, network })
  onTestFinished(() => source.close())
  await expect(source.poll(late.signal)).rejects.toThrow()
  expect(doubted).toContain('mc.example.org')
})

/** The addresses of a name, and a connection that leads to the port of the first one. */
function movingName(ports: Readonly<Record<string, number>>) {
  const name = { addresses: Object.keys(ports).slice(0, 1), fails: false }
  let connections = 0
  const network: Network = {
    ...systemNetwork,
    async lookup() {
      if (name.fails) throw Object.assign(new Error('queryA ENOTFOUND'), { code: 'ENOTFOUND' })
      return name.addresses.map((address) => ({ address, family: 4 }))
    },
    connect: ([first], _port, ...others) => {
      connections++
      return systemNetwork.connect([{ address: host, family: 4 }], ports[first?.address ?? ''] ?? 0, ...others)
    },
  }
  return { name, network, connections: () => connections }
}

/** Two servers that are told apart by their maximum of players. */
const persistent: Readonly<Record<string, () => Promise<readonly (Subject & { readonly port: number })[]>>> = {
  rcon: () =>
    Promise.all(
      [1, 2].map(async (max) => {
        const text = `There are 0 of a max of ${max} players online: `
        const peer = await listenRconPeer(({ socket, id, body }) => {
          socket.write(packet(id, 0, body === 'list uuids' ? text : 'Unknown or incomplete command, see below for error'))
        })
        return {
          port: peer.port,
          make: (context) => new RconSource({ address: { host: 'mc.example.org', port: 25575 }, password: 'password' }, context),
          close: () => peer.close(),
        }
      }),
    ),
  management: () =>
    Promise.all(
      [1, 2].map(async (max) => {
        const server = await managementServer()
        server.results['minecraft:serversettings/max_players'] = { max }
        return {
          port: server.port,
          make: (context) => new ManagementSource({ url: 'ws://mc.example.org:25585', secret }, context),
          close: () => server.close(),
        }
      }),
    ),
}

it.each(Object.entries(persistent))('%s follows a name to another machine while the old one still runs', async (_, start) => {
  const [old, next] = await start()
  onTestFinished(async () => {
    await Promise.all([old?.close(), next?.close()])
  })
  const { name, network } = movingName({ '192.0.2.1': old!.port, '192.0.2.2': next!.port })
  const source = old!.make({ clock: systemClock, log: silentLog, random: () => 0, push() {}, network })
  onTestFinished(() => source.close())
  const playersMax = async () => (await source.poll(new AbortController().signal)).fields.playersMax
  expect(await playersMax()).toBe(1)
  // No change: one of the addresses is the same, or the name does not resolve.
  name.addresses = ['192.0.2.2', '192.0.2.1']
  expect(await playersMax()).toBe(1)
  name.fails = true
  expect(await playersMax()).toBe(1)
  Object.assign(name, { addresses: ['192.0.2.2'], fails: false })
  expect(await playersMax()).toBe(2)
})

it.each(Object.entries(persistent))(
  '%s keeps its connection to a new machine when the name leads to no other',
  async (_, start) => {
    const [old, next] = await start()
    onTestFinished(async () => {
      await next?.close()
    })
    const { name, network, connections } = movingName({ '192.0.2.1': old!.port, '192.0.2.2': next!.port })
    const source = old!.make({ clock: systemClock, log: silentLog, random: () => 0, push() {}, network })
    onTestFinished(() => source.close())
    const playersMax = async () => (await source.poll(new AbortController().signal)).fields.playersMax
    expect(await playersMax()).toBe(1)
    name.addresses = ['192.0.2.2', '192.0.2.1']
    await old?.close()
    await until(async () => (await playersMax().catch(() => undefined)) === 2)
    const before = connections()
    name.addresses = ['192.0.2.2']
    expect(await playersMax()).toBe(2)
    expect(connections()).toBe(before)
  },
)
