import { expect, onTestFinished, test } from 'vitest'
import { parseStateAddress } from '../../src/cluster/address.ts'
import { StateConnection } from '../../src/cluster/connection.ts'
import { Locks } from '../../src/cluster/locks.ts'
import { createSharedQueue, createSharedValues } from '../../src/cluster/shared-data.ts'
import { SourceError } from '../../src/game/errors.ts'
import { openNotifier } from '../../src/notify/open.ts'
import { maxQueued } from '../../src/notify/outbox.ts'
import { readNotify } from '../../src/notify/settings.ts'
import { SharedOutbox } from '../../src/notify/shared-outbox.ts'
import { systemClock } from '../../src/util/clock.ts'
import { silentLog } from '../../src/util/log.ts'
import { parseTree } from '../../src/util/yaml.ts'
import { fakeFleet } from '../helpers/fake-fleet.ts'
import { impatientClock } from '../helpers/impatient-clock.ts'
import { collectLog } from '../helpers/log-lines.ts'
import { testNotification } from '../helpers/notifications.ts'
import { startReceiver } from '../helpers/notify-receiver.ts'
import { startRedis } from '../helpers/redis-server.ts'
import { hasTool } from '../helpers/require-tool.ts'
import { until } from '../helpers/until.ts'

const hasRedis = hasTool('redis-server')
const up = { status: { playersOnline: 3, playersMax: 20 } }

/**
 * One of several replicas that all poll the server, as they do for a moment when it moves.
 * @param lockMs after which another one sends if this one does not renew its lock: on a busy machine it may be late
 */
async function startReplica(redis: { readonly url: string }, lockMs: number, ...receivers: readonly { readonly url: string }[]) {
  const address = parseStateAddress(redis.url)
  const channels = receivers.map(
    ({ url }, index) => `{ type: webhook, name: ${['ops', 'team'][index]}, url: "${url}", after: 1 }`,
  )
  const text = `{ allowPrivate: true, restartGrace: 0s, channels: [${channels.join()}] }`
  const settings = readNotify(parseTree(text, '', []) ?? null, '', [])
  if (address === undefined || settings === undefined) throw new Error('not valid')
  const connection = new StateConnection({
    address,
    prefix: 'test',
    clock: systemClock,
    log: silentLog,
    timeoutMs: 2_000,
    maxBlockMs: 500,
    maxRetryMs: 100,
  })
  await until(() => connection.isConnected)
  const locks = new Locks({ connection, clock: systemClock, expiryMs: lockMs })
  const fleet = fakeFleet({ survival: { ...up } }, systemClock)
  const log = collectLog()
  const notifier = await openNotifier({
    ...{ settings, fleet, clock: impatientClock(100), log, maintenanceOf: () => null },
    shared: {
      locks,
      values: (part) => createSharedValues(connection, part),
      queue: (name) => createSharedQueue(connection, name),
    },
  })
  onTestFinished(async () => {
    await notifier.close()
    fleet.close()
    connection.close()
  })
  return { fleet, notifier, connection, log }
}

test.skipIf(!hasRedis)('of several replicas one tells each change, and another continues when it dies', async () => {
  const [redis, receiver] = [await startRedis(), await startReceiver()]
  const replicas = await Promise.all([1, 2, 3].map(() => startReplica(redis, 3_000, receiver)))
  const poll = () => Promise.all(replicas.map(({ fleet }) => fleet.pollAll()))
  const set = (isUp: boolean) => {
    for (const { fleet } of replicas)
      fleet.scripts.survival = isUp ? { ...up } : { status: new SourceError('refused', 'connection refused') }
  }
  const pollUntil = (count: number) =>
    until(async () => {
      await poll()
      return new Set(receiver.accepted.map(({ json }) => json.id)).size >= count
    })
  /** What each replica knows is read from the shared state. */
  const isKnown = () => redis.cli('hget', '{test}:queue-values:notify:ops', 'survival') !== ''
  await until(async () => {
    await poll()
    return isKnown()
  })
  for (let change = 0; change < 6; change++) {
    set(change % 2 === 1)
    await pollUntil(change + 1)
  }
  // The replica that sends dies before it can send the next one.
  const sender = replicas.find(({ notifier }) => notifier.metrics()[0]?.sent !== 0)
  sender?.connection.close()
  set(false)
  await pollUntil(7)
  await poll()
  await until(() => redis.cli('llen', '{test}:queue:notify:ops') === '0')
  // On a busy machine the lock of the sender may expire while it sends: the next one repeats the notification under the same id.
  const byId = new Map(receiver.accepted.map(({ json }) => [json.id, json.event]))
  expect([...byId.values()]).toEqual(['down', 'up', 'down', 'up', 'down', 'up', 'down'])
})

