import { pino } from 'pino'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Replica } from '../../src/cluster/replica.ts'
import { type Service, serve } from '../../src/commands/serve.ts'
import { loadConfig } from '../../src/config/config.ts'
import { type DemoServer, startDemoServer } from '../../src/demo/demo-server.ts'
import { SourceError } from '../../src/game/errors.ts'
import { createFleet } from '../../src/game/fleet.ts'
import type { Source } from '../../src/game/sources/source.ts'
import { formatHostPort } from '../../src/util/address.ts'
import { systemClock } from '../../src/util/clock.ts'
import { silentLog } from '../../src/util/log.ts'
import { joinCluster, keys } from '../helpers/cluster-member.ts'
import { openEvents } from '../helpers/event-client.ts'
import { collectLog } from '../helpers/log-lines.ts'
import { createLossyLine } from '../helpers/lossy-line.ts'
import { type RedisServer, startRedis } from '../helpers/redis-server.ts'
import { hasTool } from '../helpers/require-tool.ts'
import { until } from '../helpers/until.ts'

interface TestReplica extends Service {
  readonly lines: readonly string[]
  text(path: string): Promise<string>
  owns(): Promise<boolean>
}

async function startDemo(): Promise<DemoServer> {
  const demo = await startDemoServer({ seed: 7 })
  onTestFinished(() => demo.close())
  return demo
}

/** The whole service in this process. */
async function startReplica(redis: RedisServer, demo: DemoServer, more: Record<string, string> = {}): Promise<TestReplica> {
  const lines: string[] = []
  const logger = pino({ level: 'info' }, { write: (line) => void lines.push(JSON.parse(line).msg) })
  const env = {
    PORT: '0',
    MC_SERVER: formatHostPort(demo.address),
    MC_MANAGEMENT: demo.management?.url ?? '',
    MC_MANAGEMENT_SECRET: demo.management?.secret ?? '',
    POLL_INTERVAL: '500ms',
    // Long: on a busy machine a poll may take a second.
    STALE_AFTER: '10s',
    STATE_URL: redis.url,
    // The same: a replica that is late is no longer a member, and who joins while no replica polls the server is sent to nobody.
    STATE_HEARTBEAT: '4s',
    ...more,
  }
  const service = await serve(loadConfig({ env }), logger)
  onTestFinished(() => service.close())
  const text = async (path: string) => (await fetch(service.url + path)).text()
  return {
    ...service,
    lines,
    text,
    owns: async () => /^tickwarden_replica_servers 1$/m.test(await text('/metrics')),
  }
}

/** Two replicas that know each other: the one that polls the server, and the other. */
async function startTwo(redis: RedisServer, demo: DemoServer): Promise<readonly [TestReplica, TestReplica]> {
  const both = [await startReplica(redis, demo), await startReplica(redis, demo)] as const
  await until(async () => {
    const metrics = await Promise.all(both.map(({ text }) => text('/metrics')))
    const owners = metrics.filter((text) => /^tickwarden_replica_servers 1$/m.test(text))
    return owners.length === 1 && metrics.every((text) => /^tickwarden_replica_members 2$/m.test(text))
  })
  for (const { url } of both) await until(async () => (await fetch(`${url}/api/v1/getall`)).ok)
  return (await both[0].owns()) ? both : [both[1], both[0]]
}

