import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { Fleet, FleetOptions } from '../game/fleet.ts'
import type { PollSettings } from '../game/server-settings.ts'
import { placeOf } from '../game/spread.ts'
import type { Clock } from '../util/clock.ts'
import type { Log } from '../util/log.ts'
import type { ReplicaMetrics } from '../util/part-metrics.ts'
import { createPauses } from '../util/pauses.ts'
import type { StateAddress } from './address.ts'
import { createStateConnection } from './connection.ts'
import { createDifferenceReports } from './difference-reports.ts'
import { createIconStore } from './icon-store.ts'
import { createStateKeys } from './keys.ts'
import { createLocks, type Locks } from './locks.ts'
import { type Membership, startMembership } from './membership.ts'
import { createOwnership, type Ownership } from './ownership.ts'
import { countDifferences, createServerLists } from './server-lists.ts'
import type { ClusterSettings } from './settings.ts'
import type { SharedWatcher } from './shared-watcher.ts'
import { createSharedWatchers } from './shared-watchers.ts'
import { createSnapshotExchange } from './snapshot-exchange.ts'

/** This process as one of several replicas that share the work of watching all servers. */
export interface Replica {
  /** Creates the watcher of a server for the fleet. */
  readonly share: NonNullable<FleetOptions['share']>
  /** Joins the other replicas. To be called once the fleet has its servers. */
  start(fleet: Fleet): void
  /** Whether this replica owns the server and has polled it since. */
  isPolledHere(server: string): boolean
  metrics(): ReplicaMetrics
  readonly locks: Locks
  /** Leaves; other replicas take over its servers immediately. */
  close(): Promise<void>
}

export interface ReplicaOptions {
  readonly address: StateAddress
  readonly config: ClusterSettings
  readonly poll: PollSettings
  readonly clock: Clock
  readonly log: Log
}

/** The first polls of servers that were taken over are spread over this many milliseconds per server. */
const startSpacingMs = 5
/** They are spread over at most this part of the poll interval. Not over less: polls of a replica that starts thousands at once time out. */
const maxSpreadIntervals = 0.95
/**
 * After a member has left or died, they are spread over at most this many heartbeat intervals: a death is detected after about 1.5
 * intervals, and its servers must be polled within two.
 */
const maxSpreadHeartbeats = 0.2
const pruneMs = 60_000
/**
 * A difference between the lists of replicas is reported after this many heartbeat intervals: 90 s by default, longer than the
 * default interval of http_sd.
 */
const differenceHeartbeats = 18

