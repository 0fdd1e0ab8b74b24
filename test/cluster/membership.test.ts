import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { parseStateAddress } from '../../src/cluster/address.ts'
import { createStateConnection } from '../../src/cluster/connection.ts'
import { createStateKeys } from '../../src/cluster/keys.ts'
import { startMembership } from '../../src/cluster/membership.ts'
import { collectLog } from '../helpers/log-lines.ts'
import { type RedisServer, startRedis } from '../helpers/redis-server.ts'
import { hasTool } from '../helpers/require-tool.ts'
import { until } from '../helpers/until.ts'

/** No servers are taken over from a process that is late by less than half of it. */
const shortMs = 400
const keys = createStateKeys('test', 0)

function join(redis: RedisServer, id: string, { url = redis.url, heartbeatMs = shortMs, clock = systemClock } = {}) {
  const log = collectLog()
  const address = parseStateAddress(url)
  if (address === undefined) throw new Error(url)
  const connection = createStateConnection({ address, clock, log, timeoutMs: 1_000, maxRetryMs: heartbeatMs })
  const changes: string[] = []
  const membership = startMembership({
    ...{ connection, keys, id, heartbeatMs, clock, log },
    onChange: (members) => changes.push(members.join()),
  })
  connection.subscribe(
    keys.channel,
    (message) => {
      if (message === keys.membersMessage) membership.check()
    },
    () => {},
  )
  const end = () => connection.close()
  onTestFinished(async () => {
    await membership.close()
    end()
  })
  return { id, log, connection, membership, changes, end, members: () => membership.members.join() }
}

describe.skipIf(!hasTool('redis-server'))('startMembership', () => {
  it('lists members when they join, and removes them when they leave', async () => {
    const redis = await startRedis()
    const [a, b] = [join(redis, 'a'), join(redis, 'b')]
    await until(() => a.members() === 'a,b' && b.members() === 'a,b')
    await b.membership.close()
    await until(() => a.members() === 'a')
    expect(b.membership.token).toBeUndefined()
    expect(a.log.lines).toEqual([])
  })

  it('removes a dead member within two heartbeats', async () => {
    const redis = await startRedis()
    const [a, b] = [join(redis, 'a'), join(redis, 'b')]
    await until(() => a.members() === 'a,b' && b.members() === 'a,b')
    const died = performance.now()
    b.end()
    await until(() => a.members() === 'a')
    expect(performance.now() - died).toBeLessThan(2 * shortMs)
  })

  it('keeps the members while the server is unavailable, and until all have reconnected', async () => {
    const redis = await startRedis()
    const heartbeatMs = 1_500
    const members = ['a', 'b', 'c'].map((id) => join(redis, id, { heartbeatMs }))
    await until(() => members.every((one) => one.members() === 'a,b,c'))
    const changes = members.map((one) => one.changes.length)
    await redis.kill()
    const [first] = members
    await until(() => (first?.log.lines.length ?? 0) > 0)
    await new Promise((resolve) => setTimeout(resolve, 1.6 * heartbeatMs))
    await redis.restart()
    await until(() => members.every((one) => one.log.lines.at(-1)?.includes('is available again')))
    await new Promise((resolve) => setTimeout(resolve, 1.6 * heartbeatMs))
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

  it('notices that its key has expired while it was suspended and others have taken over', async () => {
    const redis = await startRedis()
    let suspendedMs = 0
    const clock = { ...systemClock, now: () => systemClock.now() + suspendedMs }
    const [a, b] = [join(redis, 'a', { clock }), join(redis, 'b')]
    await until(() => a.members() === 'a,b' && b.members() === 'a,b')
    const before = a.membership.token
    suspendedMs = 10_000
    redis.cli('del', keys.member('a'))
    await until(() => a.changes.includes(''))
    await until(() => a.members() === 'a,b' && b.members() === 'a,b')
    expect(a.membership.token).not.toBe(before)
    expect(a.log.lines).toEqual([expect.stringMatching(/^warn: This replica sent no heartbeat for 10 s .* rejoins now/)])
  })

  it('keeps the members if the server is flushed', async () => {
    const redis = await startRedis()
    const members = ['a', 'b', 'c'].map((id) => join(redis, id, { heartbeatMs: 1_000 }))
    await until(() => members.every((one) => one.members() === 'a,b,c'))
    const changes = members.map((one) => one.changes.length)
    redis.cli('flushall')
    await until(() => members.every(({ log }) => log.lines.length > 0))
    await new Promise((resolve) => setTimeout(resolve, 1_600))
    for (const [index, { log, changes: after, members: now }] of members.entries()) {
      expect(now()).toBe('a,b,c')
      expect(after.length).toBe(changes[index])
      expect(log.lines).toEqual([expect.stringMatching(/^warn: The shared state has lost the key of this replica/)])
    }
    expect(redis.cli('scard', keys.members)).toBe('3')
  })
})

describe.skipIf(!hasTool('redis-server'))('createStateConnection', () => {
  it.for([
    ['a wrong password', ['--requirepass', 'right'], 'redis://:wrong-secret@', /the password is wrong: set STATE_PASSWORD/],
    ['no password', ['--requirepass', 'right'], 'redis://', /requires a password: set STATE_PASSWORD/],
  ] as const)('reports once what to do about %s', async ([, options, start, expected]) => {
    const redis = await startRedis(...options)
    const { log } = join(redis, 'a', { url: `${start}127.0.0.1:${redis.port}` })
    await until(() => log.lines.length > 0)
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    expect(log.lines).toEqual([expect.stringMatching(expected)])
    expect(log.lines.join()).not.toContain('wrong-secret')
  })

  it('reports once that the server is slow, and once that it has recovered', async () => {
    const redis = await startRedis()
    const { log, members } = join(redis, 'a')
    await until(() => members() === 'a')
    redis.process.kill('SIGSTOP')
    await until(() => log.lines.length > 0)
    redis.process.kill('SIGCONT')
    await until(() => log.lines.length > 1)
    expect(log.lines).toEqual([expect.stringContaining('does not reply in time'), expect.stringContaining('is available again')])
  })

  it('reports once that the server is a replica, and keeps the members', async () => {
    const redis = await startRedis()
    const { log, members } = join(redis, 'a')
    await until(() => members() === 'a')
    redis.cli('replicaof', '127.0.0.1', '1')
    await until(() => log.lines.length > 0)
    // Several heartbeats, and reads that succeed.
    await new Promise((resolve) => setTimeout(resolve, 4 * shortMs))
    expect(members()).toBe('a')
    redis.cli('replicaof', 'no', 'one')
    await until(() => log.lines.length > 1)
    expect(log.lines).toEqual([expect.stringContaining('read-only replica'), expect.stringContaining('is available again')])
  })

  it('subscribes again if the first attempt timed out', async () => {
    const redis = await startRedis()
    const address = parseStateAddress(redis.url)!
    const log = collectLog()
    const connection = createStateConnection({ address, clock: systemClock, log, timeoutMs: 300, maxRetryMs: 200 })
    onTestFinished(() => connection.close())
    await until(() => redis.cli('client', 'list').match(/name=tickwarden/g)?.length === 2)
    await new Promise<void>((resolve) => connection.onReady(resolve))
    // The reply to SUBSCRIBE is late.
    redis.process.kill('SIGSTOP')
    let isSubscribed = false
    connection.subscribe(
      'x',
      () => {},
      () => {
        isSubscribed = true
      },
    )
    await until(() => log.lines.length > 0)
    expect(isSubscribed).toBe(false)
    redis.process.kill('SIGCONT')
    await until(() => isSubscribed && connection.isSubscribed)
  })
})
