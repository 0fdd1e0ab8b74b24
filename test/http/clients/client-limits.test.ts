import { get as httpGet, type IncomingMessage } from 'node:http'
import { pino } from 'pino'
import { describe, expect, it, onTestFinished } from 'vitest'
import { loadConfig } from '../../../src/config/config.ts'
import { registerBasic } from '../../../src/data/routes/basic.ts'
import { createHttpApp } from '../../../src/http/app.ts'
import { clientOf } from '../../../src/http/clients/client.ts'
import { type EventClient, openEvents } from '../../helpers/event-client.ts'
import { buildTestApp, type TestApp } from '../../helpers/test-app.ts'
import { until } from '../../helpers/until.ts'

const uuid = '069a79f4-44e9-4726-a5be-fca90e38aaf5'
const scripts = () => ({ Server: { status: { motd: 'Hello', playersOnline: 1, playersMax: 20 } }, other: { status: {} } })
const start = (env: Record<string, string> = {}) => buildTestApp({ scripts: scripts(), env })
const from = (address: string) => ({ 'x-forwarded-for': address })

/** The reply to a request from another address of this machine. */
const getFrom = (service: TestApp, localAddress: string, path: string, headers = {}) =>
  new Promise<IncomingMessage>((resolve, reject) => {
    const request = httpGet(service.url + path, { localAddress, headers, agent: false }, (reply) => resolve(reply.resume()))
    request.on('error', reject)
  })

describe('a limit of requests', () => {
  it.each<[string, (count: number) => string, Record<string, string>?]>([
    ['CLIENT_PROBES', (count) => `/probe?target=Server&debug=${count % 2 === 0}`],
    ['CLIENT_RUNS', () => '/v1/run'],
    ['CLIENT_RUNS', () => '/v1/run/synclikedsongs'],
    ['CLIENT_HEADERS', () => '/v1/debug/headers'],
    ['CLIENT_PICTURES', (count) => `/api/v1/banner.png?width=${300 + count}`],
    ['CLIENT_PICTURES', (count) => `/api/v1/servers/Server/chart.png?width=${300 + count}`],
    ['CLIENT_PICTURES', (count) => `/api/v1/badge.svg?show=${['players', 'tps', 'uptime', 'status'][count]}`],
    ['CLIENT_PICTURES', (count) => `/api/v1/favicon?size=${100 + count}`, { accept: 'image/png' }],
    ['CLIENT_HEADS', (count) => `/api/v1/players/${uuid}/head.png?size=${8 + count}`],
  ])('%s answers 429 above it for a minute, to one client only: %#', async (setting, path, headers = {}) => {
    const service = await start({ [setting]: '2' })
    const limited = async (count: number) => {
      const reply = await service.get(path(count), headers)
      return [reply.status === 429, reply.headers.get('x-ratelimit-limit'), reply.headers.get('x-ratelimit-remaining')]
    }
    expect(await limited(0)).toEqual([false, '2', '1'])
    expect(await limited(1)).toEqual([false, '2', '0'])
    const refused = await service.get(path(2), headers)
    expect(refused.status).toBe(429)
    expect(Object.fromEntries(refused.headers)).toMatchObject({
      'content-type': 'application/problem+json; charset=utf-8',
      'cache-control': 'no-store',
      'retry-after': '60',
      'x-ratelimit-limit': '2',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': '60',
    })
    const problem = await refused.json()
    expect(problem).toMatchObject({ status: 429, code: 'TOO_MANY_REQUESTS', instance: path(2).split('?')[0] })
    expect(problem.detail).toContain(setting)
    expect((await getFrom(service, '127.0.0.2', path(3), headers)).statusCode).not.toBe(429)
    expect((await service.get('/api/v1/getall')).status).toBe(200)
    await service.clock.advance(59_999)
    await service.fleet.pollAll()
    expect((await service.get(path(2), headers)).status).toBe(429)
    await service.clock.advance(1)
    expect((await service.get(path(2), headers)).status).not.toBe(429)
  })

  it('counts the scripts, their list and refused requests once for all', async () => {
    const service = await start({ CLIENT_RUNS: '3', RUN_TOKEN: 'x'.repeat(32) })
    const paths = ['/v1/run', '/v1/run/projects', '/v1/run/kcomebacks', '/v1/run/projects']
    const statuses = []
    for (const path of paths) statuses.push((await service.get(path)).status)
    expect(statuses).toEqual([401, 401, 401, 429])
  })

  it('does not count a picture that is already rendered, or rendered for others', async () => {
    const service = await start({ CLIENT_PICTURES: '2', CLIENT_HEADS: '2' })
    const all = await Promise.all(Array.from({ length: 50 }, () => service.get('/api/v1/banner.png')))
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set([200]))
    for (let count = 0; count < 5; count++) expect((await service.get(`/api/v1/players/${uuid}/head.png`)).status).toBe(200)
    expect((await service.get('/api/v1/chart.png')).status).toBe(200)
    expect((await service.get('/api/v1/badge.svg')).status).toBe(429)
    expect((await service.get('/api/v1/banner.png')).status).toBe(200)
  })

  it('is far above what 50 people behind one address, and a Prometheus of thousands of servers, send', async () => {
    const service = await start()
    const limitOf = async (path: string) => Number((await service.get(path)).headers.get('x-ratelimit-limit'))
    // 5,000 servers every 15 s.
    expect(await limitOf('/probe?target=Server')).toBeGreaterThan(20_000)
    // A request per second and person.
    for (const path of ['/v1/run', '/v1/debug/headers', `/api/v1/players/${uuid}/head.png`])
      expect(await limitOf(path), path).toBeGreaterThanOrEqual(3_000)
    // Ten different pictures per minute and person.
    expect(await limitOf('/api/v1/banner.png')).toBeGreaterThan(500)
  })
})

