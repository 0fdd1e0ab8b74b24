import { describe, expect, it } from 'vitest'
import { SourceError } from '../../src/game/errors.ts'
import type { Fields } from '../../src/game/fields.ts'
import type { RangeValues } from '../../src/history/values/range.ts'
import type { Uptime } from '../../src/history/values/uptime.ts'
import { buildTestApp, type TestApp } from '../helpers/test-app.ts'

const status: Partial<Fields> = { version: '1.21.11', playersOnline: 2, playersMax: 20, latency: 0.0015 }
const rcon: Partial<Fields> = { tickRate: 19.98, tickDurationMean: 0.01234, tickDurationP99: 0.05 }
const refused = new SourceError('refused', 'Server.test: connection refused')
const minute = 60_000
const day = 86_400_000

interface HistoryReply extends RangeValues {
  readonly server: string
}

const readHistory = async ({ get }: TestApp, query = '', base = '/api/v1'): Promise<HistoryReply> =>
  (await get(`${base}/history${query}`)).json() as Promise<HistoryReply>
const readUptime = async ({ get }: TestApp, query = ''): Promise<Uptime> =>
  (await get(`/api/v1/uptime${query}`)).json() as Promise<Uptime>
const known = (values: readonly (number | null)[]) => values.filter((value) => value !== null)

/** Polls every 5 s, like the service. */
async function run(service: TestApp, milliseconds: number, between = 5_000): Promise<void> {
  for (let passed = 0; passed < milliseconds; passed += between) {
    await service.clock.advance(between)
    await service.fleet.pollAll()
  }
}

