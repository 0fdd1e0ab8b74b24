import { rmSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { demoSettings, startDemoServer } from '../../../../src/demo/demo-server.ts'
import { SourceError } from '../../../../src/game/errors.ts'
import { createFleet } from '../../../../src/game/fleet.ts'
import { readingMethods } from '../../../../src/game/protocol/management.ts'
import { createSources } from '../../../../src/game/sources/create-sources.ts'
import { ManagementSource } from '../../../../src/game/sources/management/management-source.ts'
import type { Reading, SourceContext } from '../../../../src/game/sources/source.ts'
import { createConnectBackoffs } from '../../../../src/game/watcher/connect-backoff.ts'
import { PollRequests } from '../../../../src/game/watcher/poll-requests.ts'
import { systemClock } from '../../../../src/util/clock.ts'
import { silentLog } from '../../../../src/util/log.ts'
import { selfSigned } from '../../../helpers/certificate.ts'
import { alice, bob, type ManagementServer, managementServer } from '../../../helpers/management-server.ts'
import { manualClock } from '../../../helpers/manual-clock.ts'
import { never } from '../../../helpers/never.ts'
import { hasTool } from '../../../helpers/require-tool.ts'
import { until } from '../../../helpers/until.ts'

let server: ManagementServer
let pushed: Reading[]
const open: { close(): void }[] = []

beforeEach(async () => {
  server = await managementServer()
  pushed = []
})
afterEach(async () => {
  for (const opened of open.splice(0)) opened.close()
  await server.close()
})

function source(
  more: Record<string, unknown> = {},
  clock: ConstructorParameters<typeof ManagementSource>[1]['clock'] = systemClock,
) {
  // As the watcher does it: a poll that the source requests gives a reading like a push.
  const requests = new PollRequests(clock, () => {
    made.poll(never()).then(
      (reading) => pushed.push(reading),
      () => {},
    )
    return true
  })
  const context: SourceContext = {
    clock,
    log: silentLog,
    random: () => 0.5,
    push: (reading) => pushed.push(reading),
    requestPoll: (name, at) => requests.request(name, at),
    connectBackoff: createConnectBackoffs(clock, () => 0.5).acquire,
  }
  const made = new ManagementSource({ url: server.url, secret: server.secret, ...more }, context)
  open.push(requests, made)
  return made
}

const lists = () => pushed.flatMap(({ fields }) => (fields.players ? [fields.players.players.map(({ name }) => name)] : []))

describe('a poll', () => {
  it('reads players, version and settings, and calls nothing that could change the server', async () => {
    const { fields } = await source().poll(never())
    expect(fields).toEqual({
      edition: 'java',
      version: '1.21.11',
      protocol: 774,
      players: { players: [alice], complete: true },
      playersOnline: 1,
      playersMax: 20,
      motd: 'A Minecraft Server',
      defaultGameMode: 'ADVENTURE',
      pauseWhenEmpty: 60,
      difficulty: 'easy',
      viewDistance: 10,
    })
    expect(new Set(server.called)).toEqual(new Set(readingMethods))
    for (const method of readingMethods)
      expect(method).not.toMatch(/\/(set|add|remove|clear|kick|stop|save|update|system_message)/)
  })

  it('uses one persistent connection', async () => {
    const management = source()
    await management.poll(never())
    await management.poll(never())
    expect(server.authorizations).toHaveLength(1)
  })

  it('understands results that are the bare value, as another version may give them', async () => {
    Object.assign(server.results, {
      'minecraft:serversettings/game_mode': 'creative',
      'minecraft:serversettings/motd': 'Hi',
      'minecraft:serversettings/max_players': 5,
      'minecraft:players': { players: [bob] },
    })
    const { fields } = await source().poll(never())
    expect(fields).toMatchObject({ defaultGameMode: 'CREATIVE', motd: 'Hi', playersMax: 5, players: { players: [bob] } })
  })

  it('skips a method that the server does not support until it reconnects, and calls the others', async () => {
    const management = source()
    delete server.results['minecraft:serversettings/view_distance']
    delete server.results['minecraft:players']
    const { fields } = await management.poll(never())
    expect(fields).toMatchObject({ playersMax: 20, players: { players: [alice] } })
    expect(fields.viewDistance).toBeUndefined()
    await management.poll(never())
    expect(server.called.filter((method) => method === 'minecraft:serversettings/view_distance')).toHaveLength(1)
  })

  it('omits the value of a failed method, and invalid values', async () => {
    Object.assign(server.results, {
      'minecraft:serversettings/motd': new Error('internal'),
      'minecraft:serversettings/max_players': { max: 'many' },
      'minecraft:serversettings/game_mode': { mode: 7 },
      'minecraft:players': [{ id: 'not an id', name: 'Carol' }, { id: alice.id }, null, 5],
    })
    const { fields } = await source().poll(never())
    expect(fields).toMatchObject({ difficulty: 'easy', players: { players: [{ name: 'Carol' }] } })
    expect(Object.keys(fields)).not.toEqual(expect.arrayContaining(['motd']))
    expect(fields.playersMax).toBeUndefined()
    expect(fields.defaultGameMode).toBeUndefined()
  })

  it.each([
    [{}, 'supports none of the methods'],
    [{ 'minecraft:players': new Error('Out of memory') }, 'answers each request with an error (Out of memory)'],
    [{ 'minecraft:players': new Error('') }, 'answers each request with an error (code -32603)'],
  ])('reports a server without a result: %j', async (results, reason) => {
    server.results = results
    const failed = { code: 'unsupported', message: expect.stringMatching(/^ws:\S+: the server /) }
    const error = await source()
      .poll(never())
      .catch((error: unknown) => error)
    expect(error).toMatchObject(failed)
    expect((error as Error).message).toContain(reason)
  })

  it('is late, and not unsupported, if one request has an error and the others have no reply', async () => {
    server.results = Object.fromEntries(readingMethods.map((method) => [method, 'silent']))
    server.results['minecraft:players'] = new Error('Out of memory')
    const deadline = new AbortController()
    const failed = expect(source().poll(deadline.signal)).rejects.toMatchObject({ code: 'timeout' })
    await until(() => server.called.length === readingMethods.length)
    // It arrives after the error on the same connection.
    server.notify('minecraft:notification/server/saved')
    await until(() => pushed.length === 1)
    deadline.abort(new SourceError('timeout', 'late'))
    await failed
  })

  it('reports calls that fail while others are answered, and logs each once until it is answered again', async () => {
    const lines: string[] = []
    const log = { ...silentLog, warn: (_: unknown, text?: string) => void lines.push(text ?? '') }
    const settings = { url: server.url, secret: server.secret }
    const fleet = createFleet({
      servers: [{ name: 'a', sources: { management: settings } }],
      poll: { interval: 3_600_000, timeout: 20_000, staleAfter: 3_600_000 },
      clock: systemClock,
      log,
      createSources,
    })
    open.push(fleet)
    const [watcher] = fleet.watchers
    const before = { ...server.results }
    const poll = async () => (await watcher!.poll()).sources[0]!
    expect(await poll()).toMatchObject({ state: 'ok' })
    delete server.results['minecraft:serversettings/view_distance']
    server.results['minecraft:serversettings/motd'] = new Error('Internal error')
    server.results['minecraft:players'] = new Error('Out of memory')
    server.results['minecraft:serversettings/difficulty'] = new Error('Out of memory')
    const partial = {
      state: 'partial',
      error: {
        code: 'unsupported',
        message: expect.stringMatching(
          /^ws:\S+: no result of minecraft:players, minecraft:serversettings\/difficulty \(Out of memory\); ws:\S+: no result of minecraft:serversettings\/motd \(Internal error\)$/,
        ),
      },
    }
    expect(await poll()).toMatchObject(partial)
    expect(await poll()).toMatchObject(partial)
    expect(watcher!.snapshot().up).toBe(true)
    expect(lines).toHaveLength(1)
    server.results = before
    expect(await poll()).toMatchObject({ state: 'ok' })
    server.results = { ...before, 'minecraft:players': new Error('Internal error') }
    expect(await poll()).toMatchObject({ state: 'partial' })
    expect(lines).toHaveLength(2)
    // JSON has objects that String() cannot convert.
    const strange = Object.assign(new Error(), { message: { toString: 1 } })
    server.results = { ...before, 'minecraft:players': strange }
    expect(await poll()).toMatchObject({ state: 'partial', error: { code: 'unsupported' } })
  })

  it('normalises the ids of players', async () => {
    server.results['minecraft:players'] = [{ ...bob, id: bob.id.replaceAll('-', '').toUpperCase() }]
    expect((await source().poll(never())).fields.players?.players).toEqual([bob])
  })

  it('returns the fields read so far at the deadline', async () => {
    server.results['minecraft:serversettings/motd'] = 'silent'
    const deadline = new AbortController()
    const poll = source().poll(deadline.signal)
    await until(() => server.called.length === readingMethods.length)
    // It arrives after the replies on the same connection.
    server.notify('minecraft:notification/server/saved')
    await until(() => pushed.length === 1)
    deadline.abort(new SourceError('timeout', '127.0.0.1:1: no complete reply within 3000 ms'))
    const { fields, failures } = await poll
    expect(fields).toMatchObject({ playersMax: 20 })
    expect(failures).toMatchObject([
      {
        code: 'timeout',
        message: expect.stringMatching(
          /^ws:\S+: no result of minecraft:serversettings\/motd \(no complete reply within 3000 ms\)$/,
        ),
      },
    ])
  })
})

describe('events', () => {
  it.each([
    ['in an array', 'minecraft:notification/players/joined', [bob], [bob]],
    ['in an object', 'minecraft:notification/players/joined', { player: bob }, { player: bob }],
    ['of the first form of the name', 'notification:players/joined', [{ player: bob }], bob],
  ])('add and remove players immediately: %s', async (_, joined, came, went) => {
    await source().poll(never())
    server.notify(joined, came)
    await until(() => lists().length === 1)
    server.notify(joined.replace('joined', 'left'), went)
    await until(() => lists().length === 2)
    expect(lists()).toEqual([['Alice', 'Bob'], ['Alice']])
    expect(pushed[0]?.fields.playersOnline).toBe(2)
  })

  it('are ignored if they are invalid', async () => {
    const management = source()
    await management.poll(never())
    for (const params of [null, [], [null], {}, 'Bob', [5], [{ name: '' }]])
      server.notify('minecraft:notification/players/joined', params)
    server.notify('minecraft:notification/players/left', [{ name: 'Nobody' }])
    server.notify('toString', [])
    server.notify('minecraft:notification/players/joined', [bob])
    await until(() => lists().length === 1)
    expect(lists()).toEqual([['Alice', 'Bob']])
  })

  it('trigger a poll when the server has started, and count as contact when it saves or stops', async () => {
    await source().poll(never())
    server.results['minecraft:serversettings/motd'] = { message: 'New' }
    server.notify('minecraft:notification/server/started')
    await until(() => pushed.some(({ fields }) => fields.motd === 'New'))
    const before = pushed.length
    server.notify('minecraft:notification/server/stopping', [])
    await until(() => pushed.length > before)
    expect(pushed.at(-1)?.fields).toEqual({})
  })

  it('that arrive in quick succession are combined', async () => {
    const clock = manualClock()
    await source({}, clock).poll(never())
    for (let index = 0; index < 500; index++) server.notify('minecraft:notification/players/joined', [{ name: `P${index}` }])
    server.results['minecraft:players'] = [alice]
    server.notify('minecraft:notification/players/left', [{ name: 'P0' }])
    await until(async () => {
      await clock.advance(50)
      return lists().at(-1)?.length === 500
    })
    expect(pushed.length).toBeLessThan(400)
  })

  it('that request polls endlessly cause few polls, and one after the last event', async () => {
    const clock = manualClock()
    await source({}, clock).poll(never())
    server.called.length = 0
    // In small steps: replies arrive in real time, and a call has ten seconds on the clock.
    const readings = async (count: number) =>
      until(async () => {
        await clock.advance(10)
        return server.called.length >= count * readingMethods.length
      })
    for (let index = 0; index < 200; index++) server.notify('minecraft:notification/server/started')
    await readings(1)
    server.results['minecraft:serversettings/motd'] = { message: 'New' }
    server.notify('minecraft:notification/server/started')
    await readings(2)
    await until(async () => {
      await clock.advance(10)
      return pushed.some(({ fields }) => fields.motd === 'New')
    })
    expect(server.called.length).toBeLessThanOrEqual(5 * readingMethods.length)
  })

  it('that are heartbeats tell how long the main thread may take, also if two of them arrive at once', async () => {
    const clock = manualClock()
    const management = source({}, clock)
    await management.poll(never())
    const afterHeartbeat = async (waitMs: number) => {
      const before = pushed.length
      await clock.advance(waitMs)
      server.notify('minecraft:notification/server/status', [{ status: { started: true } }])
      await until(async () => {
        await clock.advance(waitMs === 0 ? 50 : 0)
        return pushed.length > before
      })
      return management.mainThread().lateAfterMs
    }
    expect(await afterHeartbeat(5_000)).toBeUndefined()
    expect(await afterHeartbeat(5_000)).toBe(15_000)
    expect(await afterHeartbeat(9_950)).toBe(29_850)
    expect(await afterHeartbeat(0)).toBe(29_850)
    expect(await afterHeartbeat(5_000)).toBeLessThan(16_000)
  })

  it('are published by the fleet immediately', async () => {
    const fleet = createFleet({
      servers: [{ name: 'Server', sources: {} }],
      poll: { interval: 3_600_000, timeout: 60_000, staleAfter: 3_600_000 },
      clock: systemClock,
      log: silentLog,
      createSources(_, context) {
        const management = new ManagementSource({ url: server.url, secret: server.secret }, context)
        return { list: () => [management], close: () => management.close() }
      },
    })
    const watcher = fleet.get('Server')!
    await watcher.poll()
    const reported = new Promise<readonly string[]>((resolve) => {
      fleet.subscribe(({ fields }) => resolve(fields.players?.value.players.map(({ name }) => name) ?? []))
    })
    server.notify('minecraft:notification/players/joined', [bob])
    // The next poll is in an hour: only the event can have caused this.
    expect(await reported).toEqual(['Alice', 'Bob'])
    expect(watcher.snapshot()).toMatchObject({ joins: 1, fields: { playersOnline: { value: 2, source: 'management' } } })
    fleet.close()
  })
})

describe('a connection that is lost', () => {
  it('is reopened by the watcher between two polls, so that events continue', async () => {
    const fleet = createFleet({
      servers: [{ name: 'Server', sources: { management: { url: server.url, secret: server.secret } } }],
      poll: { interval: 3_600_000, timeout: 60_000, staleAfter: 3_600_000 },
      clock: systemClock,
      log: silentLog,
      createSources,
    })
    fleet.start()
    const names = () =>
      fleet
        .get('Server')
        ?.snapshot()
        .fields.players?.value.players.map(({ name }) => name)
    await until(() => names()?.length === 1)
    for (const ws of server.sockets) ws.terminate()
    await until(() => server.authorizations.length === 2 && server.sockets.size === 1)
    // The events of a connection count once its list was read.
    await until(() => {
      server.notify('minecraft:notification/players/joined', [bob])
      return names()?.includes('Bob') === true
    })
    fleet.close()
  })

  it.each([1000, 1011])('is reopened after a pause, also after close code %s, and all values are read', async (code) => {
    const clock = manualClock()
    const management = source({}, clock)
    await management.poll(never())
    for (const ws of server.sockets) ws.close(code)
    await until(() => clock.pending === 1)
    await expect(management.poll(never())).rejects.toMatchObject({ code: 'closed' })
    expect(server.authorizations).toHaveLength(1)
    await clock.advance(1000)
    await until(() => pushed.length === 1)
    expect(server.authorizations).toHaveLength(2)
    expect(pushed[0]?.fields.players?.players).toEqual([alice])
    await management.poll(never())
  })

  it('rejects pending calls', async () => {
    server.results = Object.fromEntries(readingMethods.map((method) => [method, 'silent']))
    const poll = source().poll(never())
    await until(() => server.called.length === readingMethods.length)
    for (const ws of server.sockets) ws.terminate()
    await expect(poll).rejects.toMatchObject({ code: 'closed' })
  })

  it('is retried with growing pauses while the server is down, and restored when it is back', async () => {
    const clock = manualClock()
    const management = source({}, clock)
    const { port } = server
    await server.close()
    await expect(management.poll(never())).rejects.toMatchObject({ code: 'refused' })
    for (const pause of [750, 1500, 3000]) {
      await clock.advance(pause - 1)
      expect(clock.pending).toBe(1)
      await expect(management.poll(never())).rejects.toMatchObject({ code: 'refused' })
      await clock.advance(1)
      // The attempt is real: it ends, and the next pause begins.
      await until(() => clock.pending === 1)
    }
    server = await managementServer(undefined, port)
    await clock.advance(30_000)
    await until(() => pushed.length > 0)
    expect((await management.poll(never())).fields.version).toBe('1.21.11')
  })

  it('is closed if no reply arrived, since the peer may be dead', async () => {
    server.results = Object.fromEntries(readingMethods.map((method) => [method, 'silent']))
    const clock = manualClock()
    const management = source({}, clock)
    const deadline = new AbortController()
    const poll = management.poll(deadline.signal)
    const failed = expect(poll).rejects.toMatchObject({ code: 'timeout' })
    await until(() => server.called.length === readingMethods.length)
    deadline.abort(new SourceError('timeout', 'late'))
    await failed
    await until(() => server.sockets.size === 0)
  })
})

describe('a peer that cannot be trusted', () => {
  it('tries a wrong secret once in five minutes, and does not include it in the message', async () => {
    const clock = manualClock()
    const management = source({ secret: 'wrong-secret' }, clock)
    const error: Error = await management.poll(never()).catch((thrown) => thrown)
    expect(error).toMatchObject({ code: 'auth' })
    expect(error.message).not.toContain('wrong-secret')
    await clock.advance(200_000)
    // The same failure, not another one of the same kind: nothing was tried since.
    await expect(management.poll(never())).rejects.toBe(error)
    expect(server.authorizations).toHaveLength(1)
  })

  it.each([
    ['malformed', 'this is not JSON'],
    ['malformed', '5'],
    ['malformed', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    ['too_large', `"${'x'.repeat(4 * 1024 * 1024)}"`],
  ])('ends the connection with %s, not the process', async (code, text) => {
    server.results = Object.fromEntries(readingMethods.map((method) => [method, 'silent']))
    const poll = source().poll(never())
    const failed = expect(poll).rejects.toMatchObject({ code })
    await until(() => server.called.length === readingMethods.length)
    server.send(text)
    await failed
  })
})

describe.skipIf(!hasTool('openssl'))('over TLS', () => {
  let certificate: ReturnType<typeof selfSigned>
  let other: ReturnType<typeof selfSigned>
  let secure: ManagementServer
  beforeAll(async () => {
    certificate = selfSigned()
    other = selfSigned()
    secure = await managementServer(certificate)
  })
  afterAll(async () => {
    await secure.close()
    for (const { folder } of [certificate, other]) rmSync(folder, { recursive: true })
  })

  it.each([
    ['a pinned fingerprint', () => ({ fingerprint: certificate.fingerprint })],
    ['a CA file', () => ({ caFile: certificate.certFile })],
  ])('trusts a self-signed certificate by %s', async (_, trust) => {
    const { fields } = await source({ url: secure.url, ...trust() }).poll(never())
    expect(fields.version).toBe('1.21.11')
  })

  it.each([
    ['without either', () => ({})],
    ['with another fingerprint', () => ({ fingerprint: other.fingerprint })],
    ['with another CA file', () => ({ caFile: other.certFile })],
    ['with a CA file that never ends', () => ({ caFile: '/dev/zero' })],
    ['with a CA file that is gone', () => ({ caFile: '/nonexistent.pem' })],
  ])('refuses it %s, and never sends it the secret', async (_, trust) => {
    const before = secure.authorizations.length
    await expect(source({ url: secure.url, ...trust() }).poll(never())).rejects.toMatchObject({ code: 'tls' })
    expect(secure.authorizations).toHaveLength(before)
  })
})

describe('of the demo server', () => {
  it.skipIf(!hasTool('openssl')).each(['array', 'object'] as const)(
    'a join and a leave reach the fleet immediately, sent in an %s over TLS',
    async (notificationParams) => {
      const certificate = selfSigned()
      rmSync(certificate.folder, { recursive: true })
      const tls = { key: String(certificate.key), cert: String(certificate.cert) }
      const demo = await startDemoServer({ managementTls: tls, notificationParams })
      const fleet = createFleet({
        servers: [demoSettings(demo, 'Server')],
        poll: { interval: 3_600_000, timeout: 10_000, staleAfter: 3_600_000 },
        clock: systemClock,
        log: silentLog,
        createSources,
      })
      const first = await fleet.get('Server')!.poll()
      expect(first.sources.map(({ source, state }) => [source, state])).toEqual([
        ['status', 'ok'],
        ['rcon', 'ok'],
        ['management', 'ok'],
        ['query', 'ok'],
      ])
      const names = () =>
        fleet
          .get('Server')!
          .snapshot()
          .fields.players?.value.players.map(({ name }) => name)
      const { name, id } = demo.world.join('Newcomer')
      await until(() => names()?.includes('Newcomer') === true)
      expect(fleet.get('Server')!.snapshot().fields.players).toMatchObject({ source: 'management', value: { complete: true } })
      expect(fleet.get('Server')!.snapshot().fields.players?.value.players).toContainEqual({ name, id })
      demo.world.leave('Newcomer')
      await until(() => !names()?.includes('Newcomer'))
      expect(fleet.get('Server')!.snapshot()).toMatchObject({ joins: 1, leaves: 1 })
      fleet.close()
      await demo.close()
    },
  )

  it.each(['1.21.10', '1.21.11', '26.1'])('is read for %s', async (era) => {
    const demo = await startDemoServer({ era })
    const { fields } = await source({ ...demo.management }).poll(never())
    expect(fields).toMatchObject({ version: era, playersOnline: 5, playersMax: 20, motd: 'Tickwarden demo server' })
    expect(Object.keys(fields)).toEqual(
      expect.arrayContaining(['defaultGameMode', 'difficulty', 'viewDistance', 'pauseWhenEmpty', 'protocol']),
    )
    await demo.close()
  })
})
