import { parseStateAddress } from '../../src/cluster/address.ts'
import { StateConnection } from '../../src/cluster/connection.ts'
import { createStateKeys } from '../../src/cluster/keys.ts'
import { Membership } from '../../src/cluster/membership.ts'
import { type StreamEntry, StreamReader } from '../../src/cluster/stream-reader.ts'
import { systemClock } from '../../src/util/clock.ts'
import { collectLog } from './log-lines.ts'
import { onTestFinished } from './test-end.ts'
import { until } from './until.ts'

/**
 * Heartbeat interval: no servers are taken over from a process that is late by less than half of it, as a process of a busy machine may
 * be.
 */
export const shortMs = 1_000
/** Interval of members none of which expires during a test, even if a busy machine stops its process: the test asks for heartbeats. */
export const longMs = 60_000
export const keys = createStateKeys('test')

/** A member of a cluster, without servers, until the test ends. */
export function joinCluster(
  redis: { readonly url: string },
  id: string,
  { url = redis.url, heartbeatMs = shortMs, clock = systemClock, timeoutMs = 10_000 } = {},
) {
  const log = collectLog()
  const address = parseStateAddress(url)
  if (address === undefined) throw new Error(url)
  const connection = new StateConnection({
    address,
    prefix: 'test',
    clock,
    log,
    timeoutMs,
    maxBlockMs: 2 * heartbeatMs,
    maxRetryMs: shortMs,
  })
  const changes: string[] = []
  const membership = new Membership({
    ...{ connection, id, heartbeatMs, clock, log },
    dataExpiryMs: 60_000,
    position: () => reader.position,
    onChange: (members) => changes.push(members.join()),
  })
  const entries: StreamEntry[] = []
  const reader = new StreamReader({
    ...{ connection, clock },
    blockMs: 2 * heartbeatMs,
    onEntry(entry) {
      entries.push(entry)
      if (membership.epoch !== undefined && entry.epoch > membership.epoch) void membership.check()
    },
    onGap() {},
  })
  membership.start()
  reader.start()
  const end = () => {
    reader.close()
    connection.close()
  }
  onTestFinished(async () => {
    await membership.close()
    end()
  })
  return { id, log, connection, membership, reader, entries, changes, end, members: () => membership.members.join() }
}

/** Waits until these are the members, and each knows it. */
export async function meet(members: readonly ReturnType<typeof joinCluster>[]): Promise<void> {
  const all = members.map(({ id }) => id).join()
  await until(async () => {
    await Promise.all(members.map(({ membership }) => membership.check()))
    return members.every((one) => one.members() === all)
  })
}
