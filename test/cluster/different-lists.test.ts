import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type CountedServers, startCountedServers } from '../helpers/counted-servers.ts'
import { type DiscoveringService, startDiscovering } from '../helpers/discovering-service.ts'
import { type RedisServer, startRedis } from '../helpers/redis-server.ts'
import { hasTool } from '../helpers/require-tool.ts'
import { until } from '../helpers/until.ts'

/** Long: members only join here, and one that is late, as on a busy machine, would have to join again. */
const heartbeatMs = 4_000

/** Servers by the host name that is sent in the handshake, which identifies the replica. */
const listOf = (name: string, { addresses }: CountedServers, servers: readonly number[], more = ''): string =>
  `servers:\n${servers.map((n) => `  - { name: s${n}, address: "${addresses[n]}", hostname: ${name}.test${more} }\n`).join('')}`

const start = (redis: RedisServer, yaml: string, more: Record<string, string> = {}): Promise<DiscoveringService> =>
  startDiscovering({
    yaml,
    env: { STATE_URL: redis.url, STATE_HEARTBEAT: `${heartbeatMs}ms`, POLL_INTERVAL: '500ms', STALE_AFTER: '20s', ...more },
  })

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index)
const text = async ({ get }: DiscoveringService, path: string) => (await get(path)).text()
const hasMembers = async (replicas: readonly DiscoveringService[]) => {
  const metrics = await Promise.all(replicas.map((one) => text(one, '/metrics')))
  return metrics.every((one) => new RegExp(`^tickwarden_replica_members ${replicas.length}$`, 'm').test(one))
}

/** Waits until each server has been polled at least twice by one poller only. @returns the poller of each */
async function steadyPollers(servers: CountedServers, count: number): Promise<ReadonlyMap<number, string>> {
  let found: ReadonlyMap<number, string> = new Map()
  await until(async () => {
    const from = performance.now()
    const polled = () => servers.pollersSince(from, 2)
    await until(() => polled().size === count && [...polled().values()].every((by) => by.size > 0))
    const all = servers.pollersSince(from)
    found = new Map([...all].map(([server, by]) => [server, [...by].join()]))
    return [...all.values()].every((by) => by.size === 1)
  })
  return found
}

describe.skipIf(!hasTool('redis-server'))('replicas with different lists', () => {
  it('poll every server by one that lists it, also after a change', async () => {
    const [redis, servers] = [await startRedis(), await startCountedServers(30)]
    const [a, b] = await Promise.all([
      start(redis, listOf('a', servers, range(0, 20))),
      start(redis, listOf('b', servers, range(10, 30))),
    ])
    await until(() => hasMembers([a, b]))
    const pollers = await steadyPollers(servers, 30)
    for (const n of range(0, 10)) expect(pollers.get(n), `s${n}`).toBe('a.test')
    for (const n of range(20, 30)) expect(pollers.get(n), `s${n}`).toBe('b.test')
    expect(new Set(range(10, 20).map((n) => pollers.get(n)))).toEqual(new Set(['a.test', 'b.test']))
    // Each shows the servers that it lists, whichever replica polls them.
    const shows = async (one: DiscoveringService, n: number) => (await one.get(`/api/v1/servers/s${n}/getall`)).ok
    for (const n of range(0, 20)) await until(() => shows(a, n))
    for (const n of range(10, 30)) await until(() => shows(b, n))

    // One no longer lists the servers that it polls.
    writeFileSync(join(b.folder, 'tickwarden.yaml'), listOf('b', servers, range(20, 30)))
    await until(async () => (await b.names()).length === 10)
    const after = await steadyPollers(servers, 30)
    for (const n of range(0, 20)) expect(after.get(n), `s${n}`).toBe('a.test')

    // Both list all of them.
    writeFileSync(join(b.folder, 'tickwarden.yaml'), listOf('b', servers, range(0, 30)))
    writeFileSync(join(a.folder, 'tickwarden.yaml'), listOf('a', servers, range(0, 30)))
    await until(async () => (await a.names()).length + (await b.names()).length === 60)
    const both = await steadyPollers(servers, 30)
    const shareOfA = [...both.values()].filter((by) => by === 'a.test').length
    expect(shareOfA).toBeGreaterThan(3)
    expect(shareOfA).toBeLessThan(27)
  })

  it('poll their own servers when another one joins that does not list them, also without STATE_FAIL_OPEN', async () => {
    const [redis, servers] = [await startRedis(), await startCountedServers(20)]
    const more = { STATE_FAIL_OPEN: 'false', STALE_AFTER: '40s' }
    await start(redis, listOf('a', servers, range(0, 10)), more)
    await until(() => servers.pollersSince(0).size === 10)
    const from = performance.now()
    await start(redis, listOf('b', servers, range(10, 20)), more)
    await steadyPollers(servers, 20)
    for (const n of range(0, 10)) {
      const times = servers.polls.flatMap(({ server, at }) => (server === n && at >= from ? [at] : []))
      const gaps = times.map((at, index) => at - (times[index - 1] ?? from))
      // Otherwise, until it would almost be unknown.
      expect(Math.max(...gaps), `s${n}`).toBeLessThan(10_000)
    }
  })

  it('poll servers with the same name and different addresses separately, and log that once', async () => {
    const [redis, servers] = [await startRedis(), await startCountedServers(2)]
    const yaml = (n: number) => `servers:\n  - { name: survival, address: "${servers.addresses[n]}", hostname: ${n}.test }\n`
    const replicas = await Promise.all([start(redis, yaml(0)), start(redis, yaml(1))])
    await until(() => hasMembers(replicas))
    const pollers = await steadyPollers(servers, 2)
    expect([...pollers].sort()).toEqual([
      [0, '0.test'],
      [1, '1.test'],
    ])
    const conflicts = (one: DiscoveringService) => one.log.filter((line) => line.includes('with this name and another address'))
    for (const one of replicas) {
      await until(() => conflicts(one).length > 0)
      await until(async () => (await one.get('/api/v1/servers/survival/getall')).ok)
    }
    // Several polls, whose snapshots are received by the other replica.
    await steadyPollers(servers, 2)
    for (const [n, one] of replicas.entries()) {
      expect(conflicts(one)).toHaveLength(1)
      const port = Number(servers.addresses[n]?.split(':').at(-1))
      expect(await text(one, '/api/v1/servers/survival/sources')).toContain(servers.addresses[n] ?? String(port))
    }
  })

  it('do not log an equal name when one replica reads a changed address before the other', async () => {
    const [redis, servers] = [await startRedis(), await startCountedServers(2)]
    const yaml = (n: number, by: string) =>
      `servers:\n  - { name: survival, address: "${servers.addresses[n]}", hostname: ${by}.test }\n`
    const replicas = await Promise.all([start(redis, yaml(0, 'a')), start(redis, yaml(0, 'b'))])
    await until(() => hasMembers(replicas))
    for (const [index, one] of replicas.entries()) {
      writeFileSync(join(one.folder, 'tickwarden.yaml'), yaml(1, index === 0 ? 'a' : 'b'))
      // The first one is polled at the new address, the other one at the old one, by their replicas.
      const from = performance.now()
      await until(() => (servers.pollersSince(from).get(1)?.size ?? 0) > 0)
    }
    const from = performance.now()
    await until(() => servers.polls.some(({ at }) => at > from + 6_000))
    expect(replicas.flatMap(({ log }) => log.filter((line) => line.includes('another address')))).toEqual([])
  })
})
