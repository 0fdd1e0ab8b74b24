import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { ServerTime } from '../../src/cluster/server-time.ts'
import { joinCluster, keys } from '../helpers/cluster-member.ts'
import { startRedis } from '../helpers/redis-server.ts'
import { hasTool } from '../helpers/require-tool.ts'
import { separateTestEnds } from '../helpers/test-end.ts'
import { until } from '../helpers/until.ts'

describe('ServerTime', () => {
  it('knows from the fastest reply what time it is, also when another one is read late', () => {
    const time = new ServerTime()
    time.add(50_000, 1_000, 1_300)
    expect(time.toLocal(50_000)).toBe(1_150)
    expect(time.maxErrorMs).toBe(150)
    time.add(50_100, 1_300, 1_302)
    expect(time.toLocal(50_100)).toBe(1_301)
    // Read after 900 ms.
    time.add(51_100, 2_300, 3_202)
    expect(time.toLocal(51_100)).toBe(2_301)
    expect(time.toRemote(2_301)).toBe(51_100)
    expect(time.maxErrorMs).toBe(1)
  })

  it.for([3_600_000, -3_600_000, -1_500, 10])('follows a clock that was set by %i ms', (step) => {
    const time = new ServerTime()
    time.add(50_000, 1_000, 1_001)
    time.add(51_000 + step, 2_000, 2_001)
    expect(time.toLocal(51_000 + step)).toBe(2_000.5)
  })

  it('follows a clock that was set by less than a reply takes, once faster replies no longer count', () => {
    const time = new ServerTime()
    const errors = Array.from({ length: 20 }, (_, second) => {
      const at = 1_000 * (second + 1)
      const remote = 50_000 + at - (second < 5 ? 0 : 400)
      time.add(remote, at - (second < 5 ? 1 : 500), at + (second < 5 ? 1 : 500))
      return at - time.toLocal(remote)
    })
    expect(errors.slice(0, 5)).toEqual([0, 0, 0, 0, 0])
    expect(Math.max(...errors)).toBeLessThanOrEqual(400)
    expect(errors.slice(15).every((error) => error === 0)).toBe(true)
  })

  it('follows a clock that is slower', () => {
    const time = new ServerTime()
    for (let at = 0; at < 3_600_000; at += 1_000) time.add(0.9995 * at, at - 10, at + 10)
    expect(Math.abs(time.toLocal(0.9995 * 3_600_000) - 3_600_000)).toBeLessThan(20)
  })
})

describe.skipIf(!hasTool('redis-server'))('StreamReader', () => {
  separateTestEnds()

  it('knows when an entry was posted, even if its process was busy when it arrived', async () => {
    const redis = await startRedis()
    const { entries, members } = joinCluster(redis, 'a')
    await until(() => members() === 'a')
    await until(() => entries.length > 0)
    const [epoch, position] = [entries[0]!.epoch, entries[0]!.position]
    const post = `local time = redis.call('TIME')
      local last = redis.call('HGET', KEYS[1], 'position')
      local position = string.format('%.0f', last + 1)
      redis.call('HSET', KEYS[1], 'position', position)
      redis.call('XADD', KEYS[2], position .. '-0', 'after', last, 'epoch', ARGV[1], 'at', time[1] * 1000 + math.floor(time[2] / 1000),
        'member', 'other', 'kind', 'test', 'data', '', 'text', '')`
    redis.cli('eval', post, '2', keys.state, keys.stream, String(epoch))
    const postedBefore = performance.now()
    // wait: this process is busy.
    execFileSync('sleep', ['2'])
    await until(() => entries.some(({ kind }) => kind === 'test'))
    const entry = entries.find(({ kind }) => kind === 'test')
    expect(entry?.position).toBeGreaterThan(position)
    expect(entry?.postedAt).toBeLessThan(postedBefore + 1_000)
  })

  // Concurrent, because these tests mostly wait.
  it.concurrent.each(['1e300', '-5', '12.5', 'nan', '9007199254740993'])(
    'continues after another program has written %s',
    async (wrong) => {
      const redis = await startRedis()
      const { entries, log, membership, reader } = joinCluster(redis, 'a')
      await until(() => membership.epoch !== undefined && entries.length > 0)
      // An entry that follows the last one, then one that seems to follow others: the position is read again.
      const script = `local last = redis.call('HGET', KEYS[1], 'position')
      redis.call('HSET', KEYS[1], 'position', ARGV[1], 'epoch', ARGV[1], 'watched', ARGV[1])
      local function add(id, after, number)
        redis.call('XADD', KEYS[2], string.format('%.0f-0', id), 'after', after, 'epoch', number, 'at', number, 'member', 'other',
          'kind', 'foreign', 'data', '', 'text', '')
      end
      add(last + 1, last, ARGV[1])
      add(last + 2, '7', '7')
      return 'done'`
      expect(redis.cli('eval', script, '2', keys.state, keys.stream, wrong)).toBe('done')
      const before = entries.length
      await until(() => entries.length > before + 2)
      expect(entries.filter(({ kind }) => kind === 'foreign')).toEqual([])
      expect(Number(redis.cli('hget', keys.state, 'epoch'))).toBe(membership.epoch)
      expect(Number.isSafeInteger(reader.position)).toBe(true)
      expect(log.lines).toEqual([])
    },
  )
})