describe('/history', () => {
  it('has all series, as minimum, mean and maximum', async () => {
    const service = await buildTestApp({ scripts: { Server: { status, rcon } } })
    const all = 'players,latency,tickRate,tickTimeMean,tickTimeP99'
    const reply = await readHistory(service, `?series=${all}&range=1h&points=360`)
    expect(reply).toMatchObject({ server: 'Server', step: 10_000, to: 1_700_000_010_000, from: 1_700_000_010_000 - 60 * minute })
    const last = Object.entries(reply.series).map(([name, values]) => [
      name,
      values.min.at(-1),
      values.mean.at(-1),
      values.max.at(-1),
    ])
    expect(last).toEqual([
      ['players', 2, 2, 2],
      ['latency', 1.5, 1.5, 1.5],
      ['tickRate', 19.98, 19.98, 19.98],
      ['tickTimeMean', 12.34, 12.34, 12.34],
      ['tickTimeP99', 50, 50, 50],
    ])
    expect(known(reply.series.players!.mean)).toHaveLength(1)
  })

  it('weights values by their duration', async () => {
    const service = await buildTestApp({ scripts: { Server: { status } } })
    await service.clock.advance(4_000)
    service.fleet.scripts.Server = { status: { ...status, playersOnline: 10 } }
    await service.fleet.pollAll()
    await service.clock.advance(4_000)
    const { series } = await readHistory(service, '?range=1h&points=1000')
    expect([series.players!.min.at(-1), series.players!.max.at(-1)]).toEqual([2, 10])
    expect(series.players!.mean.at(-1)).toBeCloseTo(6, 2)
  })

  it('does not depend on the poll interval, and keeps gaps', async () => {
    const service = await buildTestApp({ scripts: { Server: { status } } })
    await run(service, 5 * minute, 10_000)
    // Without polls, values are valid until they are stale, 15 s later.
    await service.clock.advance(3 * minute)
    const reply = await readHistory(service, '?range=1h&points=1000')
    const values = reply.series.players!.mean
    expect(values).toHaveLength(360)
    // 315 s in buckets of 10 s; the first poll was 1 s after the start of one.
    expect(known(values)).toHaveLength(32)
    expect(values.slice(-16)).toEqual(Array.from({ length: 16 }, () => null))
  })

  it('has no values while the server is down', async () => {
    const service = await buildTestApp({ scripts: { Server: { status } } })
    await run(service, minute)
    service.fleet.scripts.Server = { status: refused }
    await run(service, 2 * minute)
    service.fleet.scripts.Server = { status }
    await run(service, minute)
    const { series } = await readHistory(service, '?range=1h&points=1000')
    const values = series.players!.mean.slice(-24).map((value) => (value === null ? '.' : value))
    expect(values.join('')).toMatch(/^2{6,7}\.{11,12}2{6,7}$/)
  })

  it.each([
    ['', 24 * 60 * minute, 6 * minute],
    ['?range=1h', 60 * minute, 20_000],
    ['?range=1h&points=1000', 60 * minute, 10_000],
    ['?range=1h&points=10', 60 * minute, 6 * minute],
    ['?range=90m', 90 * minute, minute],
    ['?range=24h&points=1000', day, 2 * minute],
    ['?range=1d&points=13', day, 2 * 60 * minute],
    ['?range=7d', 7 * day, 60 * minute],
    ['?range=7d&points=1000', 7 * day, 20 * minute],
    ['?range=30d', 30 * day, day],
    ['?range=90d', 90 * day, day],
    ['?range=365d&points=365', 365 * day, day],
    ['?range=365d', 365 * day, 5 * day],
    // No step of a stored length divides them into enough values: the range is extended to whole steps.
    ['?range=251m', 252 * minute, 2 * minute],
    ['?range=253m', 254 * minute, 2 * minute],
    ['?range=1439m&points=10', 1440 * minute, 144 * minute],
    ['?range=10070m', 10_100 * minute, 50 * minute],
  ])('%s has steps that divide the range evenly', async (query, range, step) => {
    const service = await buildTestApp({ scripts: { Server: { status } } })
    const reply = await readHistory(service, query)
    expect([reply.to - reply.from, reply.step]).toEqual([range, step])
    const { min, mean, max } = reply.series.players!
    expect([min.length, mean.length, max.length]).toEqual(Array.from({ length: 3 }, () => range / step))
    expect(known(mean)).toEqual([2])
    expect(reply.to).toBeGreaterThan(service.clock.wall())
    expect(reply.to - service.clock.wall()).toBeLessThanOrEqual(step)
  })

  it.each([
    ['series=tps', 'series'],
    ['series=', 'series'],
    ['series=players,', 'series'],
    ['series=,players', 'series'],
    ['series=players,,latency', 'series'],
    ['range=59m', 'range'],
    ['range=8d', 'range'],
    ['range=31d', 'range'],
    ['range=1441m', 'range'],
    ['range=3600001ms', 'range'],
    ['range=1w', 'range'],
    ['points=9', 'points'],
    ['points=1001', 'points'],
    ['points=1e2', 'points'],
    ['points=10&points=10', 'points'],
  ])('?%s', async (query, parameter) => {
    const { get } = await buildTestApp({ scripts: { Server: { status } } })
    const reply = await get(`/api/v1/history?${query}`)
    expect(reply.status).toBe(400)
    expect(await reply.json()).toMatchObject({
      code: 'INVALID_PARAMETER',
      detail: expect.stringContaining(`Parameter "${parameter}"`),
    })
  })

  it('exists for each server by name', async () => {
    const service = await buildTestApp({ scripts: { Server: { status }, 'the other': { status: { playersOnline: 7 } } } })
    const reply = await readHistory(service, '?series=players,players', '/api/v1/servers/the%20other')
    expect([reply.server, known(reply.series.players!.max)]).toEqual(['the other', [7]])
    expect((await service.get('/api/v1/servers/none/history')).status).toBe(404)
    expect((await service.get('/api/v1/servers/none/uptime')).status).toBe(404)
  })

  it('has an ETag, which is answered with 304', async () => {
    const { get } = await buildTestApp({ scripts: { Server: { status } } })
    for (const path of ['/api/v1/history', '/api/v1/uptime']) {
      const reply = await get(path)
      expect(reply.headers.get('cache-control')).toBe('no-cache')
      expect((await get(path, { 'if-none-match': reply.headers.get('etag') ?? '' })).status).toBe(304)
    }
  })
})

