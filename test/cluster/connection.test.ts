import { once } from 'node:events'
import net, { type AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { parseStateAddress } from '../../src/cluster/address.ts'
import { StateConnection } from '../../src/cluster/connection.ts'
import { createSharedValues } from '../../src/cluster/shared-data.ts'
import { systemClock } from '../../src/util/clock.ts'
import { silentLog } from '../../src/util/log.ts'
import { joinCluster, keys } from '../helpers/cluster-member.ts'
import { temporaryFolder } from '../helpers/discovering-service.ts'
import { startRedis, startSentinel } from '../helpers/redis-server.ts'
import { hasTool } from '../helpers/require-tool.ts'
import { freePort } from '../helpers/run-tool.ts'
import { onTestFinished, separateTestEnds } from '../helpers/test-end.ts'
import { until } from '../helpers/until.ts'

/** A TCP proxy to the local port `target`, which may change: open connections stay where they are. Counts what was sent to it. */
async function startProxy(target: number): Promise<{ readonly port: number; target: number; received: number }> {
  const sockets = new Set<net.Socket>()
  const server = net.createServer((client) => {
    const upstream = net.connect(proxy.target, '127.0.0.1')
    client.on('data', () => proxy.received++)
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from)
      from.on('error', () => {}).on('close', () => to.destroy())
      from.pipe(to)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const proxy = { port: (server.address() as AddressInfo).port, target, received: 0 }
  return proxy
}

/** Waits until a client has sent something several times more. */
async function furtherAttempts(proxy: { readonly received: number }): Promise<void> {
  const enough = proxy.received + 8
  await until(() => proxy.received >= enough)
}

/** Options of a server with a user that has these rights. */
const acl = (rights: string) => ['--user', 'tw', 'on', '>pw', ...rights.split(' ')]

// Concurrent, because these tests mostly wait for further attempts.
describe.skipIf(!hasTool('redis-server')).concurrent('StateConnection', () => {
  separateTestEnds()

  it.for([
    ['a wrong password', ['--requirepass', 'right'], 'redis://:wrong-secret@', /the password is wrong: set STATE_PASSWORD/],
    ['no password', ['--requirepass', 'right'], 'redis://', /requires a password: set STATE_PASSWORD/],
    [
      'a user without a command',
      acl('~{test}* +@all -zadd'),
      'redis://tw:pw@',
      /forbids a command or key: allow its user ~.* \+@write/,
    ],
    ['a user without the keys', acl('~other:* +@all'), 'redis://tw:pw@', /forbids a command or key: allow its user ~/],
  ] as const)('reports once what to do about %s', async ([, options, start, expected]) => {
    const redis = await startRedis(...options)
    const proxy = await startProxy(redis.port)
    const { log } = joinCluster(redis, 'a', { url: `${start}127.0.0.1:${proxy.port}` })
    await until(() => log.lines.length > 0)
    await furtherAttempts(proxy)
    expect(log.lines).toEqual([expect.stringMatching(expected)])
    expect(log.lines.join()).not.toContain('wrong-secret')
  })

  it('works with the rights that the message about a forbidden command names', async () => {
    const options = acl('~{test}* +@read +@write +@scripting +@connection +time +info')
    const redis = await startRedis(...options)
    const { log, members, entries } = joinCluster(redis, 'a', { url: `redis://tw:pw@127.0.0.1:${redis.port}/1` })
    await until(() => members() === 'a' && entries.length > 0)
    expect(log.lines).toEqual([])
    expect(redis.cli('ACL', 'LOG')).toBe('')
  })

  it('waits for the first attempt to connect before values are read, and says why it failed', async () => {
    const firstValues = (server: { readonly url: string }) =>
      createSharedValues(joinCluster(server, 'a').connection, 'values').all()
    const redis = await startRedis()
    // An attempt that takes over a second on a busy machine fails; one that is not waited for always does.
    let values: object | undefined
    await until(async () => {
      values = await firstValues(redis).catch(() => undefined)
      return values !== undefined
    })
    expect(values).toEqual({})
    const nowhere = { url: `redis://127.0.0.1:${await freePort()}` }
    await expect(firstValues(nowhere)).rejects.toThrow('connection refused: check STATE_URL')
  })

  it('reports once that the server is slow, and once that it has recovered', async () => {
    const redis = await startRedis()
    const { log, members } = joinCluster(redis, 'a', { timeoutMs: 2_000 })
    await until(() => members() === 'a')
    redis.process.kill('SIGSTOP')
    await until(() => log.lines.length > 0)
    redis.process.kill('SIGCONT')
    await until(() => log.lines.length > 1)
    expect(log.lines).toEqual([expect.stringContaining('does not reply in time'), expect.stringContaining('is available again')])
  })

  it('reports once that the server is a replica, and keeps the members', async () => {
    const redis = await startRedis()
    const proxy = await startProxy(redis.port)
    const { log, members } = joinCluster({ url: `redis://127.0.0.1:${proxy.port}` }, 'a')
    await until(() => members() === 'a')
    redis.cli('replicaof', '127.0.0.1', '1')
    await until(() => log.lines.length > 0)
    // Heartbeats, and reads that succeed.
    await furtherAttempts(proxy)
    expect(members()).toBe('a')
    redis.cli('replicaof', 'no', 'one')
    await until(() => log.lines.length > 1)
    expect(log.lines).toEqual([expect.stringContaining('read-only replica'), expect.stringContaining('is available again')])
  })

  it('looks for another primary at once when the server refuses writes, but not each time', async () => {
    const redis = await startRedis('--replicaof', '127.0.0.1', '1')
    const address = parseStateAddress(redis.url)!
    let now = 0
    const clock = { ...systemClock, now: () => now }
    const times = { timeoutMs: 10_000, maxBlockMs: 1_000, maxRetryMs: 1_000 }
    const connection = new StateConnection({ address, prefix: 'test', clock, log: silentLog, ...times })
    onTestFinished(() => connection.close())
    /** The number that the server gave to the connection, once there is one. */
    const connectionId = async () => {
      let id: number | undefined
      await until(async () => {
        id = await connection.run('locks', (client) => client.client('ID')).catch(() => undefined)
        return id !== undefined && connection.isConnected
      })
      return id
    }
    const idAfterWrite = async () => {
      await expect(connection.run('heartbeats', (client) => client.set('a', 'b'))).rejects.toThrow('read-only replica')
      return connectionId()
    }
    const first = await connectionId()
    const second = await idAfterWrite()
    expect(second).not.toBe(first)
    expect(await idAfterWrite()).toBe(second)
    now += 1_000
    expect(await idAfterWrite()).not.toBe(second)
  })

  it.for(['', '/1'])('reports once that the server is a Sentinel, with the database "%s"', async (database) => {
    const sentinel = await startSentinel(temporaryFolder())
    const proxy = await startProxy(Number(new URL(sentinel).port))
    const { log, members } = joinCluster({ url: `redis://127.0.0.1:${proxy.port}${database}` }, 'a')
    await until(() => log.lines.length > 0)
    await furtherAttempts(proxy)
    expect(members()).toBe('')
    expect(log.lines).toEqual([
      expect.stringMatching(/as a Sentinel does, which is not supported: STATE_URL must be the address of the primary/),
    ])
  })

  it.for(['', '/1'])('reports once that the server is a node of a Redis Cluster, with the database "%s"', async (database) => {
    const [folder, ports] = [temporaryFolder(), [await freePort(), await freePort()]]
    const [node, other] = await Promise.all(
      ports.map((port) =>
        startRedis(
          ...['--cluster-enabled', 'yes', '--cluster-port', `${port}`, '--cluster-config-file', `${folder}/${port}.conf`],
        ),
      ),
    )
    const proxy = await startProxy(node!.port)
    const { log, members } = joinCluster({ url: `redis://127.0.0.1:${proxy.port}${database}` }, 'a')
    await until(() => log.lines.length > 0)
    // All keys are on the other node.
    other!.cli('cluster', 'addslotsrange', '0', '16383')
    other!.cli('cluster', 'meet', '127.0.0.1', `${node!.port}`, `${ports[0]}`)
    await until(() => node!.cli('zcard', keys.members).includes('MOVED'))
    await furtherAttempts(proxy)
    expect(members()).toBe('')
    expect(log.lines).toEqual([
      expect.stringMatching(/it is a Redis Cluster, which is not supported: .* a server with cluster-enabled no\./),
    ])
  })

  it('reports a failover behind a proxy once, and follows it without a change of the members', async () => {
    const old = await startRedis()
    const next = await startRedis('--replicaof', '127.0.0.1', `${old.port}`)
    const proxy = await startProxy(old.port)
    // The failover must end before a member expires, also on a busy machine.
    const members = ['a', 'b'].map((id) => joinCluster({ url: `redis://127.0.0.1:${proxy.port}` }, id, { heartbeatMs: 20_000 }))
    await until(() => members.every((one) => one.members() === 'a,b'))
    await until(() => next.cli('info', 'replication').includes('master_link_status:up'))
    await until(() => next.cli('zcard', keys.members) === '2')
    const before = members.map(({ membership, changes }) => [membership.joinedAt, changes.length])

    next.cli('replicaof', 'no', 'one')
    old.cli('replicaof', '127.0.0.1', `${next.port}`)
    await until(() => members.every(({ log }) => log.lines.length > 0))
    // The proxy, or DNS, follows after several attempts.
    await furtherAttempts(proxy)
    proxy.target = next.port
    await until(() => members.every(({ log, connection }) => log.lines.length > 1 && connection.isUp))
    // The subscriptions follow once the old server is gone.
    await old.kill()
    await until(() => members.every(({ connection }) => connection.isUp))
    expect(members.map(({ membership, changes }) => [membership.joinedAt, changes.length])).toEqual(before)
    for (const { log } of members)
      expect(log.lines).toEqual([
        expect.stringContaining('a read-only replica, perhaps of a failover: STATE_URL must be the address of the primary'),
        expect.stringContaining('is available again'),
      ])
  })
})
