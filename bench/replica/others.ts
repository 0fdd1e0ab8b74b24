import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { parseStateAddress } from '../../src/cluster/address.ts'
import { createStateConnection } from '../../src/cluster/connection.ts'
import { createIconStore } from '../../src/cluster/icon-store.ts'
import { createStateKeys } from '../../src/cluster/keys.ts'
import { startMembership } from '../../src/cluster/membership.ts'
import { createOwnership, type Ownership } from '../../src/cluster/ownership.ts'
import { createServerLists } from '../../src/cluster/server-lists.ts'
import { createSnapshotExchange } from '../../src/cluster/snapshot-exchange.ts'
import { loadConfig } from '../../src/config/config.ts'
import { createFleet } from '../../src/game/fleet.ts'
import type { ServerSettings } from '../../src/game/server-settings.ts'
import type { ServerSnapshot } from '../../src/game/snapshot.ts'
import { createSources } from '../../src/game/sources/create-sources.ts'
import { sharedClock as clock } from '../../src/util/clock.ts'
import { silentLog as log } from '../../src/util/log.ts'
import { waitUntil } from '../wait.ts'
import { createSnapshots } from './snapshots.ts'

// The other replicas, in one process. They heartbeat, announce their servers and publish snapshots with the code of the service, but
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
const keys = createStateKeys(cluster.statePrefix, address.database)
const iconStore = createIconStore()

/** Polls the first server. */
async function pollOnce(): Promise<ServerSnapshot> {
  const fleet = createFleet({ servers: servers.slice(0, 1), poll, clock, log, createSources })
  const snapshot = await fleet.watchers[0]?.poll()
  fleet.close()
  if (snapshot?.up !== true) throw new Error('a simulated server cannot be polled')
  return snapshot
}

/** Receives all messages like a replica, so that Redis has the same work, but does not decode them. */
function receiveMessages(): void {
  const socket = connect({ host: state.host, port: state.port })
  socket.resume()
  socket.write(`SUBSCRIBE ${keys.channel}\r\n`)
}

function joinCluster(id: string) {
  const connection = createStateConnection({ address: state, clock, log, timeoutMs: 3_000, maxRetryMs: 2_000 })
  let ownerOf: Ownership = createOwnership([])
  const follow = () => {
    ownerOf = createOwnership(membership.members, lists.has)
  }
  const lists = createServerLists({ connection, keys, id, heartbeatMs, clock, onChange: follow })
  lists.set(servers)
  const membership = startMembership({
    ...{ connection, keys, id, heartbeatMs, clock, log },
    beforeBeat() {
      void lists.refresh(membership.members)
      return lists.announce()
    },
    onChange: (members) => void lists.refresh(members).then(follow),
  })
  const exchange = createSnapshotExchange({
    ...{ connection, keys, id, clock, log, icons: iconStore },
    token: () => membership.token,
    expiryMs: Math.max(2 * poll.staleAfter, 4 * heartbeatMs),
    find: () => undefined,
    onSnapshot() {},
    onRefused: membership.check,
  })
  return { connection, membership, exchange, ownerOf: (server: string) => ownerOf(server) }
}

const createSnapshot = createSnapshots(await pollOnce(), icons)
const members = new Map(Array.from({ length: replicas }, (_, index) => `other-${index}`).map((id) => [id, joinCluster(id)]))
const [first, ...rest] = [...members.values()]
if (first === undefined) throw new RangeError('there is no other replica')
// One handles the messages about members for all.
const checkAll = () => {
  for (const { membership } of members.values()) membership.check()
}
first.connection.subscribe(keys.channel, (message) => message === keys.membersMessage && checkAll(), checkAll)
for (const _ of rest) receiveMessages()
const isReady = async () =>
  [...members.values()].every(({ membership, ownerOf }) => membership.members.length === replicas && ownerOf('') !== undefined)
await waitUntil('the other replicas to join', isReady)

/** @param round number of earlier snapshots of the server */
function publish(index: number, round: number): void {
  const server = servers[index]
  const owner = server && members.get(first?.ownerOf(server.name) ?? '')
  if (server && owner) owner.exchange.publish(createSnapshot(server, index, round))
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