describe('/uptime', () => {
  it('has the parts of each UTC day in which the server was up and was watched', async () => {
    const service = await buildTestApp({ scripts: { Server: { status } } })
    await run(service, 30 * minute)
    service.fleet.scripts.Server = { status: refused }
    await run(service, 10 * minute)
    // 22:13:21 and 40 minutes: the next day begins in 66:39.
    await service.clock.advance(80 * minute)
    service.fleet.scripts.Server = { status: { ...status, playersOnline: 14 } }
    await service.fleet.pollAll()
    const peakAt = service.clock.wall()
    await run(service, 20 * minute)
    const { since, days, record } = await readUptime(service, '?days=3')
    expect(since).toBe(1_700_000_001_000)
    expect(days.map(({ date }) => date)).toEqual(['2023-11-13', '2023-11-14', '2023-11-15'])
    expect(days[0]).toEqual({
      date: '2023-11-13',
      up: null,
      known: 0,
      maintenance: 0,
      players: { mean: null, max: null, maxAt: null },
    })
    expect(days[1]!.players).toEqual({ mean: 2, max: 2, maxAt: 1_700_000_001_000 })
    // The server is down from each failed poll on; then it is no longer polled, and soon unknown.
    expect(days[1]!.up).toBeCloseTo(30 / 40.3, 2)
    expect(days[2]!.players).toEqual({ mean: 14, max: 14, maxAt: peakAt })
    expect(record).toEqual({ players: 14, at: peakAt })
  })

  it('is unknown before the first poll', async () => {
    const service = await buildTestApp({ scripts: { Server: { status } }, polled: false })
    await service.clock.advance(minute)
    const reply = await readUptime(service)
    expect(reply).toMatchObject({ since: null, record: { players: null, at: null } })
    expect(reply.days).toHaveLength(90)
    expect(reply.days.every(({ up, known }) => up === null && known === 0)).toBe(true)
  })

  it('treats a server as unknown once it is no longer polled', async () => {
    const service = await buildTestApp({ scripts: { Server: { status } } })
    await service.clock.advance(60 * minute)
    const [today] = (await readUptime(service, '?days=1')).days
    expect(today).toMatchObject({ up: 1, known: 0.000174 })
  })

  it.each(['0', '401', 'x', ''])('refuses days=%s', async (days) => {
    const { get } = await buildTestApp({ scripts: { Server: { status } } })
    const reply = await get(`/api/v1/uptime?days=${days}`)
    expect(reply.status).toBe(400)
    expect(await reply.json()).toMatchObject({ detail: expect.stringContaining('"days"') })
  })

  it('covers 400 days', async () => {
    const service = await buildTestApp({ scripts: { Server: { status } } })
    expect((await readUptime(service, '?days=400')).days).toHaveLength(400)
  })
})

describe('/sessions', () => {
  const list = (...names: string[]): Partial<Fields> => ({
    players: { complete: true, players: names.map((name) => (name === 'Alice' ? { name, id: alice } : { name })) },
  })
  const alice = '00000000-0000-4000-8000-00000000000a'
  const poll = async (service: TestApp, ...names: string[]) => {
    await service.clock.advance(5_000)
    service.fleet.scripts.Server = { status, rcon: list(...names) }
    await service.fleet.pollAll()
  }
  const read = async ({ get }: TestApp) => (await get('/api/v1/sessions')).json()

  it('has the players that joined and left, with the times if known', async () => {
    const service = await buildTestApp({ scripts: { Server: { status, rcon: list('Bob') } } })
    await poll(service, 'Alice', 'Bob')
    const joined = service.clock.wall()
    await poll(service, 'Alice')
    await poll(service)
    await poll(service, 'Alice')
    const now = service.clock.wall()
    expect(await read(service)).toEqual({
      server: 'Server',
      sessions: [
        { player: { ID: alice, NAME: 'Alice' }, from: now, to: null, online: true },
        { player: { ID: alice, NAME: 'Alice' }, from: joined, to: joined + 10_000, online: false },
        { player: { ID: '', NAME: 'Bob' }, from: null, to: joined + 5_000, online: false },
      ],
    })
  })

  it('invents nothing for the time in which the server was not watched', async () => {
    const service = await buildTestApp({ scripts: { Server: { status, rcon: list('Alice') } } })
    await poll(service, 'Alice', 'Bob')
    const joined = service.clock.wall()
    await service.clock.advance(60 * minute)
    await poll(service, 'Bob')
    expect(await read(service)).toMatchObject({
      sessions: [
        { player: { NAME: 'Bob' }, from: null, to: null, online: true },
        { player: { NAME: 'Bob' }, from: joined, to: null, online: false },
        { player: { NAME: 'Alice' }, from: null, to: null, online: false },
      ],
    })
  })

  it('continues over polls with the same list, unless the server was not watched in between', async () => {
    const service = await buildTestApp({ scripts: { Server: { status, rcon: list() } } })
    await poll(service, 'Alice')
    const joined = service.clock.wall()
    const pollAgain = async (after: number) => {
      await service.clock.advance(after)
      await service.fleet.pollAll()
    }
    for (let count = 0; count < 3; count++) await pollAgain(5 * minute)
    const first = { player: { NAME: 'Alice' }, from: joined }
    expect(await read(service)).toMatchObject({ sessions: [{ ...first, to: null, online: true }] })
    await pollAgain(60 * minute)
    const second = { player: { NAME: 'Alice' }, from: null }
    expect(await read(service)).toMatchObject({
      sessions: [
        { ...second, online: true },
        { ...first, to: null, online: false },
      ],
    })
    for (let count = 0; count < 3; count++) await pollAgain(5 * minute)
    await poll(service)
    const sessions = [
      { ...second, to: service.clock.wall(), online: false },
      { ...first, to: null, online: false },
    ]
    expect(await read(service)).toMatchObject({ sessions })
  })

  it('keeps the last 200', async () => {
    const service = await buildTestApp({ scripts: { Server: { status, rcon: list() } } })
    for (let count = 0; count < 110; count++) await poll(service, `a${count}`, `b${count}`)
    const { sessions } = (await read(service)) as { sessions: { player: { NAME: string } }[] }
    expect(sessions).toHaveLength(200)
    expect([sessions[0]!.player.NAME, sessions.at(-1)!.player.NAME]).toEqual(['b109', 'a10'])
  })
})

