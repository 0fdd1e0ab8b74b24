import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type CountedServers, startCountedServers } from '../helpers/counted-servers.ts'
import { type DiscoveringService, startDiscovering } from '../helpers/discovering-service.ts'
import { type RedisServer, startRedis } from '../helpers/redis-server.ts'
import { hasTool } from '../helpers/require-tool.ts'
import { until } from '../helpers/until.ts'

const heartbeatMs = 300

/** Servers by the host name that is sent in the handshake, which identifies the replica. */
const listOf = (name: string, { addresses }: CountedServers, servers: readonly number[], more = ''): string =>
  `servers:\n${servers.map((n) => `  - { name: s${n}, address: "${addresses[n]}", hostname: ${name}.test${more} }\n`).join('')}`

const start = (redis: RedisServer, yaml: string): Promise<DiscoveringService> =>
  startDiscovering({
    yaml,
    env: { STATE_URL: redis.url, STATE_HEARTBEAT: `${heartbeatMs}ms`, POLL_INTERVAL: '500ms', STALE_AFTER: '20s' },
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

  it('poll every server by one that lists it if the lists change while Redis is full', async () => {
    const [redis, servers] = [await startRedis(), await startCountedServers(24)]
    const write = ({ folder }: DiscoveringService, name: string, listed: readonly number[]) =>
      writeFileSync(join(folder, 'tickwarden.yaml'), listOf(name, servers, listed))
    const [a, b] = await Promise.all([
      start(redis, listOf('a', servers, range(0, 16))),
      start(redis, listOf('b', servers, range(0, 16))),
    ])
    await until(() => hasMembers([a, b]))
    await steadyPollers(servers, 16)
    redis.cli('config', 'set', 'maxmemory', '1')

    // The first replica still lists the servers that the other has removed, and both have added some.
    write(a, 'a', range(0, 24))
    write(b, 'b', range(8, 24))
    await until(async () => (await a.names()).length + (await b.names()).length === 40)
    const whileFull = await steadyPollers(servers, 24)
    for (const n of range(0, 8)) expect(whileFull.get(n), `s${n}`).toBe('a.test')
    expect(new Set(range(16, 24).map((n) => whileFull.get(n)))).toEqual(new Set(['a.test', 'b.test']))
    for (const n of range(0, 24)) await until(async () => (await a.get(`/api/v1/servers/s${n}/getall`)).ok)
    for (const one of [a, b]) {
      expect(await text(one, '/metrics')).toMatch(/^tickwarden_replica_state_up 0$/m)
      expect(one.log.filter((line) => line.includes('is unavailable: it is full'))).toHaveLength(1)
    }

    redis.cli('config', 'set', 'maxmemory', '0')
    for (const one of [a, b]) await until(() => one.log.some((line) => line.includes('is available again')))
    expect(await steadyPollers(servers, 24)).toEqual(whileFull)
    await until(async () => /_differing_servers\{difference="missing"\} 8$/m.test(await text(a, '/metrics')))
    write(b, 'b', range(0, 24))
    await until(async () => /_differing_servers\{difference="missing"\} 0$/m.test(await text(a, '/metrics')))
    const after = await steadyPollers(servers, 24)
    expect(new Set(range(0, 8).map((n) => after.get(n)))).toEqual(new Set(['a.test', 'b.test']))
  })

  it('log once which servers differ, and count them', async () => {
    const [redis, servers] = [await startRedis(), await startCountedServers(3)]
    const [a, b] = await Promise.all([
      start(redis, listOf('x', servers, [0, 1, 2], ', group: Games')),
      start(redis, listOf('x', servers, [0, 1])),
    ])
    const differing = async (one: DiscoveringService) =>
      Object.fromEntries(
        [...(await text(one, '/metrics')).matchAll(/^tickwarden_replica_differing_servers\{difference="(\w+)"\} (\d+)$/gm)].map(
          ([, kind, value]) => [kind, Number(value)],
        ),
      )
    const warnings = (one: DiscoveringService) => one.log.filter((line) => line.startsWith('warn: Servers '))
    await until(() => warnings(a).length === 2 && warnings(b).length === 1)
    expect(await differing(a)).toEqual({ settings: 2, missing: 1 })
    expect(await differing(b)).toEqual({ settings: 2, missing: 0 })
    expect(warnings(a).join()).toMatch(
      /Servers have different settings on another replica \(.+\): s0, s1\. .*Give all replicas the same/,
    )
    expect(warnings(a).join()).toMatch(/Servers are not listed by another replica \(.+\): s2\. .*Give all replicas the same/)

    writeFileSync(join(b.folder, 'tickwarden.yaml'), listOf('x', servers, [0, 1, 2], ', group: Games'))
    const resolved = 'info: All replicas list the same servers with the same settings again.'
    await until(() => a.log.includes(resolved) && b.log.includes(resolved))
    expect(await differing(a)).toEqual({ settings: 0, missing: 0 })
    expect(warnings(a)).toHaveLength(2)
    expect(warnings(b)).toHaveLength(1)
  })
})
