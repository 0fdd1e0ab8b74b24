import { once } from 'node:events'
import net from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import type { Resolver } from '../../../../src/game/names/system-resolver.ts'
import { createNetwork, type Network, systemNetwork } from '../../../../src/game/network.ts'
import { FrameReader } from '../../../../src/game/protocol/status/frames.ts'
import { decodePing, encodePing, type Handshake } from '../../../../src/game/protocol/status/status.ts'
import { StatusSource } from '../../../../src/game/sources/status/index.ts'
import { SourceWatcher } from '../../../../src/game/watcher/index.ts'
import { systemClock } from '../../../../src/util/clock.ts'
import { silentLog } from '../../../../src/util/log.ts'
import { hostileServer } from '../../../helpers/hostile-servers.ts'
import { manualClock } from '../../../helpers/manual-clock.ts'
import { never } from '../../../helpers/never.ts'
import { decodeHandshake, encodeStatus } from '../../../helpers/status-packets.ts'

const context = { clock: systemClock, log: silentLog, random: () => 0, push() {} }
const servers: net.Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) server.close()
})

async function serve(json: string, { pong = true } = {}): Promise<{ port: number; handshakes: Handshake[]; server: net.Server }> {
  const handshakes: Handshake[] = []
  const server = net.createServer((socket) => {
    const reader = new FrameReader()
    let shaken = false
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      reader.push(chunk)
      for (let frame = reader.next(); frame; frame = reader.next()) {
        const payload = decodePing(frame)
        if (!shaken) {
          handshakes.push(decodeHandshake(frame))
          shaken = true
        } else if (payload === undefined) socket.write(encodeStatus(json))
        else if (pong) socket.write(encodePing(payload))
      }
    })
  })
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: (server.address() as net.AddressInfo).port, handshakes, server }
}

describe('status of a modern server', () => {
  it('is read', async () => {
    const { port, handshakes } = await serve(
      JSON.stringify({
        version: { name: 'Paper 1.21.11', protocol: 774 },
        players: { max: 20, online: 1, sample: [{ name: 'Alice', id: '11111111-2222-3333-4444-555555555555' }] },
        description: { text: 'Hello ', extra: [{ text: 'world' }] },
      }),
    )
    const source = new StatusSource({ edition: 'java', host: '127.0.0.1', port }, context)
    const { fields } = await source.poll(never())
    expect(fields).toEqual({
      edition: 'java',
      version: '1.21.11',
      software: 'Paper',
      protocol: 774,
      motd: 'Hello world',
      playersOnline: 1,
      playersMax: 20,
      players: { players: [{ name: 'Alice', id: '11111111-2222-3333-4444-555555555555' }], complete: false },
      secureChatEnforced: false,
      rawStatus: { version: 'Paper 1.21.11', playersOnline: 1, playersMax: 20 },
      ip: '127.0.0.1',
      port,
      latency: expect.any(Number),
    })
    expect(fields.latency).toBeGreaterThan(0)
    expect(handshakes).toEqual([{ protocol: -1, host: '127.0.0.1', port, next: 1 }])
  })
})

