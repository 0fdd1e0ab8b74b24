import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parseStateAddress } from '../../src/cluster/address.ts'
import { StateConnection } from '../../src/cluster/connection.ts'
import { createStateKeys } from '../../src/cluster/keys.ts'
import { type FencedLock, Locks } from '../../src/cluster/locks.ts'
import { loadConfig } from '../../src/config/config.ts'
import { createDataService } from '../../src/data/index.ts'
import { kcomebacks } from '../../src/data/scripts/kcomebacks/index.ts'
import type { RunContext } from '../../src/data/scripts/script.ts'
import { type Clock, systemClock } from '../../src/util/clock.ts'
import { silentLog } from '../../src/util/log.ts'
import { manualClock } from '../helpers/manual-clock.ts'
import { type RedisServer, startRedis } from '../helpers/redis-server.ts'
import { hasTool } from '../helpers/require-tool.ts'
import { until } from '../helpers/until.ts'

/** Longer than this process may pause on a busy machine, so that no lock expires by itself. */
const expiryMs = 60_000
const keys = createStateKeys('test')

async function openLocks(redis: RedisServer, clock: Clock = systemClock) {
  const address = parseStateAddress(redis.url)!
  const connection = new StateConnection({
    address,
    prefix: 'test',
    clock: systemClock,
    log: silentLog,
    timeoutMs: 10_000,
    maxBlockMs: 1_000,
    maxRetryMs: 200,
  })
  onTestFinished(() => connection.close())
  await new Promise<void>((resolve) => connection.onReady(resolve))
  return new Locks({ connection, clock, expiryMs })
}

/** Takes a lock as if it had expired while the process of its holder was suspended. The holder may renew it in between. */
async function takeExpired(locks: Locks, redis: RedisServer, name: string): Promise<FencedLock> {
  for (;;) {
    redis.cli('del', keys.lock(name))
    const taken = await locks.take(name)
    if (taken !== undefined) return taken
  }
}

describe.skipIf(!hasTool('redis-server'))('Locks', () => {
  it('grants a lock to one holder at a time, each with a higher token', async () => {
    const redis = await startRedis()
    const [a, b] = [await openLocks(redis), await openLocks(redis)]
    const first = await a.take('x')
    expect(await b.take('x')).toBeUndefined()
    expect(await b.take('y')).toBeDefined()
    await first?.release()
    const second = await b.take('x')
    expect(second?.token).toBeGreaterThan(first?.token ?? Number.POSITIVE_INFINITY)
  })

  it('renews a lock while it is held', async () => {
    const redis = await startRedis()
    const clock = manualClock()
    const [a, b] = [await openLocks(redis, clock), await openLocks(redis)]
    const lock = await a.take('x')
    for (let renewal = 0; renewal < 3; renewal++) {
      await until(() => clock.pending === 1)
      // As if a part of the time had passed for Redis too.
      redis.cli('pexpire', keys.lock('x'), String((2 / 3) * expiryMs))
      await clock.advance(expiryMs / 3)
      await until(() => Number(redis.cli('pttl', keys.lock('x'))) > (2 / 3) * expiryMs)
    }
    expect(await b.take('x')).toBeUndefined()
    expect(await lock?.isHeld()).toBe(true)
    expect(lock?.lost.aborted).toBe(false)
  })

  it('rejects writes of a previous holder', async () => {
    const redis = await startRedis()
    const [a, b] = [await openLocks(redis), await openLocks(redis)]
    const stale = await a.take('x')
    expect(await stale?.set('first')).toBe(true)
    const current = await takeExpired(b, redis, 'x')
    expect(await stale?.set('stale')).toBe(false)
    expect(await stale?.isHeld()).toBe(false)
    await until(() => stale?.lost.aborted === true)
    await stale?.release()
    expect(await current.isHeld()).toBe(true)
    expect(await current.set('second')).toBe(true)
    expect(await b.value('x')).toBe('second')
  })

  it('issues higher tokens even after the server has lost its data', async () => {
    const redis = await startRedis()
    const locks = await openLocks(redis)
    const before = await locks.take('x')
    redis.cli('flushall')
    const after = await locks.take('x')
    expect(after?.token).toBeGreaterThan(before?.token ?? Number.POSITIVE_INFINITY)
    expect(await before?.set('stale')).toBe(false)
  })
})

