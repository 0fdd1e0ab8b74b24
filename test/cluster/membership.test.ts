import { describe, expect, it } from 'vitest'
import { systemClock } from '../../src/util/clock.ts'
import { joinCluster, keys, longMs, meet, shortMs } from '../helpers/cluster-member.ts'
import { startRedis } from '../helpers/redis-server.ts'
import { hasTool } from '../helpers/require-tool.ts'
import { until } from '../helpers/until.ts'

const long = { heartbeatMs: longMs }

/** Three heartbeats of each member, or attempts. */
async function beat(members: readonly ReturnType<typeof joinCluster>[]): Promise<void> {
  for (let round = 0; round < 3; round++) await Promise.all(members.map(({ membership }) => membership.check()))
}

describe.skipIf(!hasTool('redis-server'))('Membership', () => {
  it('lists members when they join, and removes them when they leave', async () => {
    const redis = await startRedis()
    const [a, b] = [joinCluster(redis, 'a', long), joinCluster(redis, 'b', long)]
    await meet([a, b])
    await b.membership.close()
    await meet([a])
    expect(b.membership.epoch).toBeUndefined()
    expect(a.log.lines).toEqual([])
  })

  it('removes a dead member, whose key expires two heartbeats after its last one', async () => {
    const redis = await startRedis()
    const [a, b] = [joinCluster(redis, 'a'), joinCluster(redis, 'b')]
    await until(() => a.members() === 'a,b' && b.members() === 'a,b')
    b.end()
    const [seconds = '', micros = ''] = redis.cli('time').split('\n')
    const expiresAt = Number(redis.cli('zscore', keys.members, 'b'))
    expect(expiresAt).toBeLessThan(Number(seconds) * 1_000 + Number(micros) / 1_000 + 2 * shortMs)
    await until(() => a.members() === 'a')
  })

  it('keeps the members while the server is unavailable, and until all have reconnected', async () => {
    const redis = await startRedis()
    const members = ['a', 'b', 'c'].map((id) => joinCluster(redis, id, long))
    await meet(members)
    const changes = members.map((one) => one.changes.length)
    await redis.kill()
    const [first] = members
    await until(() => (first?.log.lines.length ?? 0) > 0)
    await beat(members)
    await redis.restart()
    await until(() => members.every((one) => one.log.lines.at(-1)?.includes('is available again')))
    await beat(members)
    for (const [index, { log, changes: after, members: now }] of members.entries()) {
      expect(now()).toBe('a,b,c')
      expect(after.length).toBe(changes[index])
      const refused = log.lines.filter((line) =>
        /^warn: .* at redis:\/\/127.0.0.1:\d+ is unavailable: connection refused/.test(line),
      )
      expect(refused).toHaveLength(1)
      expect(log.lines.at(-1)).toMatch(/^info: .* is available again/)
    }
  })

  it('joins again, with the same members, if it has expired while it was suspended', async () => {
    const redis = await startRedis()
    let suspendedMs = 0
    const clock = { ...systemClock, now: () => systemClock.now() + suspendedMs }
    const [a, b] = [joinCluster(redis, 'a', { ...long, clock }), joinCluster(redis, 'b', long)]
    await meet([a, b])
    const { epoch: before, joinedAt } = a.membership
    const changes = [...a.changes]
    suspendedMs = 10_000
    await until(async () => {
      redis.cli('zrem', keys.members, 'a')
      await a.membership.check()
      // Not yet if a heartbeat that had been sent arrived in between.
      return a.log.lines.length > 0
    })
    await meet([a, b])
    expect(a.changes).toEqual(changes)
    expect(a.membership.epoch).toBeGreaterThan(before ?? 0)
    expect(a.membership.joinedAt).toBeGreaterThan(joinedAt)
    // There are further lines if it was removed again after it had joined.
    expect(a.log.lines.join('\n')).toMatch(/^warn: This replica sent no heartbeat for 1\d s .* rejoins now/m)
  })

  it('removes a dead member, and continues, if the clock of the server is set back by an hour', async () => {
    const redis = await startRedis()
    // Longer than a busy machine may stop this process.
    const a = joinCluster(redis, 'a', { heartbeatMs: 4_000 })
    await until(() => a.members() === 'a')
    // What members wrote before the clock was set back.
    const later = Number(redis.cli('time').split('\n')[0]) * 1_000 + 3_600_000
    redis.cli('hset', keys.state, 'position', String(later), 'epoch', String(later))
    redis.cli('zadd', keys.members, String(later), 'dead')
    await until(() => a.members() === 'a,dead')
    await until(() => a.members() === 'a')
    expect(a.membership.epoch).toBeGreaterThan(later)
    await until(() => a.reader.position > later)
    expect(a.log.lines).toEqual([])
  })

  it.each([
    ['a foreign entry', ['xadd', keys.stream, '*', 'x', 'y']],
    ['a foreign entry with an id in the future', ['xadd', keys.stream, '8000000000000000-0', 'x', 'y']],
    ['a position that is not a number', ['hset', keys.state, 'position', 'x', 'epoch', 'x', 'watched', 'x']],
    ['a position that is too large', ['hset', keys.state, 'position', '1e300', 'epoch', '1e300']],
  ])('continues after %s', async (_, command) => {
    const redis = await startRedis()
    const [a, b] = [joinCluster(redis, 'a'), joinCluster(redis, 'b')]
    await until(() => a.members() === 'a,b' && b.members() === 'a,b')
    redis.cli(...command)
    const before = [a, b].map(({ entries }) => entries.length)
    await until(() => [a, b].every(({ entries }, index) => entries.length > (before[index] ?? 0) + 4))
    expect(a.entries.every(({ position }) => Number.isSafeInteger(position))).toBe(true)
    await until(() => a.members() === 'a,b' && b.members() === 'a,b')
    // A server that cannot run the script would be reported.
    expect(a.log.lines.filter((line) => line.startsWith('warn') && !line.includes('rejoins'))).toEqual([])
  })

  it('keeps the members if the server is flushed', async () => {
    const redis = await startRedis()
    const members = ['a', 'b', 'c'].map((id) => joinCluster(redis, id, long))
    await meet(members)
    const changes = members.map((one) => one.changes.length)
    redis.cli('flushall')
    await beat(members)
    for (const [index, { log, changes: after, members: now }] of members.entries()) {
      expect(now()).toBe('a,b,c')
      expect(after.length).toBe(changes[index])
      expect(log.lines).toEqual([])
    }
    expect(redis.cli('zcard', keys.members)).toBe('3')
  })
})