describe('/players', () => {
  const alice = '00000000-0000-4000-8000-00000000000a'
  const poll = async (service: TestApp, passed: number, ...names: string[]) => {
    await service.clock.advance(passed)
    const players = names.map((name) => (name === 'Alice' ? { name, id: alice } : { name }))
    service.fleet.scripts.Server = { status, rcon: { players: { complete: true, players } } }
    await service.fleet.pollAll()
  }
  const start = async (env: Record<string, string> = {}) => {
    const rcon = { players: { complete: true, players: [{ name: 'Early' }] } }
    const service = await buildTestApp({ scripts: { Server: { status, rcon } }, env })
    await poll(service, 5_000, 'Alice', 'Bob')
    return service
  }
  const read = async ({ get }: TestApp, query = '') => (await get(`/api/v1/players${query}`)).json()

  it('adds up the sessions in the range, longest time first', async () => {
    const service = await start()
    await poll(service, 60_000, 'Alice')
    await poll(service, 60_000)
    await poll(service, 60_000, 'Alice')
    await poll(service, 30_000, 'Alice')
    const now = service.clock.wall()
    const early = { player: { ID: '', NAME: 'Early' }, seconds: 0, sessions: 1, lastSeen: now - 210_000, online: false }
    expect(await read(service)).toEqual({
      server: 'Server',
      players: [
        { player: { ID: alice, NAME: 'Alice' }, seconds: 150, sessions: 2, lastSeen: now, online: true },
        { player: { ID: '', NAME: 'Bob' }, seconds: 60, sessions: 1, lastSeen: now - 150_000, online: false },
        early,
      ],
    })
    expect(await (await service.get('/api/v1/servers/Server/players?range=1h')).json()).toEqual(await read(service))
  })

  it('counts only the part of a session in the range', async () => {
    const service = await start()
    for (let passed = 0; passed < 90; passed += 5) await poll(service, 5 * minute, 'Alice')
    expect(await read(service, '?range=1h')).toMatchObject({ players: [{ player: { NAME: 'Alice' }, seconds: 3600 }] })
    expect(await read(service, '?range=2h')).toMatchObject({ players: [{ seconds: 5400 }, {}, {}] })
  })

  it.each(['range=5m', 'range=8d', 'range=', 'range=7d&range=7d'])('refuses ?%s', async (query) => {
    const reply = await (await start()).get(`/api/v1/players?${query}`)
    expect(reply.status).toBe(400)
    expect(await reply.json()).toMatchObject({ code: 'INVALID_PARAMETER', detail: expect.stringContaining('"range"') })
  })

  it.each(['PAGE_PUBLIC', 'HISTORY_PLAYERS'])('are not served if %s is false', async (name) => {
    const service = await start({ [name]: 'false' })
    for (const base of ['/api/v1', '/api/v1/servers/Server']) {
      const reply = await service.get(`${base}/players`)
      expect(reply.status).toBe(404)
      expect(await reply.json()).toMatchObject({ detail: `Players are not served because ${name} is false.` })
    }
    const { sessions } = (await (await service.get('/api/v1/sessions')).json()) as { sessions: unknown[] }
    expect(sessions).toHaveLength(name === 'HISTORY_PLAYERS' ? 0 : 3)
  })
})

describe('memory', () => {
  const bytesOf = async (service: TestApp) =>
    Number(/^tickwarden_history_bytes (\d+)$/m.exec(await (await service.get('/metrics')).text())?.[1])

  it('is that of the database, of a file at most its cache', async () => {
    const service = await buildTestApp({ scripts: { Server: { status } } })
    const first = await bytesOf(service)
    expect(first).toBeGreaterThan(0)
    expect(first).toBeLessThan(128 * 1024)
    await run(service, 2 * 60 * minute, minute)
    expect(await bytesOf(service)).toBeGreaterThan(first)
    expect(await bytesOf(service)).toBeLessThan(4 * 1024 * 1024)
  })
})
