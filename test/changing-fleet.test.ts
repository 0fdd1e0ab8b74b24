import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { describe, expect, it, onTestFinished } from 'vitest'
import { buildApp } from '../src/app.ts'
import { loadConfig } from '../src/config/config.ts'
import { demoSettings, startDemoServer } from '../src/demo/demo-server.ts'
import { createFleet } from '../src/game/fleet.ts'
import type { ServerSettings } from '../src/game/server-settings.ts'
import { createSources } from '../src/game/sources/create-sources.ts'
import { systemClock } from '../src/util/clock.ts'
import { silentLog } from '../src/util/log.ts'
import { openEvents } from './helpers/event-client.ts'
import type { Script } from './helpers/fake-fleet.ts'
import { parseSamples } from './helpers/metrics-service.ts'
import { buildTestApp, type TestApp } from './helpers/test-app.ts'
import { until } from './helpers/until.ts'

const up = (playersOnline: number): Script => ({ status: { playersOnline, motd: 'Hello', version: '1.21.11' } })
const server = (name: string, port = 25_565, group?: string): ServerSettings => ({
  name,
  sources: { status: { address: { edition: 'java', host: 'mc.test', port } } },
  ...(group !== undefined && { group }),
})
const json = async (reply: Promise<Response>) => (await reply).json() as Promise<never>

/** The servers `a` and `b` with players 1 and 2, polled. */
async function start(env: Readonly<Record<string, string>> = {}): Promise<TestApp> {
  const service = await buildTestApp({ scripts: { a: up(1), b: up(2), c: up(3) }, polled: false, env })
  service.fleet.update([server('a'), server('b')])
  await service.fleet.pollAll()
  return service
}

const change = async ({ fleet }: TestApp, servers: readonly ServerSettings[]) => {
  fleet.update(servers)
  await fleet.pollAll()
}

const pageData = async ({ get }: TestApp) => {
  const html = await (await get('/', { accept: 'text/html' })).text()
  return JSON.parse(/id="data">(.*?)<\/script>/.exec(html)?.[1] ?? '') as {
    readonly servers: readonly {
      readonly name: string
      readonly state: { readonly group: string | null; readonly address: string | null }
    }[]
  }
}

