import { expect, onTestFinished, test } from 'vitest'
import { parseStateAddress } from '../../src/cluster/address.ts'
import { StateConnection } from '../../src/cluster/connection.ts'
import { createStateKeys } from '../../src/cluster/keys.ts'
import { Locks } from '../../src/cluster/locks.ts'
import { createSharedQueue } from '../../src/cluster/shared-queue.ts'
import { createSharedValues } from '../../src/cluster/shared-values.ts'
import { SourceError } from '../../src/game/errors.ts'
import { openNotifier } from '../../src/notify/open.ts'
import { readNotify } from '../../src/notify/settings.ts'
import { systemClock } from '../../src/util/clock.ts'
import { silentLog } from '../../src/util/log.ts'
import { parseTree } from '../../src/util/yaml.ts'
import { fakeFleet } from '../helpers/fake-fleet.ts'
import { startReceiver } from '../helpers/notify-receiver.ts'
import { startRedis } from '../helpers/redis-server.ts'
import { hasTool } from '../helpers/require-tool.ts'
import { until } from '../helpers/until.ts'

const hasRedis = hasTool('redis-server')
const up = { status: { playersOnline: 3, playersMax: 20 } }

/** One of several replicas that all poll the server, as they do for a moment when it moves. */
async function startReplica(redis: { readonly url: string }, receiver: { readonly url: string }) {
  const address = parseStateAddress(redis.url)
  const settings = readNotify(
    parseTree(
      `{ allowPrivate: true, restartGrace: 0s, channels: [{ type: webhook, name: ops, url: "${receiver.url}", after: 1 }] }`,
      '',
      [],
    ) ?? null,
    '',
    [],
  )
  if (address === undefined || settings === undefined) throw new Error('not valid')
  const connection = new StateConnection({
    address,
    clock: systemClock,
    log: silentLog,
    timeoutMs: 2_000,
    maxBlockMs: 500,
    maxRetryMs: 100,
  })
  await until(() => connection.isConnected)
  const keys = createStateKeys('test')
  const locks = new Locks({ connection, keys, clock: systemClock, expiryMs: 3_000 })
  const fleet = fakeFleet({ survival: { ...up } }, systemClock)
  const notifier = await openNotifier({
    ...{ settings, fleet, clock: systemClock, log: silentLog, maintenanceOf: () => null },
    shared: {
      locks,
      values: (part) => createSharedValues(connection, keys.values(part)),
      queue: (name) => createSharedQueue(connection, keys, name),
    },
  })
  onTestFinished(async () => {
    await notifier.close()
    fleet.close()
    connection.close()
  })
  return { fleet, notifier, connection }
}

test.skipIf(!hasRedis)('of several replicas one tells each change, and another continues when it dies', async () => {
  const [redis, receiver] = [await startRedis(), await startReceiver()]
  const replicas = await Promise.all([1, 2, 3].map(() => startReplica(redis, receiver)))
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
