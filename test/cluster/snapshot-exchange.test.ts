import { describe, expect, it } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { createIconStore } from '../../src/cluster/icon-store.ts'
import { createSnapshotExchange } from '../../src/cluster/snapshot-exchange.ts'
import type { ServerSnapshot } from '../../src/game/snapshot.ts'
import { joinCluster, keys } from '../helpers/cluster-member.ts'
import { startRedis } from '../helpers/redis-server.ts'
import { hasTool } from '../helpers/require-tool.ts'
import { until } from '../helpers/until.ts'

describe.skipIf(!hasTool('redis-server'))('createSnapshotExchange', () => {
  it('counts snapshots as published while Redis is full, so that they are not repeated', async () => {
    const redis = await startRedis()
    const { connection, membership, log } = joinCluster(redis, 'a')
    await until(() => membership.token !== undefined)
    const exchange = createSnapshotExchange({
      ...{ connection, keys, log, id: 'a', icons: createIconStore(), clock: systemClock, expiryMs: 60_000 },
      token: () => membership.token,
      isKnown: () => true,
      onSnapshot() {},
      onRefused() {},
    })
    const snapshot: ServerSnapshot = { server: 's', at: systemClock.now(), fields: {}, sources: [], polls: {} }
    redis.cli('config', 'set', 'maxmemory', '1')
    exchange.publish(snapshot)
    await until(() => log.lines.some((line) => line.includes('it is full')))
    await until(() => exchange.publishedAt('s') > 0)
    expect(redis.cli('exists', keys.snapshot('s'))).toBe('0')
  })
})