describe('a client', () => {
  const limited = async (service: TestApp, headers: Record<string, string>) =>
    (await service.get('/v1/debug/headers', headers)).status === 429

  it('is the address that a trusted proxy names', async () => {
    const service = await start({ CLIENT_HEADERS: '1', TRUST_PROXY: 'loopback' })
    for (const [address, again] of [
      ['203.0.113.5', '203.0.113.5'],
      ['203.0.113.6', '::ffff:203.0.113.6'],
      ['203.0.113.7', '::ffff:cb00:7107'],
      ['203.0.113.8:4711', '203.0.113.8:4712'],
      ['2001:db8:0:1::1', '2001:db8:0:1:ffff:ffff:ffff:ffff'],
      ['2001:db8:0:2::1', '[2001:db8:0:2::2]:443'],
      // A client that sends the header itself: the proxy adds its address.
      ['198.51.100.1, 203.0.113.9', '198.51.100.2, 203.0.113.9'],
    ] as const) {
      expect(await limited(service, from(address)), address).toBe(false)
      expect(await limited(service, from(again)), again).toBe(true)
    }
    expect(await limited(service, from('2001:db8:0:3::1'))).toBe(false)
    // Anything else counts as the proxy itself.
    expect(await limited(service, from('unknown'))).toBe(false)
    expect(await limited(service, from('x'.repeat(1_000)))).toBe(true)
    expect(await limited(service, {})).toBe(true)
  })

  it('cannot choose its address without a trusted proxy', async () => {
    const service = await start({ CLIENT_HEADERS: '1' })
    expect(await limited(service, from('203.0.113.5'))).toBe(false)
    expect(await limited(service, from('203.0.113.6'))).toBe(true)
    expect(await limited(service, { 'x-forwarded-client': '203.0.113.7', forwarded: 'for=203.0.113.7' })).toBe(true)
  })

  it('is reported in each reply, and once in the log, if it seems to be a reverse proxy', async () => {
    const lines: string[] = []
    const logger = pino({ base: null }, { write: (line) => void lines.push(line) })
    const clients = { ...loadConfig({ env: {}, watches: false }).clients, clientHeaders: 1 }
    const app = createHttpApp({ logger, corsOrigin: '*', clients })
    registerBasic(app as never)
    const get = (headers = {}) => app.inject({ url: '/v1/debug/headers', headers })
    const hasHint: boolean[] = []
    for (const headers of [{}, {}, from('203.0.113.5'), from('203.0.113.6')])
      hasHint.push((await get(headers)).body.includes('list it in TRUST_PROXY'))
    expect(hasHint).toEqual([false, false, true, true])
    expect(lines.filter((line) => line.includes('TRUST_PROXY'))).toHaveLength(1)
    await app.close()
  })

  it('is a /64 network in IPv6', () => {
    expect(clientOf('2001:db8::1')).toBe('2001:db8:0:0::/64')
    expect(clientOf('fe80::1%eth0')).toBe('fe80:0:0:0::/64')
    expect(clientOf('::ffff:127.0.0.1')).toBe(clientOf('127.0.0.1'))
  })
})

describe('the limit of event streams', () => {
  async function opened(service: TestApp, path: string, headers: Record<string, string> = {}) {
    const client = await openEvents(service.url + path, headers)
    onTestFinished(() => client.close())
    return client
  }

  it('leaves room for other clients when one opens more than EVENTS_LIMIT', async () => {
    const service = await start()
    const streams: EventClient[] = []
    // Some at a time: the kernel may reset connections that do not fit into the backlog of a listener whose process is waiting for the CPU.
    while (streams.length < 1_100)
      streams.push(...(await Promise.all(Array.from({ length: 100 }, () => opened(service, '/api/v1/events')))))
    const accepted = streams.filter(({ response }) => response.statusCode === 200)
    expect(accepted.length).toBeGreaterThanOrEqual(100)
    expect(accepted.length).toBeLessThan(500)
    expect(streams.every(({ response }) => [200, 429].includes(response.statusCode ?? 0))).toBe(true)
    // The page's streams are streams of the same client.
    const refused = await service.get('/page/events')
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await refused.json()).toMatchObject({ code: 'TOO_MANY_REQUESTS', status: 429 })
    expect((await getFrom(service, '127.0.0.2', '/page/events')).statusCode).toBe(200)
    expect((await service.get('/healthz')).status).toBe(200)
    for (const { close } of accepted.slice(0, 2)) close()
    await until(async () => (await opened(service, '/page/events')).response.statusCode === 200)
  })

  it('counts by the address that a trusted proxy names, and EVENTS_LIMIT still answers 503', async () => {
    const service = await start({ CLIENT_STREAMS: '1', EVENTS_LIMIT: '2', TRUST_PROXY: 'loopback' })
    const status = async (address: string) => (await opened(service, '/api/v1/events', from(address))).response.statusCode
    expect(await status('203.0.113.1')).toBe(200)
    expect(await status('203.0.113.1')).toBe(429)
    expect(await status('203.0.113.2')).toBe(200)
    expect(await status('203.0.113.3')).toBe(503)
    // A refused stream is not counted.
    expect(await status('203.0.113.3')).toBe(503)
  })
})
