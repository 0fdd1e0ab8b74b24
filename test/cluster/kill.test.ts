import { describe, expect, it } from 'vitest'
import { type CountedServers, startCountedServers } from '../helpers/counted-servers.ts'
import { type RedisServer, startRedis } from '../helpers/redis-server.ts'
import { rest, type ServiceProcess, shareServers, startService } from '../helpers/replica-process.ts'
import { hasTool } from '../helpers/require-tool.ts'
import { until } from '../helpers/until.ts'

/** The durations that users expect of replicas, instead of those that show the same faster: see CONTRIBUTING.md. */
const isLong = process.env.LONG_TESTS === '1'
/** Few enough that they also leave time for other work on a busy machine. */
const count = isLong ? 300 : 100
const heartbeatMs = isLong ? 5_000 : 2_000
/** Long enough that polls leave the replicas most of their share of a busy machine. */
const pollMs = 2_000
/** For how long the polls of all servers are counted in the steady state. */
const countedMs = isLong ? 60_000 : 2 * pollMs
/** For how long Redis is away and a replica is suspended, at least. */
const awayMs = isLong ? 30_000 : 0
const timeoutMs = isLong ? 380_000 : 300_000

// wait: a replica is suspended for a time.
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Each replica sends its own name in the handshake, so that the servers know who polls them. */
const configOf = (name: string, { addresses }: CountedServers): string =>
  `servers:\n${addresses.map((address, index) => `  - { name: s${index}, address: "${address}", hostname: ${name}.test }\n`).join('')}`

const startReplica = (name: string, servers: CountedServers, redis: RedisServer): Promise<ServiceProcess> =>
  startService(name, configOf(name, servers), {
    STATE_URL: redis.url,
    STATE_HEARTBEAT: `${heartbeatMs}ms`,
    POLL_INTERVAL: `${pollMs}ms`,
    POLL_TIMEOUT: `${pollMs}ms`,
    // Long enough for a busy machine: that all servers are polled is seen by the servers.
    STALE_AFTER: `${30_000 + awayMs}ms`,
  })

const isStable = (replicas: readonly ServiceProcess[]) => shareServers(replicas, count)

/**
 * Waits until every server has been polled again by one replica only, and for some time: a poll may be in progress while a server
 * moves.
 * @returns the replica that polls each server
 */
async function pollers(servers: CountedServers, forMs = 0): Promise<ReadonlyMap<number, string>> {
  let found: ReadonlyMap<number, ReadonlySet<string>> = new Map()
  await until(async () => {
    const from = performance.now()
    // wait: each is polled by one replica alone for so long.
    await until(() => performance.now() - from >= forMs && servers.pollersSince(from).size === count)
    found = servers.pollersSince(from)
    return [...found.values()].every((by) => by.size === 1)
  })
  return new Map([...found].map(([server, by]) => [server, [...by][0]!]))
}

/** Requests servers continuously. @returns a function that stops it and returns the errors */
function follow(replicas: readonly ServiceProcess[]): () => Promise<readonly string[]> {
  const errors: string[] = []
  let isOver = false
  const isRequesting = replicas.map(async (replica) => {
    for (let index = 0; !isOver; index = (index + 7) % count) {
      const startedAt = performance.now()
      const response = await replica.get(`/api/v1/servers/s${index}/getall`).catch((error: Error) => error)
      if (response instanceof Error) errors.push(response.message)
      else if (!response.ok) errors.push(`${replica.name} s${index}: ${response.status} ${await response.text()}`)
      else await response.arrayBuffer()
      await rest(startedAt, 40)
    }
  })
  return async () => {
    isOver = true
    await Promise.all(isRequesting)
    return errors
  }
}

/** Three replicas that share all servers. */
async function startThree() {
  const [redis, servers] = await Promise.all([startRedis(), startCountedServers(count)])
  const replicas = await Promise.all(['a', 'b', 'c'].map((name) => startReplica(name, servers, redis)))
  await until(() => isStable(replicas))
  await until(async () => (await Promise.all(replicas.map(({ get }) => get('/readyz')))).every(({ ok }) => ok))
  return { redis, servers, replicas: replicas as [ServiceProcess, ServiceProcess, ServiceProcess] }
}

