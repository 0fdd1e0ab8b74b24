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
      find: () => undefined,
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

  it('loads each stored snapshot once, with its icon and its age', async () => {
    const redis = await startRedis()
    const { connection, membership, log } = joinCluster(redis, 'a')
    await until(() => membership.token !== undefined)
    const received: ServerSnapshot[] = []
    const createExchange = (id: string) =>
      createSnapshotExchange({
        ...{ connection, keys, log, id, icons: createIconStore(), clock: systemClock, expiryMs: 60_000 },
        token: () => membership.token,
        find: (server) => ({ server, at: 0, fields: {}, sources: [], polls: {} }),
        onSnapshot: (snapshot) => void received.push(snapshot),
        onRefused() {},
      })
    const exchange = createExchange('a')
    const icon = Buffer.from('icon')
    const at = systemClock.now()
    const servers = Array.from({ length: 100 }, (_, index) => `s${index}`)
    for (const server of servers)
      exchange.publish({ server, at, fields: { favicon: { value: icon, source: 'status' } }, sources: [], polls: {} })
    await until(() => servers.every((server) => exchange.publishedAt(server) > 0))
    // As if it had been stored half a minute ago.
    redis.cli('pexpire', keys.snapshot('s99'), '30000')
    await createExchange('b').load(servers)
    expect(received.map(({ server }) => server)).toEqual(servers)
    for (const { fields } of received) expect(fields.favicon).toEqual({ value: icon, source: 'status' })
    expect(at - received.at(-1)!.at).toBeGreaterThan(20_000)
  })
})
