import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { IconStore } from '../../src/cluster/icon-store.ts'
import { SnapshotExchange, type SnapshotOrigin } from '../../src/cluster/snapshot-exchange.ts'
import type { ServerSnapshot } from '../../src/game/snapshot.ts'
import { systemClock } from '../../src/util/clock.ts'
import { joinCluster, keys } from '../helpers/cluster-member.ts'
import { startRedis } from '../helpers/redis-server.ts'
import { hasTool } from '../helpers/require-tool.ts'
import { until } from '../helpers/until.ts'

type Received = readonly [key: string, snapshot: ServerSnapshot, origin: SnapshotOrigin]
const keyOf = (server: string) => `12345678${server}`

/** A member, its exchange, and what it has applied. */
function startMember(
  redis: Parameters<typeof joinCluster>[0],
  id: string,
  {
    expiryMs = 60_000,
    lateMs = 60_000,
    ...more
  }: { expiryMs?: number; lateMs?: number; heartbeatMs?: number; timeoutMs?: number } = {},
) {
  const member = joinCluster(redis, id, more)
  const received: Received[] = []
  const exchange: SnapshotExchange = new SnapshotExchange({
    ...{ connection: member.connection, log: member.log, icons: new IconStore(), clock: systemClock },
    ...{ expiryMs, lateMs },
    membership: member.membership,
    position: () => member.reader.position,
    onRejected: (key) => void exchange.publish(key, snapshotOf(key.slice(8))),
    nameOf: (key) => key.slice(8),
    onSnapshot: (...given) => void received.push(given),
  })
  return { ...member, exchange, received }
}
type Member = ReturnType<typeof startMember>
const snapshotOf = (server: string, fields: ServerSnapshot['fields'] = {}): ServerSnapshot => ({
  ...{ server, fields, at: systemClock.now(), sources: [], polls: {} },
})

