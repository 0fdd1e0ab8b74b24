import { describe, expect, it } from 'vitest'
import { createIconStore } from '../../src/cluster/icon-store.ts'
import { createSnapshotCodec } from '../../src/cluster/snapshot-codec.ts'
import { createSnapshotExchange } from '../../src/cluster/snapshot-exchange.ts'
import type { ServerSnapshot } from '../../src/game/snapshot.ts'
import { systemClock } from '../../src/util/clock.ts'
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

  it('uses snapshots without their icons if those cannot be read, and not once more later', async () => {
    const redis = await startRedis()
    const { connection, membership, log } = joinCluster(redis, 'a')
    await until(() => membership.token !== undefined)
    let reads = 0
    let maxReads = Number.POSITIVE_INFINITY
    const limited: typeof connection = Object.assign(Object.create(connection), {
      run: ((kind, command) =>
        kind === 'reads' && ++reads > maxReads
          ? Promise.reject(new Error('no reply'))
          : connection.run(kind, command)) as typeof connection.run,
    })
    const received: ServerSnapshot[] = []
    const createExchange = (id: string) =>
      createSnapshotExchange({
        ...{ connection: limited, keys, log, id, icons: createIconStore(), clock: systemClock, expiryMs: 60_000 },
        token: () => membership.token,
        find: (server) => ({ server, at: 0, fields: {}, sources: [], polls: {} }),
        onSnapshot: (snapshot) => void received.push(snapshot),
        onRefused() {},
      })
    const snapshotOf = (server: string): ServerSnapshot => ({
      ...{ server, at: systemClock.now(), sources: [], polls: {} },
      fields: { favicon: { value: Buffer.from(`icon of ${server}`), source: 'status' } },
    })
    const publisher = createExchange('a')
    for (const server of ['s', 't']) publisher.publish(snapshotOf(server))
    await until(() => ['s', 't'].every((server) => publisher.publishedAt(server) > 0))

    const exchange = createExchange('b')
    // The stored snapshot, but not its icon.
    maxReads = reads + 1
    await exchange.load(['s'])
    expect(received).toMatchObject([{ server: 's', fields: {} }])

    const codec = createSnapshotCodec(createIconStore())
    const receive = (server: string) => exchange.receive(`a 60000\n${codec.encode(snapshotOf(server), systemClock.now())}`)
    const before = reads
    receive('s')
    await until(() => reads > before)
    // Lets the failed read end.
    await new Promise(setImmediate)
    maxReads = Number.POSITIVE_INFINITY
    receive('t')
    await until(() => received.some(({ fields }) => fields.favicon !== undefined))
    expect(received.map(({ server, fields }) => [server, fields.favicon !== undefined])).toEqual([
      ['s', false],
      ['s', false],
      ['t', false],
      ['t', true],
    ])
  })
})
