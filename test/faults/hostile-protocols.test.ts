import { createSocket, type Socket as UdpSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:http'
import net, { type AddressInfo, type Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { startDemoServer } from '../../src/demo/demo-server.ts'
import { createFleet } from '../../src/game/fleet.ts'
import type { ServerSettings } from '../../src/game/server-settings.ts'
import { createSources } from '../../src/game/sources/create-sources.ts'
import type { SourceName } from '../../src/game/sources/names.ts'
import { silentLog } from '../../src/util/log.ts'
import { bedrockServer, pong } from '../helpers/bedrock-server.ts'
import { fastClock } from '../helpers/fast-clock.ts'
import { hostileServer } from '../helpers/hostile-servers.ts'
import { freePort } from '../helpers/run-tool.ts'
import { onTestFinished, separateTestEnds } from '../helpers/test-end.ts'
import { until } from '../helpers/until.ts'

const host = '127.0.0.1'
const secret = 'a'.repeat(40)

/** Starts a server of an older or a newer version, with 20 or 30 slots or threads. @returns its port */
type Start = (isNewer: boolean) => Promise<number>

interface Protocol {
  readonly source: SourceName
  readonly start: Start
  readonly settings: (port: number) => ServerSettings['sources']
  /** What is shown of both; the version is absent if the source does not read it. */
  readonly shows: readonly [older: string, newer: string]
}

const demo = (protocol: 'address' | 'rcon' | 'query' | 'management'): Start => {
  return async (isNewer) => {
    const server = await startDemoServer({
      ...{ era: isNewer ? '1.21.11' : protocol === 'management' ? '1.21.10' : '1.20.4', maxPlayers: isNewer ? 30 : 20 },
      ...{ rconPassword: secret, managementSecret: secret },
    })
    onTestFinished(() => server.close())
    if (protocol === 'rcon') return server.rcon.address.port
    if (protocol === 'management') return Number(new URL(server.management!.url).port)
    const { address, query } = server
    return protocol === 'query' ? query.port : address.port
  }
}

/** As servers before 1.7: they answer the old request, and end the connection of any other. */
const legacy: Start = async (isNewer) => {
  const version = isNewer ? '78\u00001.6.4\u0000Hi\u00003\u000030' : '61\u00001.5.2\u0000Hi\u00003\u000020'
  const text = Buffer.from(`§1\u0000${version}`, 'utf16le').swap16()
  const reply = Buffer.concat([Buffer.from([0xff, 0, text.length / 2]), text])
  const server = await hostileServer((socket) =>
    socket.once('data', ([first]: Buffer) => (first === 0xfe ? socket.end(reply) : socket.destroy())),
  )
  onTestFinished(() => server[Symbol.asyncDispose]())
  return server.port
}

const bedrock: Start = async (isNewer) => {
  const text = isNewer ? 'MCPE;Hi;1001;1.26.60;3;30' : 'MCPE;Hi;800;1.21.90;3;20'
  const server = await bedrockServer((reply) => reply(pong(text)))
  onTestFinished(() => server[Symbol.asyncDispose]())
  return server.port
}

const jolokia: Start = async (isNewer) => {
  const beans = [
    { tickTimes: [1e6, 2e6], averageTickTime: 0.03 },
    { 'java.lang:name=Heap,type=MemoryPool': { Usage: { used: 5, max: -1 } } },
    {},
    { ThreadCount: isNewer ? 30 : 20 },
  ]
  const reply = JSON.stringify(beans.map((value) => ({ status: 200, value })))
  const server = createServer((_, response) => void response.end(reply)).listen(0, host)
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

const java = (port: number) => ({ status: { address: { edition: 'java', host, port } } }) as const
const protocols: Readonly<Record<string, Protocol>> = {
  status: { source: 'status', start: demo('address'), settings: java, shows: ['1.20.4 20', '1.21.11 30'] },
  'legacy status': { source: 'status', start: legacy, settings: java, shows: ['1.5.2 20', '1.6.4 30'] },
  query: {
    source: 'query',
    start: demo('query'),
    settings: (port) => ({ query: { address: { host, port } } }),
    shows: ['1.20.4 20', '1.21.11 30'],
  },
  RCON: {
    source: 'rcon',
    start: demo('rcon'),
    settings: (port) => ({ rcon: { address: { host, port }, password: secret } }),
    shows: ['20', '30'],
  },
  Bedrock: {
    source: 'status',
    start: bedrock,
    settings: (port) => ({ status: { address: { edition: 'bedrock', host, port } } }),
    shows: ['1.21.90 20', '1.26.60 30'],
  },
  management: {
    source: 'management',
    start: demo('management'),
    settings: (port) => ({ management: { url: `ws://${host}:${port}`, secret } }),
    shows: ['1.21.10 20', '1.21.11 30'],
  },
  Jolokia: {
    source: 'jmx',
    start: jolokia,
    settings: (port) => ({ jmx: { url: `http://${host}:${port}/jolokia` } }),
    shows: ['20', '30'],
  },
}

type Fault = 'hang' | 'flood' | 'reset'
/** The error of each. */
const codes: Readonly<Record<Fault, RegExp>> = {
  hang: /^timeout$/,
  flood: /^(malformed|too_large|closed|timeout|unsupported)$/,
  reset: /^(closed|refused)$/,
}
/** What a port does: it passes everything on to another port, or has a fault. */
type Behaviour = number | Fault

interface Front {
  readonly port: number
  become(behaviour: Behaviour): Promise<void>
  /** Whether it was asked since. */
  isAsked(): boolean
}

/** Writes garbage for as long as it is read. */
function flood(socket: Socket): void {
  const garbage = Buffer.alloc(65_536, 0x80)
  const more = () => {
    while (!socket.destroyed && socket.write(garbage));
  }
  socket.on('drain', more)
  socket.once('data', more)
}

async function tcpFront(): Promise<Front> {
  let behaviour: Behaviour = 'hang'
  let isAsked = false
  const open = new Set<Socket>()
  const server = await hostileServer((socket) => {
    open.add(socket)
    isAsked = true
    socket.on('close', () => open.delete(socket))
    if (behaviour === 'flood') return flood(socket)
    if (behaviour === 'reset') return void socket.once('data', () => socket.resetAndDestroy())
    if (behaviour === 'hang') return void socket.resume()
    const upstream = net.connect({ host, port: behaviour, allowHalfOpen: true })
    upstream.on('error', () => socket.destroy())
    upstream.on('close', () => socket.destroy())
    socket.on('close', () => upstream.destroy())
    return void socket.pipe(upstream).pipe(socket)
  })
  onTestFinished(() => server[Symbol.asyncDispose]())
  return {
    port: server.port,
    // A server that is replaced ends its connections.
    async become(next) {
      behaviour = next
      isAsked = false
      for (const socket of open) socket.destroy()
    },
    isAsked: () => isAsked,
  }
}

async function udpFront(): Promise<Front> {
  const port = await freePort()
  let isAsked = false
  let socket: UdpSocket | undefined
  const upstreams = new Map<string, UdpSocket>()
  const close = async () => {
    for (const upstream of upstreams.values()) upstream.close()
    upstreams.clear()
    const before = socket
    socket = undefined
    if (before !== undefined) await new Promise<void>((resolve) => before.close(resolve))
  }
  onTestFinished(close)
  async function listen(behaviour: Exclude<Behaviour, 'reset'>): Promise<void> {
    const front = createSocket('udp4')
    front.on('message', (message, from) => {
      isAsked = true
      if (behaviour === 'hang') return
      if (behaviour === 'flood') {
        for (let count = 0; count < 500; count++) front.send(Buffer.alloc(1_400, 9), from.port, from.address)
        return
      }
      const key = `${from.address}:${from.port}`
      const upstream =
        upstreams.get(key) ?? createSocket('udp4').on('message', (reply) => front.send(reply, from.port, from.address))
      upstreams.set(key, upstream)
      upstream.send(message, behaviour, host)
    })
    front.bind(port, host)
    await once(front, 'listening')
    socket = front
  }
  await listen('hang')
  return {
    port,
    // Without a socket the system refuses datagrams.
    async become(next) {
      await close()
      isAsked = next === 'reset'
      if (next !== 'reset') await listen(next)
    },
    isAsked: () => isAsked,
  }
}

// Concurrent, because these tests mostly wait for deadlines and pauses between attempts.
describe.concurrent('a server that hangs, floods, resets connections and comes back as another version', () => {
  separateTestEnds()

  it.each(Object.entries(protocols))(
    'is never taken for healthy meanwhile, and then shown as it is: %s',
    async (name, protocol) => {
      const { source, start, settings, shows } = protocol
      const ports = [await start(false), await start(true)]
      const front = await (name === 'query' || name === 'Bedrock' ? udpFront() : tcpFront())
      const fleet = createFleet({
        servers: [{ name: 'Server', sources: settings(front.port) }],
        // Deadlines of two seconds and the pauses between attempts pass faster.
        poll: { interval: 240_000, timeout: 8_000, staleAfter: 720_000 },
        ...{ clock: fastClock(Date.now(), 4), log: silentLog, random: () => 0, createSources },
      })
      onTestFinished(() => fleet.close())
      const watcher = fleet.watchers[0]!
      const stateOf = () => watcher.snapshot().sources.find((one) => one.source === source)
      const shown = () => {
        const { version, playersMax, jvmThreads } = watcher.snapshot().fields
        return [version?.value, playersMax?.value ?? jvmThreads?.value].filter((value) => value !== undefined).join(' ')
      }
      const faults: readonly Fault[] = ['hang', 'flood', 'reset']
      for (const [index, fault] of [...faults, ...faults].entries()) {
        await front.become(ports[index % 2]!)
        // After failures there are pauses.
        await until(async () => {
          await watcher.poll()
          return stateOf()?.state === 'ok' && shown() === shows[index % 2]
        })
        await front.become(fault)
        // At first it may only notice that its connection has ended.
        await until(async () => {
          const { up } = await watcher.poll()
          expect([fault, stateOf()?.state, up === true]).toEqual([fault, 'failed', false])
          return front.isAsked()
        })
        expect([fault, stateOf()?.error?.code]).toEqual([fault, expect.stringMatching(codes[fault])])
      }
    },
  )
})