describe.skipIf(!hasTool('redis-server'))('replicas', () => {
  it('poll each server once, take over from one that is killed, and share with one that joins', {
    timeout: timeoutMs,
  }, async () => {
    const { redis, servers, replicas } = await startThree()
    const [a, b, c] = replicas
    const before = await pollers(servers, countedMs)
    for (const { get } of replicas) {
      const text = await (await get('/metrics')).text()
      expect(text.match(/^minecraft_up\{/gm)?.length).toBeGreaterThan(count / 3 / 2)
    }

    // One is killed.
    const end = follow([a, b])
    const killedAt = performance.now()
    c.child.kill('SIGKILL')
    const lost = [...before].flatMap(([server, by]) => (by === 'c.test' ? [server] : []))
    await until(() => lost.every((server) => servers.newestPoll(server)?.by !== 'c.test'))
    const taken = new Map<number, number>()
    for (const { server, by, at } of servers.polls)
      if (by !== 'c.test' && at > killedAt && !taken.has(server)) taken.set(server, at)
    const takenMs = Math.max(...lost.map((server) => taken.get(server) ?? Number.POSITIVE_INFINITY)) - killedAt
    // On an otherwise idle machine.
    if (isLong) expect(takenMs).toBeLessThan(2 * heartbeatMs)
    await until(() => isStable([a, b]))
    expect(await end()).toEqual([])

    // One joins, then another.
    const d = await startReplica('d', servers, redis)
    await until(() => isStable([a, b, d]))
    const three = await pollers(servers)
    for (const [server, by] of before) if (by !== 'c.test' && three.get(server) !== 'd.test') expect(three.get(server)).toBe(by)
    const e = await startReplica('e', servers, redis)
    await until(() => isStable([a, b, d, e]))
    const four = await pollers(servers)
    const moved = [...four].filter(([server, by]) => three.get(server) !== by)
    expect(moved.length / count).toBeLessThan(0.4)
    expect(new Set(moved.map(([, by]) => by))).toEqual(new Set(['e.test']))
    if (isLong) console.log({ takenMs, moved: moved.length / count })
  })

  it('continue while Redis is away, and notice that they were suspended', { timeout: timeoutMs }, async () => {
    const { redis, servers, replicas } = await startThree()
    const [a, b, c] = replicas
    const before = await pollers(servers)

    // Redis is away, and comes back without its data.
    const end = follow(replicas)
    await redis.kill()
    await until(async () =>
      (await Promise.all(replicas.map((one) => one.metric('tickwarden_replica_state_up')))).every((up) => up === 0),
    )
    expect(await pollers(servers, awayMs)).toEqual(before)
    await redis.restart()
    await until(() => isStable(replicas))
    expect(await pollers(servers)).toEqual(before)
    expect(await end()).toEqual([])
    for (const { output } of replicas) {
      expect(output().match(/is unavailable: connection refused/g)).toHaveLength(1)
      expect(output()).toContain('is available again')
    }

    // One is suspended.
    const others = [a, b]
    c.child.kill('SIGSTOP')
    await until(() => isStable(others))
    await sleep(awayMs)
    const endAwake = follow(others)
    c.child.kill('SIGCONT')
    await until(() => isStable(replicas))
    expect(await pollers(servers)).toEqual(before)
    expect(await endAwake()).toEqual([])
    expect(c.output()).toMatch(/lost its servers to other replicas; it rejoins now/)

    // One leaves.
    c.child.kill('SIGTERM')
    expect(await c.exit).toBe(0)
    // The others do not have to wait until it expires.
    expect(redis.cli('zcard', '{tickwarden}:3:members')).toBe(String(others.length))
    await until(() => isStable(others))
  })
})