test.skipIf(!hasRedis)('a replica whose attempts failed reports that no more once another one sends', async () => {
  let isFailing = true
  const redis = await startRedis()
  const receiver = await startReceiver((response) => response.writeHead(isFailing ? 500 : 204).end())
  const replicas = await Promise.all([1, 2].map(() => startReplica(redis, 60_000, receiver)))
  const metrics = () => replicas.map(({ notifier }) => notifier.metrics()[0])
  const poll = async () => {
    for (const { fleet } of replicas) await fleet.pollAll()
  }
  const isKnown = () => redis.cli('hget', '{test}:queue-values:notify:ops', 'survival') !== ''
  await until(async () => {
    await poll()
    return isKnown()
  })
  for (const { fleet } of replicas) fleet.scripts.survival = { status: new SourceError('refused', 'connection refused') }
  await until(async () => {
    await poll()
    return metrics().some((one) => one?.problem !== undefined)
  })
  // As if the lock had expired while the replica was stopped. It renews the lock, unless the other one is faster.
  await until(() => {
    if (metrics().every((one) => one?.problem !== undefined)) return true
    redis.cli('del', '{test}:lock:notify:ops')
    return false
  })
  isFailing = false
  await until(() => metrics().every((one) => one?.problem === undefined))
  expect(metrics().reduce((sum, one) => sum + (one?.sent ?? 0), 0)).toBe(1)
})

test.skipIf(!hasRedis)('every channel is told, without a data folder', async () => {
  const [redis, ops, team] = [await startRedis(), await startReceiver(), await startReceiver()]
  const { fleet, log } = await startReplica(redis, 60_000, ops, team)
  const isTold = ({ accepted }: typeof ops) => accepted.length > 0
  await fleet.pollAll()
  fleet.scripts.survival = { status: new SourceError('refused', 'connection refused') }
  await until(async () => {
    await fleet.pollAll()
    return isTold(ops) && isTold(team)
  })
  expect(log.lines).toEqual([])
})

/** The outboxes of a channel on two replicas. */
async function openOutboxes() {
  const redis = await startRedis()
  const address = parseStateAddress(redis.url)
  if (address === undefined) throw new Error('not valid')
  const open = async () => {
    const times = { timeoutMs: 10_000, maxBlockMs: 500, maxRetryMs: 100 }
    const connection = new StateConnection({ ...{ address, prefix: 'test', clock: systemClock, log: silentLog }, ...times })
    onTestFinished(() => connection.close())
    await until(() => connection.isConnected)
    const locks = new Locks({ connection, clock: systemClock, expiryMs: 60_000 })
    const outbox = new SharedOutbox({
      channel: 'ops',
      queue: createSharedQueue(connection, 'notify:ops'),
      values: createSharedValues(connection, 'notify'),
      takeLock: () => locks.take('notify:ops'),
      clock: systemClock,
    })
    return outbox
  }
  const [one, two] = [await open(), await open()]
  return { one, two, redis }
}
const [values, queue, told] = ['{test}:queue-values:notify:ops', '{test}:queue:notify:ops', { down: 1 }]

test.skipIf(!hasRedis)('what one replica was first to store is known to the others', async () => {
  const { one, two } = await openOutboxes()
  const [first, second] = [testNotification(), testNotification()]
  expect([await one.told('a'), one.length, await one.value()]).toEqual([undefined, 0, undefined])
  expect(await one.commit('a', undefined, told, [first])).toBe(true)
  expect(await two.commit('a', undefined, { down: 2 }, [second])).toBe(false)
  expect(await two.told('a')).toEqual(told)
  expect(await two.commit('a', told, undefined, [])).toBe(true)
  expect(await one.told('a')).toBeUndefined()
  await one.setValue('message')
  expect([await one.value(), await two.value()]).toEqual(['message', 'message'])
})

test.skipIf(!hasRedis)('one replica sends until it ends, then another one', async () => {
  const { one, two, redis } = await openOutboxes()
  const notifications = [testNotification(), testNotification(), testNotification()]
  await one.commit('a', undefined, told, notifications)
  expect(await two.oldest(2)).toEqual(notifications.slice(0, 2))
  expect([await two.isSender(), await one.isSender()]).toEqual([true, false])
  expect(await one.oldest(2)).toEqual([])
  expect([one.length, two.length]).toEqual([3, 3])
  // It was not among those that were read.
  await two.remove([...notifications.slice(1, 2), testNotification()])
  expect(redis.cli('llen', queue)).toBe('2')
  expect(await two.oldest(9)).toEqual([notifications[0], notifications[2]])
  expect(two.length).toBe(2)
  await two.remove(notifications.slice(0, 1))
  expect(two.length).toBe(1)
  await two.close()
  expect(await one.oldest(9)).toEqual([notifications[2]])
  await one.remove(notifications.slice(2))
  expect([one.length, await one.oldest(9)]).toEqual([0, []])
  await one.close()
})

test.skipIf(!hasRedis)('a replica with nothing to send leaves the lock to the others', async () => {
  const { one, two } = await openOutboxes()
  expect(await one.oldest(1)).toEqual([])
  expect([await two.isSender(), await one.isSender()]).toEqual([true, false])
  await one.close()
  expect(await two.isSender()).toBe(true)
})

