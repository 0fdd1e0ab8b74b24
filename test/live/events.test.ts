import { connect } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { SourceError } from '../../src/game/errors.ts'
import type { Fields } from '../../src/game/fields.ts'
import { type EventClient, openEvents } from '../helpers/event-client.ts'
import { buildTestApp, type TestApp, type TestAppOptions } from '../helpers/test-app.ts'
import { until } from '../helpers/until.ts'

const status: Partial<Fields> = {
  version: '1.21.11',
  software: 'Paper',
  motd: 'Hello',
  playersOnline: 2,
  playersMax: 20,
  latency: 0.0015,
}
const alice = { name: 'Alice', id: '00000000-0000-4000-8000-00000000000a' }
const rcon = (...names: string[]): Partial<Fields> => ({
  playersOnline: names.length,
  players: { complete: true, players: names.map((name) => (name === 'Alice' ? alice : { name })) },
  tickRate: 19.98,
  tickDurationMean: 0.0123,
  tickDurationP99: 0.05,
  tickPaused: false,
  tickFrozen: false,
})
const refused = new SourceError('refused', 'Server.test: connection refused')

async function start(options: TestAppOptions) {
  const service = await buildTestApp(options)
  const follow = async (query = '', headers: Record<string, string> = {}): Promise<EventClient> => {
    const client = await openEvents(`${service.url}/api/v1/events${query}`, headers)
    onTestFinished(() => client.close())
    return client
  }
  return { ...service, follow }
}

/** The first events of a client as `event server`, once it has this many. */
async function names(client: EventClient, count: number): Promise<string[]> {
  await until(() => client.events.length >= count)
  return client.events.map(({ event, data }) => `${event} ${data.server}`)
}

const poll = async ({ fleet }: TestApp, server: string, script: TestAppOptions['scripts'][string]) => {
  fleet.scripts[server] = script
  await fleet.pollAll()
}