export function createReplica({ address, config, poll, clock, log }: ReplicaOptions): Replica {
  const { stateHeartbeat: heartbeatMs, statePassword: password, statePrefix } = config
  const { interval, staleAfter } = poll
  // The previous owner may have polled a server up to an interval ago: it must not become unknown until its first poll here.
  const maxSpreadMs = Math.min(interval * maxSpreadIntervals, Math.max(0, staleAfter - interval) / 2)
  const id = `${hostname().replaceAll(/\s/g, '-')}-${process.pid}-${randomBytes(4).toString('hex')}`
  const keys = createStateKeys(statePrefix, address.database)
  const connection = createStateConnection({
    ...{ address, password, clock, log },
    timeoutMs: Math.min(3_000, Math.max(500, heartbeatMs / 2)),
    maxRetryMs: Math.min(2_000, heartbeatMs),
  })
  const icons = createIconStore()
  const watchers = createSharedWatchers({ settings: poll, clock, log, onPolled: (snapshot) => exchange.publish(snapshot) })
  const reports = createDifferenceReports(log, clock, differenceHeartbeats * heartbeatMs)
  let membership: Membership | undefined
  /** The newest members, whose lists may still be read. */
  let newest: readonly string[] = []
  /** The members from which the owners are computed. */
  let followed: readonly string[] = []
  let ownerOf: Ownership = createOwnership([])
  /** Whether a member has left or died whose servers have not all been taken over yet. */
  let hasLostMember = false
  let isMoving = false
  let isMoveDue = false
  let isClosed = false
  let lastPrune = clock.now()
  let cancelSweep = () => {}

  const lists = createServerLists({ connection, keys, id, heartbeatMs, clock, onChange: () => void move() })
  const exchange = createSnapshotExchange({
    ...{ connection, keys, id, icons, clock, log },
    token: () => membership?.token,
    expiryMs: Math.round(Math.max(2 * staleAfter, 4 * heartbeatMs)),
    find: (server) => watchers.get(server)?.snapshot(),
    onSnapshot: (snapshot, storedMs) => watchers.get(snapshot.server)?.receive(snapshot, storedMs),
    onRefused: () => membership?.check(),
  })

  async function followMembers(members: readonly string[]): Promise<void> {
    newest = members
    // No server is given up to a member that does not list it.
    if (members.length > 0) await lists.refresh(members)
    if (newest !== members || isClosed) return
    ownerOf = createOwnership(members, lists.has)
    if (followed.some((member) => !members.includes(member))) hasLostMember = true
    followed = members
    if (members.length > 0) log.info({ members }, `Live replicas: ${members.length}.`)
    await move()
  }

  /** Takes over and gives up servers after a change of the members or their lists, in slices. */
  async function move(): Promise<void> {
    isMoveDue = true
    if (isMoving) return
    isMoving = true
    const pauses = createPauses()
    while (isMoveDue && !isClosed) {
      isMoveDue = false
      const gained: SharedWatcher[] = []
      for (const watcher of watchers.all()) {
        if (pauses.isDue()) await pauses.take()
        if (isMoveDue || isClosed) break
        const isOwn = ownerOf(watcher.server) === id
        if (isOwn === watcher.isOwned) continue
        if (isOwn) gained.push(watcher)
        else watcher.disown()
      }
      const spreadMs = Math.min(
        maxSpreadMs,
        gained.length * startSpacingMs,
        hasLostMember ? heartbeatMs * maxSpreadHeartbeats : Number.POSITIVE_INFINITY,
      )
      for (const watcher of gained) {
        if (pauses.isDue()) await pauses.take()
        if (isMoveDue || isClosed) break
        watcher.own(placeOf(watcher.server) * spreadMs)
      }
      if (!isMoveDue) hasLostMember = false
    }
    isMoving = false
  }

  /** Publishes unchanged snapshots too: silence would mean that no replica polls the server. In slices. */
  async function sweep(): Promise<void> {
    const pauses = createPauses()
    let now = clock.now()
    for (const watcher of watchers.all()) {
      if (pauses.isDue()) {
        await pauses.take()
        now = clock.now()
      }
      if (isClosed) return
      watcher.expire(now)
      const isDue = watcher.isOwned && now - exchange.publishedAt(watcher.server) > staleAfter / 2
      if (isDue && watcher.snapshot().lastPollAt !== undefined) exchange.publish(watcher.snapshot())
    }
    if (now - lastPrune > pruneMs) {
      lastPrune = now
      icons.keepOnly(Array.from(watchers.all(), (watcher) => watcher.snapshot()))
      exchange.prune()
    }
    if (connection.isUp) reports.check(lists.differences())
    cancelSweep = clock.after(Math.min(1_000, staleAfter / 4), () => void sweep())
  }

  return {
    share: watchers.share,
    start(fleet) {
      lists.set(fleet.servers)
      fleet.onChange(({ added }) => {
        lists.set(fleet.servers)
        void move()
        // Not of those whose settings have changed: a stored snapshot may be of another address.
        void exchange.load(added)
      })
      membership = startMembership({
        ...{ connection, keys, id, heartbeatMs, clock, log },
        beforeBeat() {
          void lists.refresh(newest)
          return lists.announce()
        },
        onChange: (members) => void followMembers(members),
      })
      connection.subscribe(
        keys.channel,
        (message) => {
          if (message === keys.membersMessage) membership?.check()
          else if (message === keys.listsMessage) void lists.refresh(newest)
          else if (!lists.receive(message)) exchange.receive(message)
        },
        () => {
          exchange.forgetStored()
          void exchange.load(Array.from(watchers.all(), ({ server }) => server))
        },
      )
      void sweep()
    },
    isPolledHere: (server) => watchers.get(server)?.isPolledHere ?? false,
    metrics() {
      let [servers, unknown] = [0, 0]
      for (const watcher of watchers.all()) {
        if (watcher.isOwned) servers++
        if (watcher.isSilent) unknown++
      }
      const { isUp } = connection
      return {
        servers,
        unknown,
        isStateUp: isUp,
        invalid: exchange.invalid(),
        ...(isUp && { members: membership?.members.length ?? 0, differences: countDifferences(lists.differences()) }),
      }
    },
    locks: createLocks({ connection, keys, clock }),
    async close() {
      isClosed = true
      cancelSweep()
      lists.close()
      await membership?.close()
      connection.close()
    },
  }
}