test.skipIf(!hasRedis)('a replica that has lost its lock takes it again before it sends', async () => {
  const { one, two, redis } = await openOutboxes()
  await one.commit('a', undefined, told, [testNotification()])
  expect(await one.oldest(1)).toHaveLength(1)
  redis.cli('flushall')
  await one.commit('a', undefined, told, [testNotification()])
  expect(await two.oldest(1)).toHaveLength(1)
  expect(await one.oldest(1)).toEqual([])
  await two.close()
  expect(await one.oldest(1)).toHaveLength(1)
})

test.skipIf(!hasRedis)('the sender and the status message of a replica take the lock together', async () => {
  const { one, two } = await openOutboxes()
  expect(await Promise.all([one.isSender(), one.isSender()])).toEqual([true, true])
  expect([await two.isSender(), await one.isSender()]).toEqual([false, true])
})

test.skipIf(!hasRedis)(
  'counts the notifications for which there was no room, and tells how many they were once there is',
  async () => {
    const { one } = await openOutboxes()
    const notifications = Array.from({ length: maxQueued }, () => testNotification())
    await one.commit('a', undefined, told, notifications)
    expect(one.dropped).toBe(0)
    await one.commit('a', told, { down: 2 }, [testNotification(), testNotification()])
    await one.commit('a', { down: 2 }, told, [testNotification()])
    expect(one.dropped).toBe(3)
    await one.oldest(maxQueued)
    await one.remove(notifications)
    await one.commit('a', told, { down: 2 }, [testNotification({ text: 'next' })])
    expect(await one.oldest(9)).toMatchObject([
      { event: 'trouble', error: '3 more notifications were dropped because too many were waiting' },
      { text: 'next' },
    ])
    await one.commit('a', { down: 2 }, told, [])
    expect([one.dropped, (await one.oldest(9)).length]).toEqual([3, 2])
  },
)

test.skipIf(!hasRedis)('tells once how many were dropped when several changes are stored at the same time', async () => {
  const { one } = await openOutboxes()
  const notifications = Array.from({ length: maxQueued }, () => testNotification())
  await one.commit('a', undefined, told, [...notifications, testNotification()])
  await one.oldest(maxQueued)
  await one.remove(notifications.slice(0, 5))
  await Promise.all(['b', 'c', 'd'].map((server) => one.commit(server, undefined, told, [testNotification()])))
  await Promise.all(['e', 'f'].map((server) => one.commit(server, undefined, told, [testNotification(), testNotification()])))
  const events = async () => (await one.oldest(maxQueued)).flatMap(({ error }) => error ?? [])
  expect(await events()).toEqual(['1 more notification was dropped because too many were waiting'])
  expect(one.dropped).toBe(4)
  await one.remove(notifications)
  await one.commit('g', undefined, { down: 2 }, [])
  expect((await events()).at(-1)).toBe('3 more notifications were dropped because too many were waiting')
})

test.skipIf(!hasRedis)('tells later how many were dropped if the change with that could not be stored', async () => {
  const { one, redis } = await openOutboxes()
  const notifications = Array.from({ length: maxQueued }, () => testNotification())
  await one.commit('a', undefined, told, [...notifications, testNotification()])
  await one.oldest(maxQueued)
  await one.remove(notifications.slice(0, 5))
  redis.cli('config', 'set', 'min-replicas-to-write', '1')
  await expect(one.commit('b', undefined, told, [testNotification()])).rejects.toThrow()
  redis.cli('config', 'set', 'min-replicas-to-write', '0')
  await one.commit('b', undefined, told, [testNotification()])
  const dropped = (await one.oldest(maxQueued)).flatMap(({ error }) => error ?? [])
  expect(dropped).toEqual(['1 more notification was dropped because too many were waiting'])
})

test.skipIf(!hasRedis)('leaves out what is not valid, and removes it', async () => {
  const { one, redis } = await openOutboxes()
  for (const text of ['{', '[]', '{"id":1}', '{"id":"x","event":"down","text":"y"}']) redis.cli('rpush', queue, text)
  for (const more of [{ at: 9e15 }, { id: 'a\nb' }, { event: 'gone' }, { server: 1 }, { state: { motd: {} } }])
    redis.cli('rpush', queue, JSON.stringify({ ...testNotification(), ...more }))
  const notification = testNotification()
  await one.commit('a', undefined, told, [notification])
  expect(await one.oldest(20)).toEqual([notification])
  expect(redis.cli('llen', queue)).toBe('1')
  for (const text of ['{', '[]', '7', '{"toldAt":{"toString":1}}', '{"down":"soon"}', '{"record":{}}']) {
    redis.cli('hset', values, 'a', text)
    expect(await one.told('a')).toBeUndefined()
    expect(await one.commit('a', undefined, told, [])).toBe(true)
  }
})