describe('GET /api/v1/events', () => {
  it('sends the state of each server first', async () => {
    const { follow } = await start({ scripts: { Server: { status, rcon: rcon('Bob', 'Alice') }, other: { status: refused } } })
    const client = await follow()
    expect(client.response.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'access-control-allow-origin': '*',
    })
    expect(await names(client, 2)).toEqual(['snapshot Server', 'snapshot other'])
    const unknown = { online: null, max: null, players: null, version: null, software: null, motd: null, tickRate: null }
    expect(client.events.map(({ data }) => data)).toEqual([
      {
        ...{ server: 'Server', at: 1_700_000_001_000, up: true, online: 2, max: 20, version: '1.21.11', software: 'Paper' },
        ...{
          motd: 'Hello',
          tickRate: 19.98,
          tickTimeMean: 12.3,
          tickTimeP99: 50,
          paused: false,
          frozen: false,
          responsive: null,
          latency: 1.5,
          maintenance: null,
        },
        players: [
          { ID: alice.id, NAME: 'Alice' },
          { ID: '', NAME: 'Bob' },
        ],
      },
      {
        ...{ server: 'other', at: 1_700_000_001_000, up: false, ...unknown },
        ...{
          tickTimeMean: null,
          tickTimeP99: null,
          paused: null,
          frozen: null,
          responsive: null,
          latency: null,
          maintenance: null,
        },
      },
    ])
  })

  it('sends only changes', async () => {
    const service = await start({ scripts: { Server: { status, rcon: rcon('Alice') } } })
    const client = await service.follow()
    await names(client, 1)
    await service.fleet.pollAll()
    await poll(service, 'Server', { status: { ...status, motd: 'Bye' }, rcon: rcon('Alice') })
    await names(client, 2)
    expect(client.events[1]).toMatchObject({ event: 'change', data: { server: 'Server', at: 1_700_000_001_000, motd: 'Bye' } })
    expect(Object.keys(client.events[1]!.data)).toEqual(['server', 'at', 'motd'])
    const ids = client.events.map(({ id }) => Number(id))
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b))
  })

  it('sends joins and leaves if the full list is known', async () => {
    const service = await start({ scripts: { Server: { status, rcon: rcon('Alice', 'Bob') } } })
    const client = await service.follow()
    await names(client, 1)
    await poll(service, 'Server', { status, rcon: rcon('Bob', 'Carol') })
    expect(await names(client, 4)).toEqual(['snapshot Server', 'change Server', 'leave Server', 'join Server'])
    expect(client.events.slice(2).map(({ data }) => data.player)).toEqual([
      { ID: alice.id, NAME: 'Alice' },
      { ID: '', NAME: 'Carol' },
    ])
  })

  it('sends neither for a sample of the players', async () => {
    const sample = (name: string) => ({ status: { ...status, players: { complete: false, players: [{ name }] } } })
    const service = await start({ scripts: { Server: sample('Alice') } })
    const client = await service.follow()
    await names(client, 1)
    expect(client.events[0]!.data.players).toBeNull()
    await poll(service, 'Server', sample('Bob'))
    await poll(service, 'Server', { status: { ...status, motd: 'end' } })
    expect(await names(client, 2)).toEqual(['snapshot Server', 'change Server'])
  })

  it('reports up and down only if the other state was known before', async () => {
    const { follow, ...service } = await start({ scripts: { Server: { status } }, polled: false })
    const client = await follow()
    await names(client, 1)
    await poll(service, 'Server', { status: refused })
    await names(client, 2)
    await poll(service, 'Server', { status })
    await names(client, 4)
    // Nothing is heard of it, so that it is unknown.
    await service.clock.advance(15_000)
    await names(client, 5)
    await poll(service, 'Server', { status: { ...status, motd: 'back' } })
    await names(client, 6)
    await service.clock.advance(15_000)
    await names(client, 7)
    await poll(service, 'Server', { status: refused })
    await names(client, 9)
    const seen = client.events.map(({ event, data }) => `${event} ${'up' in data ? data.up : ''}`.trim())
    expect(seen).toEqual([
      ...[
        'snapshot null',
        'change false',
        'change true',
        'up',
        'change null',
        'change true',
        'change null',
        'change false',
        'down',
      ],
    ])
  })

  it('reports once that a server is down and why, and once that it is up', async () => {
    const service = await start({ scripts: { Server: { status } } })
    const client = await service.follow()
    await names(client, 1)
    await service.clock.advance(1_000)
    await poll(service, 'Server', { status: refused })
    await service.fleet.pollAll()
    await service.clock.advance(1_000)
    await poll(service, 'Server', { status })
    await service.fleet.pollAll()
    await poll(service, 'Server', { status: { ...status, motd: 'end' } })
    expect(await names(client, 6)).toEqual(
      ['snapshot', 'change', 'down', 'change', 'up', 'change'].map((name) => `${name} Server`),
    )
    expect(client.events[2]!.data).toEqual({ server: 'Server', at: 1_700_000_002_000, error: 'refused' })
    expect(client.events[1]!.data).toMatchObject({ up: false, online: null, motd: null })
    expect(client.events[3]!.data).toMatchObject({ up: true, online: 2, motd: 'Hello' })
    expect(client.events[4]!.data).toEqual({ server: 'Server', at: 1_700_000_003_000 })
  })

  it('sends an unknown state before the first poll', async () => {
    const { follow } = await start({ scripts: { Server: { status } }, polled: false })
    const client = await follow()
    await names(client, 1)
    expect(client.events[0]!.data).toMatchObject({ up: null, online: null, latency: null })
  })

  it('sends a comment every 15 s', async () => {
    const service = await start({ scripts: { Server: { status } } })
    const client = await service.follow()
    await names(client, 1)
    for (const count of [1, 2]) {
      await service.clock.advance(15_000)
      // The first one must be read before the next one is due.
      await until(() => client.text().split(':\n\n').length === count + 1)
    }
  })
})

