import { describe, expect, it } from 'vitest'
import { type CountedServers, startCountedServers } from '../helpers/counted-servers.ts'
import { startRedis } from '../helpers/redis-server.ts'
import { type ServiceProcess, startService } from '../helpers/replica-process.ts'
import { hasTool } from '../helpers/require-tool.ts'
import { until } from '../helpers/until.ts'

const heartbeatMs = 2_000
const count = 300
/** How long polls are counted by replica, at an interval of a second; a minute for a manual run. */
const countedMs = Number(process.env.COUNTED_MS ?? 2_500)
/** Minimum time for which Redis is stopped and a replica is suspended; half a minute for a manual run. */
const awayMs = Number(process.env.AWAY_MS ?? 0)

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Each replica sends its own name in the handshake, so that the servers know who polls them. */
const configOf = (name: string, { addresses }: CountedServers): string =>
  `servers:\n${addresses.map((address, index) => `  - { name: s${index}, address: "${address}", hostname: ${name}.test }\n`).join('')}`

const startReplica = (name: string, servers: CountedServers, redisUrl: string): Promise<ServiceProcess> =>
  startService(name, configOf(name, servers), {
    STATE_URL: redisUrl,
    STATE_HEARTBEAT: `${heartbeatMs}ms`,
    POLL_INTERVAL: '1s',
    POLL_TIMEOUT: '900ms',
    STALE_AFTER: `${10_000 + awayMs}ms`,
  })

const hasMembers = async (replicas: readonly ServiceProcess[], members = replicas.length) =>
  (await Promise.all(replicas.map((replica) => replica.metric('tickwarden_replica_members')))).every((n) => n === members)
const owned = async (replicas: readonly ServiceProcess[]) => {
  const shares = await Promise.all(replicas.map((replica) => replica.metric('tickwarden_replica_servers')))
  return shares.reduce<number>((sum, share) => sum + (share ?? 0), 0)
}
async function isStable(replicas: readonly ServiceProcess[], members?: number): Promise<boolean> {
  // Rendering the metrics again and again would take the CPU that the replicas need.
  await sleep(50)
  return (await hasMembers(replicas, members)) && (await owned(replicas)) === count
}
/** The replica that polls each server; there must be exactly one. */
async function pollers(servers: CountedServers, forMs = 2_500): Promise<ReadonlyMap<number, string>> {
  // A poll that was under way when a server moved.
  await sleep(300)
  const from = performance.now()
  await sleep(forMs)
  const found = servers.pollersSince(from)
  expect(found.size).toBe(count)
  for (const [server, by] of found) expect([...by], `s${server}`).toHaveLength(1)
  return new Map([...found].map(([server, by]) => [server, [...by][0]!]))
}

/** Requests servers continuously. @returns a function that stops it and returns the errors */
function follow(replicas: readonly ServiceProcess[]): () => Promise<readonly string[]> {
  const errors: string[] = []
  let isOver = false
  const isRequesting = replicas.map(async (replica) => {
    for (let index = 0; !isOver; index = (index + 7) % count) {
      const response = await replica.get(`/api/v1/servers/s${index}/getall`).catch((error: Error) => error)
      if (response instanceof Error) errors.push(response.message)
      else if (!response.ok) errors.push(`${replica.name} s${index}: ${response.status} ${await response.text()}`)
      else await response.arrayBuffer()
      await sleep(5)
    }
  })
  return async () => {
    isOver = true
    await Promise.all(isRequesting)
    return errors
  }
}

describe.skipIf(!hasTool('redis-server'))('replicas', () => {
  it('poll each server once, and take over from a replica that is killed, stopped or disconnected', async () => {
    const redis = await startRedis()
    const servers = await startCountedServers(count)
    const replicas = await Promise.all(['a', 'b', 'c'].map((name) => startReplica(name, servers, redis.url)))
    const [a, b, c] = replicas as [ServiceProcess, ServiceProcess, ServiceProcess]
    await until(() => isStable(replicas))
    await until(async () => (await Promise.all(replicas.map(({ get }) => get('/readyz')))).every(({ ok }) => ok))
    const before = await pollers(servers, countedMs)
    for (const { get } of replicas) {
      const text = await (await get('/metrics')).text()
      expect(text.match(/^minecraft_up\{/gm)?.length).toBeGreaterThan(count / 3 / 1.5)
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
    expect(takenMs).toBeLessThan(2 * heartbeatMs)
    await until(() => isStable([a, b]))
    expect(await end()).toEqual([])
    // One joins, then another.
    const d = await startReplica('d', servers, redis.url)
    await until(() => isStable([a, b, d]))
    const three = await pollers(servers)
    for (const [server, by] of before) if (by !== 'c.test' && three.get(server) !== 'd.test') expect(three.get(server)).toBe(by)
    const e = await startReplica('e', servers, redis.url)
    const all = [a, b, d, e]
    await until(() => isStable(all))
    const four = await pollers(servers)
    const moved = [...four].filter(([server, by]) => three.get(server) !== by)
    expect(moved.length / count).toBeLessThan(0.4)
    expect(new Set(moved.map(([, by]) => by))).toEqual(new Set(['e.test']))

    // Redis stops, and returns without its data.
    const endAway = follow(all)
    await redis.kill()
    await until(async () =>
      (await Promise.all(all.map((one) => one.metric('tickwarden_replica_state_up')))).every((up) => up === 0),
    )
    const away = await pollers(servers)
    for (const [server, by] of four) expect(away.get(server)).toBe(by)
    await sleep(awayMs)
    await redis.restart()
    await until(() => isStable(all))
    expect(await endAway()).toEqual([])
    const back = await pollers(servers)
    for (const [server, by] of four) expect(back.get(server)).toBe(by)
    for (const { output } of all) {
      expect(output().match(/is unavailable: connection refused/g)).toHaveLength(1)
      expect(output()).toContain('is available again')
    }

    // One is suspended for a while.
    const rest = [a, b, d]
    e.child.kill('SIGSTOP')
    await until(() => isStable(rest))
    await sleep(awayMs)
    e.child.kill('SIGCONT')
    await until(() => isStable(all))
    expect(e.output()).toMatch(/lost its servers to other replicas; it rejoins now/)
    const woken = await pollers(servers)
    for (const [server, by] of four) expect(woken.get(server)).toBe(by)

    // One leaves.
    e.child.kill('SIGTERM')
    const leftAt = performance.now()
    await until(() => isStable(rest))
    expect(performance.now() - leftAt).toBeLessThan(heartbeatMs)
    expect(await e.exit).toBe(0)
    if (process.env.COUNTED_MS) console.log({ takenMs, moved: moved.length / count })
  })
})