describe('servers that are added and removed', () => {
  it('are in the API only while they are watched', async () => {
    const service = await start()
    const { get } = service
    expect(await json(get('/api/v1/servers'))).toEqual(['a', 'b'])
    expect((await get('/api/v1/servers/c/getall')).status).toBe(404)
    await change(service, [server('c'), server('b')])
    expect(await json(get('/api/v1/servers'))).toEqual(['c', 'b'])
    expect(await json(get('/api/v1/servers/c/currentplayercount'))).toEqual(['3'])
    // The first one is the primary one.
    expect(await json(get('/api/v1/servername'))).toEqual(['c'])
    for (const path of ['getall', 'sources', 'uptime', 'history', 'badge.svg', 'favicon', 'getall?a']) {
      expect((await get(`/api/v1/servers/a/${path}`)).status, path).toBe(404)
      expect((await get(`/api/v1/servers/c/${path}`)).status, path).toBe(200)
    }
    await change(service, [])
    expect((await get('/api/v1/getall')).status).toBe(503)
  })

  it('are found by their names in every percent-encoding', async () => {
    const service = await buildTestApp({ scripts: { 'a b/%é': up(1), plain: up(2) } })
    for (const name of ['a%20b%2F%25%C3%A9', 'a%20b%2f%25%c3%a9', 'plain', '%70lain'])
      expect((await service.get(`/api/v1/servers/${name}/getall`)).status, name).toBe(200)
    for (const name of ['a%20b', '%', '%E9', ''])
      expect((await service.get(`/api/v1/servers/${name}/getall`)).status, name).toBeGreaterThanOrEqual(400)
  })

  it('appear in and disappear from the metrics and the targets for Prometheus', async () => {
    const service = await start({ COMPAT: 'mc-monitor' })
    const series = async () => {
      const samples = parseSamples(await (await service.get('/metrics')).text())
      return new Set(samples.flatMap(({ labels }) => /server="(.*?)"/.exec(labels)?.[1] ?? []))
    }
    const targets = async () =>
      ((await json(service.get('/sd'))) as readonly { readonly targets: readonly string[] }[]).flatMap(({ targets }) => targets)
    expect([await series(), await targets()]).toEqual([new Set(['a', 'b']), ['a', 'b']])
    await change(service, [server('b'), server('c', 25_566)])
    expect([await series(), await targets()]).toEqual([new Set(['b', 'c']), ['mc.test:25565', 'mc.test:25566']])
    await change(service, [server('c', 25_566)])
    expect([await series(), await targets()]).toEqual([new Set(['c']), ['mc.test:25566']])
    expect((await service.get('/probe?target=b')).status).not.toBe(200)
  })

  it('are on the page, which is rendered again', async () => {
    const service = await start()
    const shown = async () =>
      (await pageData(service)).servers.map(({ name, state: { group, address } }) => [name, group, address])
    expect(await shown()).toEqual([
      ['a', null, 'mc.test:25565'],
      ['b', null, 'mc.test:25565'],
    ])
    await change(service, [server('c'), server('a', 25_566, 'Lobbies')])
    expect(await shown()).toEqual([
      ['c', null, 'mc.test:25565'],
      ['a', 'Lobbies', 'mc.test:25566'],
    ])
    expect((await service.get('/page/servers/b')).status).toBe(404)
    expect((await service.get('/servers/c')).status).toBe(200)
  })

  it('are sent to event clients', async () => {
    const service = await start()
    const client = await openEvents(`${service.url}/api/v1/events`)
    onTestFinished(() => client.close())
    await until(() => client.events.length === 2)
    await change(service, [server('b'), server('c')])
    await until(() => client.events.some(({ data }) => data.server === 'c' && data.up === true))
    const received = client.events.slice(2).map(({ event, data }) => [event, data.server, data.up, data.online])
    expect(received).toEqual([
      ['change', 'a', null, null],
      ['snapshot', 'c', null, null],
      ['change', 'c', true, 3],
    ])
    const later = await openEvents(`${service.url}/api/v1/events`)
    onTestFinished(() => later.close())
    await until(() => later.events.length === 2)
    expect(later.events.map(({ data }) => data.server)).toEqual(['b', 'c'])
  })

  it('are sent to the page with everything that a card shows', async () => {
    const service = await start()
    const client = await openEvents(`${service.url}/page/events`)
    onTestFinished(() => client.close())
    await until(() => client.events.length === 3)
    expect(client.events[0]).toMatchObject({ event: 'servers', data: { servers: ['a', 'b'] } })
    await change(service, [server('b', 25_566, 'Lobbies'), server('c', 25_567, 'Games')])
    await until(() => client.events.some(({ event, data }) => event === 'change' && data.server === 'c'))
    const received = client.events.slice(3).map(({ event, data }) => [event, data.server, data.group, data.address])
    expect(received).toEqual([
      ['change', 'a', undefined, undefined],
      ['removed', 'a', undefined, undefined],
      ['snapshot', 'c', 'Games', 'mc.test:25567'],
      ['change', 'b', 'Lobbies', 'mc.test:25566'],
      ['change', 'b', undefined, undefined],
      ['change', 'c', undefined, undefined],
    ])
  })

  it('are unknown everywhere from a change of their settings until the next poll', async () => {
    const service = await start()
    const { clock, fleet, get, url } = service
    const [client, pageClient] = [await openEvents(`${url}/api/v1/events`), await openEvents(`${url}/page/events`)]
    onTestFinished(() => client.close())
    onTestFinished(() => pageClient.close())
    await until(() => client.events.length === 2 && pageClient.events.length === 3)
    const status = async (path: string) => (await get(`/api/v1/servers/a/${path}`)).status
    const metrics = async () =>
      parseSamples(await (await get('/metrics')).text()).flatMap(({ name, labels, value }) =>
        labels.includes('server="a"') && /_(?:up|players_online)$/.test(name) ? [[name, value]] : [],
      )
    const knownSeconds = async () => {
      const { days } = (await json(get('/api/v1/servers/a/uptime?days=1'))) as { days: readonly { known: number }[] }
      return Math.round((days[0]?.known ?? 0) * 86_400)
    }
    expect(await metrics()).not.toEqual([])
    expect(await status('currentplayercount')).toBe(200)
    expect((await pageData(service)).servers[0]).toMatchObject({ state: { up: true, online: 1 } })
    await clock.advance(2_000)
    fleet.update([server('a', 25_566), server('b')])
    await until(() => client.events.length === 3)
    await until(() => pageClient.events.length === 4)
    expect(client.events[2]).toMatchObject({ event: 'change', data: { server: 'a', up: null, online: null, motd: null } })
    expect(pageClient.events[3]).toMatchObject({
      event: 'change',
      data: { server: 'a', up: null, online: null, address: 'mc.test:25566' },
    })
    expect(await metrics()).toEqual([])
    expect([await status('getall'), await status('currentplayercount'), await status('favicon')]).toEqual([503, 503, 503])
    expect((await pageData(service)).servers[0]).toMatchObject({ state: { up: null, online: null, players: null } })
    await clock.advance(10_000)
    expect(await knownSeconds()).toBe(2)
  })

  it('do not make a ready service unready', async () => {
    const service = await start()
    service.fleet.update([server('a'), server('c')])
    expect((await service.get('/readyz')).status).toBe(200)
  })
})