describe('the servers of a stream', () => {
  const scripts = () => ({ 'a,b c+d': { status }, b: { status }, Größe: { status } })

  it.each([
    ['?servers=b', ['b']],
    ['?servers=a%2Cb%20c%2Bd,Gr%C3%B6%C3%9Fe', ['a,b c+d', 'Größe']],
    ['?servers=a%2Cb+c%2Bd', ['a,b c+d']],
    ['?servers=b%2CGr%C3%B6%C3%9Fe', ['b', 'Größe']],
    ['?other=1&servers=b,b', ['b']],
    ['', ['a,b c+d', 'b', 'Größe']],
  ])('%s', async (query, expected) => {
    const service = await start({ scripts: scripts() })
    const client = await service.follow(query)
    expect(await names(client, expected.length)).toEqual(expected.map((name) => `snapshot ${name}`))
    for (const server of Object.keys(scripts())) await poll(service, server, { status: { ...status, motd: 'changed' } })
    const all = await names(client, 2 * expected.length)
    expect(all.slice(expected.length)).toEqual(expected.map((name) => `change ${name}`))
  })

  it.each([
    ['?servers=c', 404, 'NOT_FOUND', '"c"'],
    ['?servers=b,c', 404, 'NOT_FOUND', '"c"'],
    ['?servers=c?d', 404, 'NOT_FOUND', '"c?d"'],
    ['?servers=', 400, 'INVALID_PARAMETER', '"servers"'],
    ['?servers', 400, 'INVALID_PARAMETER', '"servers"'],
    ['?other&%73erver%73=c', 404, 'NOT_FOUND', '"c"'],
    ['?servers=b,', 400, 'INVALID_PARAMETER', '"servers"'],
    ['?servers=%ff', 400, 'INVALID_PARAMETER', 'valid UTF-8'],
    ['?servers=b&servers=b', 400, 'INVALID_PARAMETER', '"servers"'],
    ['?servers=b&server%73=b', 400, 'INVALID_PARAMETER', '"servers"'],
  ])('%s is %i', async (query, statusCode, code, detail) => {
    const { get } = await start({ scripts: scripts() })
    const reply = await get(`/api/v1/events${query}`)
    expect(reply.status).toBe(statusCode)
    expect(await reply.json()).toMatchObject({ code, detail: expect.stringContaining(detail) })
  })
})

describe('a client that reconnects', () => {
  const motd = (text: string | number) => ({ status: { ...status, motd: String(text) } })

  it('receives the events that it missed', async () => {
    const service = await start({ scripts: { Server: { status }, other: { status } } })
    const first = await service.follow()
    await names(first, 2)
    first.close()
    await poll(service, 'Server', motd(1))
    await poll(service, 'other', motd(2))
    const second = await service.follow('', { 'last-event-id': first.events[1]!.id })
    expect(await names(second, 2)).toEqual(['change Server', 'change other'])
    const third = await service.follow('', { 'last-event-id': second.events[0]!.id })
    expect(await names(third, 1)).toEqual(['change other'])
    await poll(service, 'Server', motd(3))
    expect(await names(third, 2)).toEqual(['change other', 'change Server'])
    const narrow = await service.follow('?servers=other', { 'last-event-id': first.events[1]!.id })
    expect(await names(narrow, 1)).toEqual(['change other'])
  })

  it.each([
    ['had not received the state of every server', (ids: string[]) => ids[0]!],
    ['sends an id of the future', (ids: string[]) => String(Number(ids[1]) + 10)],
    ['sends an id of another process', () => '17'],
    ['sends no id', () => 'x'],
  ])('receives the state if it %s', async (_, idOf) => {
    const service = await start({ scripts: { Server: { status }, other: { status } } })
    const first = await service.follow()
    await names(first, 2)
    const second = await service.follow('', { 'last-event-id': idOf(first.events.map(({ id }) => id)) })
    expect(await names(second, 2)).toEqual(['snapshot Server', 'snapshot other'])
  })

  it('receives every state if it was cut off within the first ones, although it had received a change', async () => {
    // More than the operating system buffers for a client that does not read.
    const long = 'x'.repeat(100_000)
    const servers = Array.from({ length: 120 }, (_, index) => `server-${index}`)
    const service = await start({ scripts: Object.fromEntries(servers.map((name) => [name, motd(long)])) })
    const first = await service.follow()
    await names(first, 1)
    first.response.pause()
    await poll(service, 'server-0', motd('changed'))
    first.response.on('data', () => {
      if (first.events.some(({ event }) => event === 'change')) first.close()
    })
    first.response.resume()
    await first.ended
    expect(first.events.at(-1)).toMatchObject({ event: 'change', data: { server: 'server-0' } })
    expect(first.events.length).toBeLessThan(servers.length)
    const second = await service.follow('', { 'last-event-id': first.events.at(-1)!.id })
    expect(new Set(await names(second, servers.length))).toEqual(new Set(servers.map((name) => `snapshot ${name}`)))
  })

  it('receives the state if it missed too many events', async () => {
    const service = await start({ scripts: { Server: { status } } })
    const first = await service.follow()
    for (let count = 0; count < 1_000; count++) await poll(service, 'Server', motd(count))
    // Many events at once are collected for some milliseconds.
    await service.clock.advance(50)
    await names(first, 1_001)
    const all = await service.follow('', { 'last-event-id': first.events[0]!.id })
    expect((await names(all, 1_000)).length).toBe(1_000)
    await poll(service, 'Server', motd('one more'))
    const second = await service.follow('', { 'last-event-id': first.events[0]!.id })
    expect(await names(second, 1)).toEqual(['snapshot Server'])
    const third = await service.follow('', { 'last-event-id': first.events[1]!.id })
    expect((await names(third, 1_000))[0]).toBe('change Server')
  })
})