describe('SRV records', () => {
  const address = { edition: 'java', host: 'mc.example.org', port: 25565 } as const
  const record = (port: number, priority = 0, name = `node${port}.example.org`) => ({ name, port, priority, weight: 0 })
  const dnsError = (code: string) => Object.assign(new Error(code), { code })

  /** Every name is this machine; the plain address, whose port may be in use by a real server, leads to `plain`. */
  function fakeNetwork(plain: number, resolveSrv: (name: string) => Promise<ReturnType<typeof record>[]>, clock = systemClock) {
    const requested: string[] = []
    const resolver: Resolver = {
      addresses: async () => ({ value: [{ address: '127.0.0.1', family: 4 }] }),
      async srv(name) {
        requested.push(name)
        return { value: await resolveSrv(name) }
      },
      close() {},
    }
    const network: Network = {
      ...createNetwork({ clock, servers: 1, resolver }),
      connect: (addresses, port, ...others) => systemNetwork.connect(addresses, port === 25565 ? plain : port, ...others),
    }
    return { network, requested }
  }

  it('lead to the target, which the handshake names, and are resolved once', async () => {
    const { port, handshakes } = await serve('{}')
    const { network, requested } = fakeNetwork(1, async () => [record(1, 10), record(port, 5)])
    const source = new StatusSource(address, { ...context, network })
    expect((await source.poll(never())).fields.port).toBe(port)
    await source.poll(never())
    expect(handshakes.map(({ host, port: requested }) => `${host}:${requested}`)).toEqual([
      `node${port}.example.org:${port}`,
      `node${port}.example.org:${port}`,
    ])
    expect(requested).toEqual(['_minecraft._tcp.mc.example.org'])
  })

  it('lead to the next target when the first refuses', async () => {
    const closed = await serve('{}')
    closed.server.close()
    const { port } = await serve('{}')
    const { network } = fakeNetwork(1, async () => [record(closed.port, 1), record(port, 2)])
    const { fields } = await new StatusSource(address, { ...context, network }).poll(never())
    expect(fields.port).toBe(port)
  })

  it.each([
    ['fail', () => Promise.reject(dnsError('ESERVFAIL'))],
    ['do not exist', () => Promise.reject(dnsError('ENODATA'))],
    ['say that there is no service', async () => [record(25565, 0, '.')]],
    ['never come', () => new Promise<never>(() => {})],
  ])('that %s leave the plain address', async (_, resolveSrv) => {
    const { port, handshakes } = await serve('{}')
    const { network } = fakeNetwork(port, resolveSrv)
    const { fields } = await new StatusSource(address, { ...context, network }).poll(never())
    expect(fields.port).toBe(25565)
    expect(handshakes).toMatchObject([{ host: 'mc.example.org', port: 25565 }])
  })

  it('are renewed in the background after a minute, and kept while the name server fails', async () => {
    const clock = manualClock()
    const { port } = await serve('{}')
    let fails = false
    const { network, requested } = fakeNetwork(
      1,
      async () => {
        if (fails) throw dnsError('ETIMEOUT')
        return [record(port)]
      },
      clock,
    )
    const source = new StatusSource(address, { ...context, clock, network })
    await source.poll(never())
    fails = true
    await clock.advance(61_000)
    for (let poll = 0; poll < 3; poll++) expect((await source.poll(never())).fields.port).toBe(port)
    expect(requested).toHaveLength(2)
  })

  it('are looked up again, at most every 30 s, if they lead to no server', async () => {
    const clock = manualClock()
    const closed = await serve('{}')
    closed.server.close()
    const { port } = await serve('{}')
    const answers = [record(closed.port)]
    const { network, requested } = fakeNetwork(1, async () => [answers.shift() ?? record(port)], clock)
    const source = new StatusSource(address, { ...context, clock, network })
    await expect(source.poll(never())).rejects.toMatchObject({ code: 'refused' })
    await clock.advance(29_000)
    await expect(source.poll(never())).rejects.toMatchObject({ code: 'refused' })
    expect(requested).toHaveLength(1)
    await clock.advance(1_000)
    expect((await source.poll(never())).fields.port).toBe(port)
    expect(requested).toHaveLength(2)
  })

  it.each([
    { host: '127.0.0.1', port: 25565 },
    { host: 'mc.example.org', port: 25566 },
    { host: 'localhost', port: 25565 },
  ])('are not looked up at $host:$port', async ({ host, port }) => {
    const served = await serve('{}')
    const { network, requested } = fakeNetwork(served.port, async () => [])
    const all: Network = { ...network, connect: (addresses, _port, signal) => network.connect(addresses, 25565, signal) }
    await new StatusSource({ edition: 'java', host, port }, { ...context, network: all }).poll(never())
    expect(requested).toEqual([])
  })
})

it('returns the same Buffer for the same icon', async () => {
  const { port } = await serve('{"favicon":"data:image/png;base64,iVBORw0KGgo="}')
  const source = new StatusSource({ edition: 'java', host: '127.0.0.1', port }, context)
  const first = await source.poll(never())
  const second = await source.poll(never())
  expect(first.fields.favicon).toBeInstanceOf(Buffer)
  expect(second.fields.favicon).toBe(first.fields.favicon)
})

it('parses equal replies to several probes once, and only those', async () => {
  let json = '{"players":{"online":1,"max":20,"sample":[{"name":"Alice"}]}}'
  await using server = await hostileServer((socket) => void socket.once('data', () => socket.end(encodeStatus(json))))
  const players = async (isProbe: boolean) => {
    const options = isProbe ? { ...context, isProbe } : context
    const source = new StatusSource({ edition: 'java', host: '127.0.0.1', port: server.port }, options)
    return (await source.poll(never())).fields.players
  }
  const first = await players(true)
  expect(first).toEqual({ players: [{ name: 'Alice' }], complete: false })
  expect(await players(true)).toBe(first)
  expect(await players(false)).not.toBe(first)
  json = json.replace('Alice', 'Bob')
  expect(await players(true)).toEqual({ players: [{ name: 'Bob' }], complete: false })
})

it('detects within one interval that a server goes down and comes back', async () => {
  const clock = manualClock()
  const json = '{"description":"x"}'
  const first = await hostileServer((socket) => void socket.once('data', () => socket.end(encodeStatus(json))))
  const watcher = new SourceWatcher({
    server: 'Server',
    settings: { interval: 5_000, timeout: 3_000, staleAfter: 15_000 },
    clock,
    log: silentLog,
    random: () => 0,
    sources(push) {
      const source = new StatusSource({ edition: 'java', host: '127.0.0.1', port: first.port }, { ...context, clock, push })
      return { list: () => [source], close: () => source.close() }
    },
  })
  watcher.start()
  const interval = async (up: boolean) => {
    await clock.advance(5_000)
    await expect.poll(() => watcher.snapshot().up).toBe(up)
  }
  await interval(true)
  await first[Symbol.asyncDispose]()
  await interval(false)
  await interval(false)
  await using again = await hostileServer((socket) => void socket.once('data', () => socket.end(encodeStatus(json))), first.port)
  await interval(true)
  expect(again.accepted()).toBe(1)
  watcher.close()
})