describe.skipIf(!hasTool('redis-server'))('Replica', () => {
  it('serves all values of a server that another replica polls', async () => {
    const [redis, demo] = [await startRedis(), await startDemo()]
    const [owner, other] = await startTwo(redis, demo)
    // A player may join between the two requests.
    await until(async () => (await other.text('/api/v1/playernames')) === (await owner.text('/api/v1/playernames')))
    expect(await other.text('/api/v1/favicon')).toBe(await owner.text('/api/v1/favicon'))
    const favicon = await fetch(`${other.url}/api/v1/favicon`)
    expect(favicon.headers.get('x-favicon')).toBeNull()
    // On a busy machine, a poll may be late.
    await until(async () => {
      const reply = await fetch(`${other.url}/api/v1/getall`)
      expect(reply.headers.get('x-snapshot-source')).toContain('status')
      return Number(reply.headers.get('x-snapshot-age')) < 2
    })
    // Replicas are polled in turn: both count the time from the same start.
    await until(async () => {
      const [one, two] = await Promise.all(
        [owner, other].map(async ({ text }) => JSON.parse(await text('/api/v1/getall')) as { TIME_REFERENCE: number }),
      )
      return Math.abs(one!.TIME_REFERENCE - two!.TIME_REFERENCE) < 2_000
    })
    expect(await other.text('/sd')).toBe(await owner.text('/sd'))
    expect(await owner.text('/metrics')).toMatch(/^minecraft_up\{/m)
    expect(await other.text('/metrics')).not.toMatch(/^minecraft_(up|polls_total)\{/m)
    for (const path of ['banner.png', 'badge.svg', 'history', 'uptime', 'sources'])
      expect((await fetch(`${other.url}/api/v1/${path}`)).status, path).toBe(200)
    await until(async () => /"players":\{"min":\[.*\d/.test(await other.text('/api/v1/history?range=1h')))
  })

  it('sends a join detected by another replica to event clients, within 250 ms', async () => {
    const [redis, demo] = [await startRedis(), await startDemo()]
    const [owner, other] = await startTwo(redis, demo)
    const [seen, passedOn] = [await openEvents(`${owner.url}/api/v1/events`), await openEvents(`${other.url}/api/v1/events`)]
    // The first poll may have ended before the management server has sent the list.
    await until(() => [seen, passedOn].every(({ events }) => events.some(({ data }) => data.players != null)))
    const name = 'Across'
    const joinedAt = performance.now()
    demo.world.join(name)
    const hasJoined = ({ events }: typeof seen) =>
      events.some(({ event, data }) => event === 'join' && (data.player as { NAME: string }).NAME === name)
    await until(() => hasJoined(seen))
    const seenAt = performance.now()
    await until(() => hasJoined(passedOn))
    // On an otherwise idle machine.
    if (process.env.LONG_TESTS === '1') expect(performance.now() - seenAt).toBeLessThan(250)
    expect(joinedAt).toBeLessThan(seenAt)
    seen.close()
    passedOn.close()
  })

  it('continues the events of another replica after its last id', async () => {
    const [redis, demo] = [await startRedis(), await startDemo()]
    const [owner, other] = await startTwo(redis, demo)
    const hasJoin = (name: string, { events }: { readonly events: readonly { event: string; data: object }[] }) =>
      events.some(({ event, data }) => event === 'join' && JSON.stringify(data).includes(name))
    const first = await openEvents(`${owner.url}/api/v1/events`)
    // Until the other one records events too: from the first snapshot on after it was told of the client.
    await until(async () => (await redis.ask('hget', '{tickwarden}:3:state', 'watched')) > '1')
    const beats = async () => (await redis.ask('zrange', '{tickwarden}:3:members', '0', '-1', 'withscores')).split('\n')
    for (let round = 0; round < 2; round++) {
      const before = await beats()
      await until(async () => (await beats()).every((value, index) => index % 2 === 0 || Number(value) > Number(before[index])))
    }
    demo.world.join('Earlier')
    await until(() => hasJoin('Earlier', first))
    await until(async () => (await other.text('/api/v1/playernames')).includes('Earlier'))
    demo.world.join('Before')
    await until(() => hasJoin('Before', first))
    const lastId = String(first.events.at(-1)?.id)
    first.close()
    demo.world.join('After')
    const second = await openEvents(`${other.url}/api/v1/events`, { 'last-event-id': lastId })
    await until(() => hasJoin('After', second))
    expect(second.events.map(({ event }) => event)).not.toContain('snapshot')
    expect(hasJoin('Before', second)).toBe(false)
    second.close()
  })

  it('keeps every value while Redis evicts everything', async () => {
    const [redis, demo] = [await startRedis(), await startDemo()]
    const both = await startTwo(redis, demo)
    for (let round = 0; round < 10; round++) {
      await redis.ask('flushall')
      await until(async () => (await redis.ask('dbsize')) !== '0')
      for (const { url } of both) expect((await fetch(`${url}/api/v1/getall`)).status).toBe(200)
    }
    demo.world.join('AfterEviction')
    for (const { text } of both) await until(async () => (await text('/api/v1/playernames')).includes('AfterEviction'))
  })

  it('loads stored snapshots when it starts, and takes over immediately from a replica that leaves', async () => {
    const [redis, demo] = [await startRedis(), await startDemo()]
    const [owner, other] = await startTwo(redis, demo)
    const third = await startReplica(redis, demo)
    await until(async () => (await fetch(`${third.url}/api/v1/getall`)).ok)
    let failures = 0
    let isOver = false
    const following = (async () => {
      while (!isOver) if (!(await fetch(`${other.url}/api/v1/getall`)).ok) failures++
    })()
    await owner.close()
    await third.close()
    await until(() => other.owns())
    await until(async () => /^minecraft_up\{.*\} 1$/m.test(await other.text('/metrics')))
    isOver = true
    await following
    expect(failures).toBe(0)
  })

  it('reports once that Redis is full, while changes still reach the others', async () => {
    const [redis, demo] = [await startRedis(), await startDemo()]
    const [owner, other] = await startTwo(redis, demo)
    await redis.ask('config', 'set', 'maxmemory', '1')
    await until(() => owner.lines.some((line) => line.includes('it is full')))
    demo.world.join('WhileFull')
    await until(async () => (await other.text('/api/v1/playernames')).includes('WhileFull'))
    await redis.ask('config', 'set', 'maxmemory', '0')
    await until(() => owner.lines.some((line) => line.includes('is available again')))
    expect(owner.lines.filter((line) => line.includes('is unavailable: it is full'))).toHaveLength(1)
  })

  it('uses only the configured database, and logs once that it does not exist', async () => {
    const redis = await startRedis()
    const line = await createLossyLine(redis.port, { onTestFinished })
    const replica = await startReplica(redis, await startDemo(), { STATE_URL: `redis://127.0.0.1:${line.port}/99` })
    const problems = () => replica.lines.filter((line) => line.includes('The shared state at'))
    await until(() => problems().length > 0)
    await until(() => line.accepted >= 5)
    expect(problems()).toEqual([
      expect.stringContaining('the database does not exist: change the number at the end of STATE_URL'),
    ])
    expect(await redis.ask('dbsize')).toBe('0')
    expect((await fetch(`${replica.url}/readyz`)).status).toBe(503)
  })

  it('ignores invalid data, and logs that once', async () => {
    const [redis, demo] = [await startRedis(), await startDemo()]
    const replica = await startReplica(redis, demo)
    await until(() => replica.owns())
    const state = '{tickwarden}:3:state'
    // Until an entry follows the last one: heartbeats are entries too.
    await until(() => {
      // This process is blocked, so that no heartbeat comes in between.
      const position = Number(redis.cli('hget', state, 'position'))
      const entry = ['after', position, 'epoch', 1, 'at', 0, 'member', 'x', 'kind', 'snapshots', 'data', 1, 'text', 'nonsense']
      redis.cli('xadd', '{tickwarden}:3:stream', `${position + 1}-0`, ...entry.map(String))
      redis.cli('hset', state, 'position', String(position + 1))
      return replica.lines.some((line) => line.includes('Ignored data in the shared state'))
    })
    await until(async () => (await fetch(`${replica.url}/api/v1/getall`)).ok)
    expect(replica.lines.filter((line) => line.includes('Ignored data in the shared state'))).toHaveLength(1)
  })

  it('shows its own polls in time, also while the replies of Redis are late', async ({ onTestFinished }) => {
    const redis = await startRedis()
    const line = await createLossyLine(redis.port, { onTestFinished })
    const env = { STATE_URL: `redis://127.0.0.1:${line.port}`, STATE_HEARTBEAT: '5s', POLL_INTERVAL: '500ms', STALE_AFTER: '4s' }
    const { cluster, poll } = loadConfig({ env })
    const { stateUrl: address } = cluster
    if (address === undefined) throw new Error('no STATE_URL')
    const log = collectLog()
    const replica = new Replica({ address, config: cluster, poll, clock: systemClock, log })
    const source: Source = {
      name: 'status',
      target: 'survival.test',
      poll: async () => ({ source: 'status', at: systemClock.now(), fields: { playersOnline: 1 } }),
      close() {},
    }
    const fleet = createFleet({
      servers: [{ name: 'survival', sources: {} }],
      ...{ poll, clock: systemClock, log, share: replica.share },
      createSources: () => ({ list: () => [source], close() {} }),
    })
    onTestFinished(async () => {
      await replica.close()
      fleet.close()
    })
    replica.start(fleet)
    fleet.start()
    await until(() => fleet.get('survival')?.snapshot().up === true)
    const states: (boolean | undefined)[] = []
    fleet.subscribe(({ up }) => states.push(up))
    line.fault = 'silent'
    // Commands time out after five seconds.
    await until(() => log.lines.some((text) => text.includes('does not reply in time')))
    expect(states).toContain(true)
    expect(states).not.toContain(undefined)
    expect(replica.metrics().unknown).toBe(0)
  })

  it('polls its servers on, with the same connections, if it was late and joins again', async () => {
    const redis = await startRedis()
    const other = joinCluster(redis, 'other', { heartbeatMs: 4_000 })
    // Before the replica, which would otherwise own all servers at first, and give some up.
    await until(() => other.members() === 'other')
    const env = { STATE_URL: redis.url, STATE_PREFIX: 'test', STATE_HEARTBEAT: '4s', POLL_INTERVAL: '500ms', STALE_AFTER: '20s' }
    const { cluster, poll } = loadConfig({ env })
    const { stateUrl: address } = cluster
    if (address === undefined) throw new Error('no STATE_URL')
    const log = collectLog()
    const replica = new Replica({ address, config: cluster, poll, clock: systemClock, log })
    let [opened, closed, polls] = [0, 0, 0]
    const fleet = createFleet({
      servers: Array.from({ length: 20 }, (_, index) => ({ name: `s${index}`, sources: {} })),
      ...{ poll, clock: systemClock, log, share: replica.share },
      createSources() {
        opened++
        const source: Source = {
          name: 'status',
          target: 'survival.test',
          async poll() {
            polls++
            return { source: 'status', at: systemClock.now(), fields: { playersOnline: 1 } }
          },
          close() {},
        }
        return { list: () => [source], close: () => void closed++ }
      },
    })
    onTestFinished(async () => {
      await replica.close()
      fleet.close()
    })
    replica.start(fleet)
    fleet.start()
    // The other one reports nothing, so that the replica polls its servers too.
    await until(() => other.membership.members.length === 2 && replica.metrics().servers === 20)
    const before = [opened, closed]
    const id = other.membership.members.find((member) => member !== 'other') ?? ''
    const hasRejoined = () => log.lines.some((line) => line.includes('it rejoins now'))
    await until(async () => {
      if (!hasRejoined()) await redis.ask('zrem', keys.members, id)
      return hasRejoined()
    })
    const enough = polls + 20
    await until(() => polls > enough)
    expect([opened, closed]).toEqual(before)
    expect(replica.metrics()).toMatchObject({ servers: 20, unknown: 0 })
  })

  it('does not load the stored snapshot of a server whose settings have changed', async () => {
    const redis = await startRedis()
    const env = { STATE_URL: redis.url, STATE_HEARTBEAT: '5s', POLL_INTERVAL: '10s' }
    let polls = 0
    const { cluster, poll } = loadConfig({ env })
    const { stateUrl: address } = cluster
    if (address === undefined) throw new Error('no STATE_URL')
    const replica = new Replica({ address, config: cluster, poll, clock: systemClock, log: silentLog })
    const fleet = createFleet({
      servers: [{ name: 'survival', sources: {} }],
      ...{ poll, clock: systemClock, log: silentLog, share: replica.share },
      createSources({ group }) {
        const source: Source = {
          name: 'status',
          target: 'survival.test',
          async poll() {
            if (group === undefined) {
              // The snapshot of a second poll could be on its way when the settings change.
              if (++polls > 1) await new Promise(() => {})
              return { source: 'status', at: systemClock.now(), fields: { playersOnline: 1 } }
            }
            // wait: longer than it takes to load a stored snapshot.
            await new Promise((resolve) => setTimeout(resolve, 500))
            throw new SourceError('refused', 'survival.test: connection refused')
          },
          close() {},
        }
        return { list: () => [source], close() {} }
      },
    })
    onTestFinished(async () => {
      await replica.close()
      fleet.close()
    })
    replica.start(fleet)
    fleet.start()
    await until(async () => (await redis.ask('keys', '*')).includes('snapshot') && fleet.get('survival')?.snapshot().up === true)
    // Until it has come back with the stream.
    await until(() => Number.isFinite(replica.order.completeFrom()))
    const states: (boolean | undefined)[] = []
    fleet.subscribe(({ up }) => states.push(up))
    fleet.update([{ name: 'survival', group: 'Games', sources: {} }])
    await until(() => states.at(-1) === false)
    expect(states).not.toContain(true)
  })

  it('is not ready, and every server is unknown, until it has joined', async () => {
    const [redis, demo] = [await startRedis(), await startDemo()]
    await redis.kill()
    const replica = await startReplica(redis, demo)
    await until(() => replica.lines.some((line) => line.includes('connection refused')))
    expect((await fetch(`${replica.url}/readyz`)).status).toBe(503)
    expect((await fetch(`${replica.url}/api/v1/getall`)).status).toBe(503)
    const metrics = await replica.text('/metrics')
    expect(metrics).toMatch(/^tickwarden_replica_state_up 0$/m)
    expect(metrics).not.toMatch(/^(minecraft_up|tickwarden_replica_members)/m)
    await redis.restart()
    await until(async () => (await fetch(`${replica.url}/readyz`)).ok)
  })
})