describe.skipIf(!hasTool('redis-server'))('SnapshotExchange', () => {
  it('applies snapshots here if they cannot be written', async () => {
    const redis = await startRedis()
    const { exchange, membership, received, log } = startMember(redis, 'a')
    await until(() => membership.epoch !== undefined)
    redis.cli('config', 'set', 'maxmemory', '1')
    exchange.publish(keyOf('s'), snapshotOf('s'))
    await until(() => received.length > 0)
    expect(received[0]).toMatchObject([keyOf('s'), { server: 's' }, { from: 'here' }])
    await until(() => log.lines.some((line) => line.includes('it is full')))
  })

  it('writes nothing of a member that another one has replaced, and writes it again after it has rejoined', async () => {
    const redis = await startRedis()
    const [a, b] = [startMember(redis, 'a'), startMember(redis, 'b')]
    await until(() => a.members() === 'a,b' && b.members() === 'a,b')
    const before = a.membership.epoch
    redis.cli('zrem', keys.members, 'a')
    a.exchange.publish(keyOf('s'), snapshotOf('s'))
    const key = keys.snapshot(keyOf('s'))
    await until(() => redis.cli('exists', key) === '1')
    expect(Number(redis.cli('get', key).split(' ')[0])).toBeGreaterThan(before ?? 0)
  })

  it('sends what was polled before it has joined again, but does not store it: another member may have stored newer values', async () => {
    const redis = await startRedis()
    // A long interval, so that `a` does not expire again: what is rejected is published again.
    const [a, b] = ['a', 'b'].map((id) => startMember(redis, id, { heartbeatMs: 4_000 })) as [Member, Member]
    await until(() => a.members() === 'a,b' && b.members() === 'a,b')
    const old = snapshotOf('old')
    redis.cli('zrem', keys.members, 'a')
    await until(() => a.membership.joinedAt > old.at)
    a.exchange.publish(keyOf('old'), old)
    await until(() => b.entries.some(({ text }) => text.includes('"old"')))
    const stored = (server: string) => redis.cli('exists', keys.snapshot(keyOf(server))) === '1'
    await until(() => {
      a.exchange.publish(keyOf('new'), snapshotOf('new'))
      return stored('new')
    })
    expect(stored('old')).toBe(false)
  })

  it('writes nothing that Redis executes after this replica has applied it itself', async () => {
    const redis = await startRedis()
    // Without heartbeats: after one, what was sent before is rejected because the members have changed.
    const start = (id: string) => startMember(redis, id, { lateMs: 500, heartbeatMs: 30_000 })
    const a = start('a')
    // Until it reads the stream, which tells it that the other one has joined.
    await until(() => a.members() === 'a' && a.reader.position > 0)
    const b = start('b')
    await until(() => a.members() === 'a,b' && b.members() === 'a,b' && b.reader.position > 0)
    const publish = (online: number) =>
      a.exchange.publish(keyOf('s'), snapshotOf('s', { playersOnline: { value: online, source: 'status' } }))
    const isApplied = (online: number) => a.received.some(([, { fields }]) => fields.playersOnline?.value === online)
    /** What other members receive; the rejected ones are published again without a number of players. */
    const sent = () => b.entries.flatMap(({ text }) => /"playersOnline":\[(\d)/.exec(text)?.[1] ?? [])
    await until(() => {
      // Again if this process was stopped before Redis had it.
      publish(1)
      return sent().includes('1')
    })
    redis.process.kill('SIGSTOP')
    for (const online of [2, 3]) {
      publish(online)
      await until(() => isApplied(online))
    }
    const lateAt = performance.now() + 500
    // wait: the time of Redis is known with the error of a round trip.
    await until(() => performance.now() > lateAt)
    redis.process.kill('SIGCONT')
    await until(() => b.entries.filter(({ kind }) => kind === 'snapshots').length > 1)
    await until(() => {
      publish(4)
      return sent().includes('4')
    })
    expect([...new Set(sent())]).toEqual(['1', '4'])
  })

  it('loads each stored snapshot once, with its icon and its age', async () => {
    const redis = await startRedis()
    const a = startMember(redis, 'a')
    await until(() => a.membership.epoch !== undefined)
    const icon = Buffer.from('icon')
    const servers = Array.from({ length: 100 }, (_, index) => `s${index}`)
    for (const server of servers)
      a.exchange.publish(keyOf(server), snapshotOf(server, { favicon: { value: icon, source: 'status' } }))
    await until(() => redis.cli('exists', ...servers.map((server) => keys.snapshot(keyOf(server)))) === '100')
    // As if it had been stored half a minute ago.
    const old = keys.snapshot(keyOf('s99'))
    const [epoch, at, ...rest] = redis.cli('get', old).split(' ')
    redis.cli('set', old, [epoch, Number(at) - 30_000, ...rest].join(' '))
    const b = startMember(redis, 'b')
    await until(() => b.membership.epoch !== undefined)
    await until(() => b.entries.length > 0)
    const loading = b.exchange.load(servers.map(keyOf))
    // The reply is read late, which does not make the snapshots younger.
    const requestedAt = systemClock.now()
    // wait: this process is busy.
    execFileSync('sleep', ['2'])
    await loading
    const stored = b.received.filter(([, , { from }]) => from === 'stored')
    expect(stored.map(([, { server }]) => server)).toEqual(servers)
    for (const [, { fields }] of stored) expect(fields.favicon).toEqual({ value: icon, source: 'status' })
    expect(systemClock.now() - (stored.at(-1)?.[1].at ?? 0)).toBeGreaterThan(30_000)
    expect(stored[0]?.[1].at).toBeLessThan(requestedAt + 1_000)
  })

  it('applies snapshots at once while Redis does not reply', async () => {
    const redis = await startRedis()
    const { exchange, membership, received, log } = startMember(redis, 'a', { timeoutMs: 1_000 })
    await until(() => membership.epoch !== undefined)
    redis.process.kill('SIGSTOP')
    // Not an earlier one, from which it has recovered.
    await until(() => log.lines.at(-1)?.includes('does not reply in time') === true)
    exchange.publish(keyOf('s'), snapshotOf('s'))
    expect(received).toMatchObject([[keyOf('s'), { server: 's' }, { from: 'here' }]])
    redis.process.kill('SIGCONT')
  })

  it.each(['1e300', '-5', '12.5', 'nan'])('takes no position from a text like %s', async (wrong) => {
    const redis = await startRedis()
    const { exchange, membership } = startMember(redis, 'a', { heartbeatMs: 30_000 })
    await until(() => membership.epoch !== undefined)
    expect(await exchange.load([keyOf('s')])).toBeGreaterThan(0)
    redis.cli('hset', keys.state, 'position', wrong)
    expect(await exchange.load([keyOf('s')])).toBe(0)
  })

  it('leaves nothing of a server that no replica lists any more', async () => {
    const redis = await startRedis()
    const member = startMember(redis, 'a', { expiryMs: 60_000 })
    await until(() => member.membership.epoch !== undefined)
    member.exchange.publish(keyOf('removed'), snapshotOf('removed'))
    await until(() => redis.cli('exists', keys.snapshot(keyOf('removed'))) === '1')
    for (const key of redis.cli('keys', '*removed*').split('\n')) {
      // Nobody removes it, so that it expires.
      const expiresMs = Number(redis.cli('pttl', key))
      expect(expiresMs, key).toBeGreaterThan(0)
      expect(expiresMs, key).toBeLessThanOrEqual(60_000)
    }
    expect(redis.cli('exists', keys.state)).toBe('1')
  })
})