describe('bounds', () => {
  it('refuses more clients than EVENTS_LIMIT, until one disconnects', async () => {
    const service = await start({ scripts: { Server: { status } }, env: { EVENTS_LIMIT: '2' } })
    const [first] = [await service.follow(), await service.follow()]
    const reply = await service.get('/api/v1/events')
    expect(reply.status).toBe(503)
    expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await reply.json()).toMatchObject({ code: 'TOO_MANY_CLIENTS' })
    first.close()
    await until(async () => {
      const again = await openEvents(`${service.url}/api/v1/events`)
      again.close()
      return again.response.statusCode === 200
    })
  })

  it('drops and counts a client that does not read, but no other', async () => {
    const long = 'x'.repeat(200_000)
    const service = await start({ scripts: { Server: { status } } })
    const reader = await service.follow()
    const { port } = new URL(service.url)
    const silent = connect(Number(port), '127.0.0.1')
    onTestFinished(() => void silent.destroy())
    silent.on('error', () => {})
    silent.write('GET /api/v1/events HTTP/1.1\r\nhost: localhost\r\n\r\n')
    const metric = async (name: string) =>
      Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(await (await service.get('/metrics')).text())?.[1])
    await until(async () => (await metric('tickwarden_event_clients')) === 2)
    silent.pause()
    let sent = 0
    // The operating system buffers some MB per client.
    while ((await metric('tickwarden_event_clients_dropped_total')) === 0) {
      await poll(service, 'Server', { status: { ...status, motd: `${long}${sent++}` } })
      // A client that reads receives one event after the other: many at once would be too much for it too.
      await names(reader, sent + 1)
    }
    expect(await metric('tickwarden_event_clients')).toBe(1)
    await poll(service, 'Server', { status })
    await names(reader, sent + 2)
    // The dropped stream has ended and is not counted as a slow request.
    expect(await (await service.get('/metrics')).text()).not.toContain('route="/api/v1/events"')
  })

  it('counts the clients of the status page too', async () => {
    const service = await start({ scripts: { Server: { status } } })
    const clients = async () => /^tickwarden_event_clients (\d+)$/m.exec(await (await service.get('/metrics')).text())?.[1]
    const reader = await service.follow()
    const page = await openEvents(`${service.url}/page/events`)
    onTestFinished(() => page.close())
    await until(async () => (await clients()) === '2')
    reader.close()
    await until(async () => (await clients()) === '1')
    page.close()
    await until(async () => (await clients()) === '0')
  })

  it('sends the first states of any number of servers to a client that reads', async () => {
    const motd = 'x'.repeat(8_000)
    const scripts = Object.fromEntries(
      Array.from({ length: 200 }, (_, index) => [`server-${index}`, { status: { ...status, motd } }]),
    )
    const service = await start({ scripts })
    const client = await service.follow()
    expect(new Set(await names(client, 200)).size).toBe(200)
    await poll(service, 'server-199', { status })
    expect((await names(client, 201)).at(-1)).toBe('change server-199')
  })

  it('answers HEAD without a stream', async () => {
    const { url } = await start({ scripts: { Server: { status } }, env: { EVENTS_LIMIT: '1' } })
    for (let count = 0; count < 3; count++) {
      const reply = await fetch(`${url}/api/v1/events`, { method: 'HEAD' })
      expect([reply.status, await reply.text()]).toEqual([200, ''])
    }
  })

  it('does not delay the shutdown of the service', async () => {
    const service = await start({ scripts: { Server: { status } } })
    const client = await service.follow()
    await names(client, 1)
    await service.app.close()
    await client.ended
    // A connection that was still active would be closed after 3 s, without the end of the response.
    expect(client.response.complete).toBe(true)
  })
})