describe.skipIf(!hasTool('redis-server'))('script runs of replicas', () => {
  const folder = () => {
    const path = mkdtempSync(join(tmpdir(), 'tickwarden-'))
    onTestFinished(() => rmSync(path, { recursive: true }))
    return path
  }
  /** One replica with a separate folder, whose script only reports that it runs. */
  async function startReplica(redis: RedisServer, run: (context: RunContext) => Promise<void>, clock: Clock = systemClock) {
    const script = {
      ...kcomebacks,
      missingSettings: () => [],
      async run(context: RunContext) {
        await run(context)
        return { outcome: 'done' as const, errors: [] }
      },
    }
    const service = await createDataService({
      config: loadConfig({ env: { DATA_DIR: folder(), UPDATE_SCHEDULE: 'off', RUN_PAUSE: '0s' } }),
      ...{ clock, log: silentLog, scripts: [script], sharedLocks: await openLocks(redis) },
    })
    onTestFinished(() => service.close())
    return service.runs
  }

  it('run once when scheduled, and one at a time when requested', async () => {
    const redis = await startRedis()
    let runs = 0
    let end = () => {}
    const run = () =>
      new Promise<void>((resolve) => {
        runs++
        end = resolve
      })
    const [a, b] = [await startReplica(redis, run), await startReplica(redis, run)]
    const due = Date.now() - 1_000
    const states = await Promise.all([a, b].map((replica) => replica.start('kcomebacks', 'schedule', due)))
    expect(states.map(({ state }) => state).sort()).toEqual(['already running', 'started'])
    await until(() => runs === 1)
    end()
    await until(async () =>
      (await Promise.all([a, b].map((one) => one.status()))).flat().every(({ state }) => state !== 'running'),
    )
    // The other one's random delay is longer.
    await until(async () => (await b.start('kcomebacks', 'schedule', due)).state === 'already done')
    expect((await a.start('kcomebacks', 'schedule', due)).state).toBe('already done')
    expect((await b.start('kcomebacks', 'request')).state).toBe('started')
    await until(() => runs === 2)
    end()
  })

  it.each([
    ['are not prevented by one of a replica whose clock was far ahead', 365 * 86_400_000, 'started'],
    ['are not repeated because the clock of a replica is a minute ahead', 60_000, 'already done'],
  ])('%s', async (_name, leadMs, expected) => {
    const redis = await startRedis()
    let runs = 0
    const run = async () => void runs++
    const ahead = { ...systemClock, wall: () => systemClock.wall() + leadMs }
    const [a, b] = [await startReplica(redis, run, ahead), await startReplica(redis, run)]
    expect((await a.start('kcomebacks', 'request')).state).toBe('started')
    await until(async () => runs === 1 && (await a.status()).every(({ state }) => state !== 'running'))
    const due = Date.now() - 1_000
    expect((await b.start('kcomebacks', 'schedule', due)).state).toBe(expected)
    await until(async () => (await b.start('kcomebacks', 'schedule', due)).state === 'already done')
    expect(runs).toBe(expected === 'started' ? 2 : 1)
  })

  it('have no effect once another replica has taken the lock', async () => {
    const redis = await startRedis()
    let confirm: RunContext['confirm']
    let isStopped = false
    const replica = await startReplica(
      redis,
      (context) =>
        new Promise((resolve) => {
          confirm = context.confirm
          context.signal.addEventListener('abort', () => {
            isStopped = true
            resolve()
          })
        }),
    )
    await replica.start('kcomebacks', 'request')
    await until(() => confirm !== undefined)
    await confirm?.()
    await takeExpired(await openLocks(redis), redis, 'run:kcomebacks')
    await expect(confirm?.()).rejects.toThrow('another replica has taken over the run')
    await until(() => isStopped)
  })

  it('do not start while the shared state is unavailable', async () => {
    const redis = await startRedis()
    const replica = await startReplica(redis, async () => {})
    await redis.kill()
    expect(await replica.start('kcomebacks', 'request')).toMatchObject({ state: 'no shared state' })
  })
})
