import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { parseStateAddress } from '../../src/cluster/address.ts'
import { StateConnection } from '../../src/cluster/connection.ts'
import { IconStore } from '../../src/cluster/icon-store.ts'
import { Membership } from '../../src/cluster/membership.ts'
import { createOwnership, type Ownership } from '../../src/cluster/ownership.ts'
import { serverKeyOf } from '../../src/cluster/server-fingerprint.ts'
import { SnapshotExchange } from '../../src/cluster/snapshot-exchange.ts'
import { StreamReader } from '../../src/cluster/stream-reader.ts'
import { loadConfig } from '../../src/config/config.ts'
import { createFleet } from '../../src/game/fleet.ts'
import type { ServerSettings } from '../../src/game/server-settings.ts'
import type { ServerSnapshot } from '../../src/game/snapshot.ts'
import { createSources } from '../../src/game/sources/create-sources.ts'
import { sharedClock as clock } from '../../src/util/clock.ts'
import { silentLog as log } from '../../src/util/log.ts'
import { waitUntil } from '../wait.ts'
import { createSnapshots } from './snapshots.ts'

// The other replicas, in one process. They heartbeat and publish snapshots with the code of the service, but
// poll nothing: their snapshots are copies of one that was polled, changed as polls would change them.

export interface OthersOrder {
  readonly stateUrl: string
  readonly servers: readonly ServerSettings[]
  /** Number of the other replicas. */
  readonly replicas: number
  /** Distinct icons. */
  readonly icons: number
  /** Settings, as environment variables. */
  readonly env: Readonly<Record<string, string>>
}

/** Milliseconds between two groups of snapshots. */
const tickMs = 10
/** Snapshots per group at the start, when all servers are published as soon as possible. */
const firstGroup = 256

process.on('disconnect', () => process.exit())
const [{ stateUrl, servers, replicas, icons, env }] = (await once(process, 'message')) as [OthersOrder]
const { poll, cluster } = loadConfig({ env })
const heartbeatMs = cluster.stateHeartbeat
const address = parseStateAddress(stateUrl)
if (address === undefined) throw new RangeError(`${stateUrl} is not the address of a Redis server`)
const state = address
const iconStore = new IconStore()

/** Polls the first server. */
async function pollOnce(): Promise<ServerSnapshot> {
  const fleet = createFleet({ servers: servers.slice(0, 1), poll, clock, log, createSources })
  const snapshot = await fleet.watchers[0]?.poll()
  fleet.close()
  if (snapshot?.up !== true) throw new Error('a simulated server cannot be polled')
  return snapshot
}

function joinCluster(id: string) {
  const connection = new StateConnection({
    ...{ address: state, prefix: cluster.statePrefix, clock, log },
    ...{ timeoutMs: 5_000, maxRetryMs: 2_000, maxBlockMs: 2 * heartbeatMs },
  })
  let ownerOf: Ownership = createOwnership([])
  const dataExpiryMs = Math.max(2 * poll.staleAfter, 4 * heartbeatMs)
  const membership = new Membership({
    ...{ connection, id, heartbeatMs, dataExpiryMs, clock, log },
    position: () => reader.position,
    onChange(members) {
      ownerOf = createOwnership(members)
    },
  })
  // Reads all entries like a replica, so that Redis has the same work, but does not decode them.
  const reader = new StreamReader({
    ...{ connection, clock, blockMs: 2 * heartbeatMs },
    onEntry({ epoch }) {
      if (membership.epoch !== undefined && epoch > membership.epoch) membership.check()
    },
    onGap() {},
  })
  const exchange = new SnapshotExchange({
    ...{ connection, clock, log, icons: iconStore, expiryMs: dataExpiryMs, lateMs: 5_000 },
    membership,
    position: () => reader.position,
    nameOf: () => undefined,
    onRejected() {},
    onSnapshot() {},
  })
  membership.start()
  reader.start()
  return { membership, exchange, ownerOf: (server: string) => ownerOf(server) }
}

const createSnapshot = createSnapshots(await pollOnce(), icons)
const members = new Map(Array.from({ length: replicas }, (_, index) => `other-${index}`).map((id) => [id, joinCluster(id)]))
const [first] = [...members.values()]
if (first === undefined) throw new RangeError('there is no other replica')
const isReady = async () =>
  [...members.values()].every(({ membership, ownerOf }) => membership.members.length === replicas && ownerOf('') !== undefined)
await waitUntil('the other replicas to join', isReady)

/** @param round number of earlier snapshots of the server */
function publish(index: number, round: number): void {
  const server = servers[index]
  if (server === undefined) return
  const key = serverKeyOf(server)
  members.get(first?.ownerOf(key) ?? '')?.exchange.publish(key, createSnapshot(server, index, round))
}

for (let index = 0; index < servers.length; index++) {
  publish(index, 0)
  if (index % firstGroup === firstGroup - 1) await setTimeout(tickMs)
}
process.send?.('published')

const begun = clock.now()
let next = 0
setInterval(() => {
  const due = ((clock.now() - begun) / poll.interval) * servers.length
  for (; next < due; next++) publish(next % servers.length, 1 + Math.floor(next / servers.length))
}, tickMs)