it('writes the history of a removed server, and continues it when the server returns', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tickwarden-changing-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const service = await start({ HISTORY_DIR: folder })
  const { clock, fleet, get } = service
  const known = async (name: string): Promise<number> => {
    const { series } = (await json(get(`/api/v1/servers/${name}/history?range=1h&points=1000`))) as {
      series: { players: { mean: (number | null)[] } }
    }
    return series.players.mean.filter((value) => value !== null).length
  }
  const watchFor = async (seconds: number) => {
    for (let passed = 0; passed < seconds; passed += 5) {
      await clock.advance(5_000)
      await fleet.pollAll()
    }
  }
  await watchFor(120)
  const before = await known('a')
  expect(before).toBeGreaterThan(10)
  fleet.update([server('b')])
  // It returns at once, and changes before what is stored of it is known.
  await clock.advance(20_000)
  for (const port of [1, 2, 3]) fleet.update([server('b'), server('a', port)])
  fleet.update([server('b')])
  fleet.update([server('b'), server('a')])
  await fleet.pollAll()
  await until(async () => (await known('a')) >= before)
  await watchFor(120)
  expect(await known('a')).toBeGreaterThan(before + 9)
})

/** A TCP relay that counts the connections through it. */
async function startRelay(target: { readonly host: string; readonly port: number }) {
  const open = new Set<net.Socket>()
  let connections = 0
  const relay = net.createServer((socket) => {
    connections++
    open.add(socket)
    const other = net.connect(target)
    for (const [from, to] of [
      [socket, other],
      [other, socket],
    ] as const) {
      from.on('error', () => to.destroy())
      from.on('close', () => to.destroy())
      from.pipe(to)
    }
    socket.on('close', () => open.delete(socket))
  })
  relay.listen(0, '127.0.0.1')
  await once(relay, 'listening')
  onTestFinished(() => {
    for (const socket of open) socket.destroy()
    relay.close()
  })
  const { port } = relay.address() as net.AddressInfo
  return { address: { host: '127.0.0.1', port }, connections: () => connections, open: () => open.size }
}

it('keeps the RCON connection of a server that has not changed, and closes that of one that is removed', async () => {
  const demo = await startDemoServer({})
  onTestFinished(() => demo.close())
  const [kept, gone] = [await startRelay(demo.rcon.address), await startRelay(demo.rcon.address)]
  const settings = (name: string, address: typeof kept.address): ServerSettings => {
    const { sources } = demoSettings(demo, name)
    return { name, sources: { ...(sources.status && { status: sources.status }), rcon: { ...demo.rcon, address } } }
  }
  // So long that a poll is in time on a busy machine too.
  const { poll } = loadConfig({ env: { POLL_INTERVAL: '500ms', POLL_TIMEOUT: '60s' } })
  const fleet = createFleet({
    servers: [settings('gone', gone.address)],
    poll,
    clock: systemClock,
    log: silentLog,
    createSources,
  })
  const app = await buildApp({ config: loadConfig({ env: {} }), fleet, logger: pino({ level: 'silent' }) })
  onTestFinished(async () => {
    fleet.close()
    await app.close()
  })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const ticks = async (name: string) => (await fetch(`${url}/api/v1/servers/${name}/ticks`)).status
  fleet.start()
  fleet.update([settings('gone', gone.address), settings('kept', kept.address)])
  await until(async () => (await ticks('kept')) === 200 && (await ticks('gone')) === 200)
  await until(() => kept.open() === 1 && gone.open() === 1)
  for (let round = 0; round < 20; round++) {
    fleet.update([settings('kept', kept.address), { ...settings(`other${round}`, kept.address), sources: {} }])
    expect(await ticks('kept')).toBe(200)
  }
  await until(() => gone.open() === 0)
  expect([kept.connections(), kept.open()]).toEqual([1, 1])
  expect(await ticks('gone')).toBe(404)
})
