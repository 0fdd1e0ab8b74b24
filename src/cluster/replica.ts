import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { Fleet, FleetOptions } from '../game/fleet.ts'
import type { PollSettings } from '../game/server-settings.ts'
import { placeOf } from '../game/spread.ts'
import { waitUpTo } from '../game/watcher/deadline.ts'
import type { Clock } from '../util/clock.ts'
import { parseJson } from '../util/json.ts'
import type { Log } from '../util/log.ts'
import type { ReplicaMetrics, SharedState, SnapshotOrder } from '../util/part-metrics.ts'
import { createPauses } from '../util/pauses.ts'
import type { StateAddress } from './address.ts'
import { createStateConnection } from './connection.ts'
import { IconStore } from './icon-store.ts'
import { createStateKeys } from './keys.ts'
import { createLocks, type Locks } from './locks.ts'
import { idOf, type Membership, startMembership } from './membership.ts'
import { createOwnership, type Ownership } from './ownership.ts'
import { nameOfKey } from './server-fingerprint.ts'
import type { ClusterSettings } from './settings.ts'
import { createSharedQueue } from './shared-queue.ts'
import { createSharedValues } from './shared-values.ts'
import { SharedWatcher, type SharedWatcherOptions } from './shared-watcher.ts'
import { createSnapshotExchange, type SnapshotExchangeOptions } from './snapshot-exchange.ts'
import { readStream, type StreamEntry, type StreamReader } from './stream-reader.ts'

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
  readonly shared: SharedState
  /** The order of the snapshots that is the same on all replicas. */
  readonly order: SnapshotOrder
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

/** Milliseconds after which other replicas are asked whether they list a server of which nothing was received, and asked again. */
const [askAfterMs, askAgainMs] = [1_000, 10_000]
/** Maximum number of servers that they are asked about at once. */
const maxAsked = 2_000
const retryLoadMs = 500
/** Milliseconds after which an equal name is logged: when an address changes, replicas read their lists one after the other. */
const conflictAfterMs = 5_000
/** Maximum time for leaving, milliseconds. */
const maxLeaveMs = 1_000

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
export function createReplica({ address, config, poll, clock, log }: ReplicaOptions): Replica {
  const { stateHeartbeat: heartbeatMs, statePassword: password, statePrefix, stateFailOpen } = config
  const { interval, staleAfter } = poll
  // The previous owner may have polled a server up to an interval ago: it must not become unknown until its first poll here.
  const maxSpreadMs = Math.min(interval * maxSpreadIntervals, Math.max(0, staleAfter - interval) / 2)
  const id = `${hostname().replaceAll(/\s/g, '-')}-${process.pid}-${randomBytes(4).toString('hex')}`
  const keys = createStateKeys(statePrefix)
  const timeoutMs = Math.min(5_000, Math.max(1_000, heartbeatMs))
  const expiryMs = Math.round(Math.max(2 * staleAfter, 4 * heartbeatMs))
  const sweepMs = Math.min(1_000, staleAfter / 8)
  /** A silent server is polled here so long after its last snapshot that it is not unknown before. */
  const fallbackAfterMs = Math.max(
    staleAfter / 2,
    staleAfter - Math.min(interval, staleAfter / 4) - Math.min(poll.timeout, staleAfter / 4) - 2 * sweepMs,
  )
  const connection = createStateConnection({
    ...{ address, password, clock, log, timeoutMs },
    maxBlockMs: 2 * heartbeatMs,
    maxRetryMs: Math.min(2_000, heartbeatMs),
  })
  const icons = new IconStore()
  /** By key. */
  const watchers = new Map<string, SharedWatcher>()
  const keyOfName = new Map<string, string>()
  /** Those whose state here may differ from that on other replicas. */
  const diverged = new Set<SharedWatcher>()
  /** Names that are logged, or will be unless the lists agree until then. */
  const conflicts = new Set<string>()
  /** When servers were removed here, whose addresses may just have changed in the list. */
  const removedAt = new Map<string, number>()
  let membership: Membership | undefined
  let reader: StreamReader | undefined
  /** The members from which the owners are computed. */
  let members: readonly string[] = []
  let ownerOf: Ownership = createOwnership([])
  /** Whether a member has left or died whose servers have not all been taken over yet. */
  let hasLostMember = false
  let isMoving = false
  let isMoveDue = false
  let isClosed = false
  let isFallback = false
  let isLoading = false
  let isLoadDue = false
  let lastPrune = clock.now()
  let cancelSweep = () => {}
  let cancelLoad = () => {}
  let removedKeys: string[] = []
  /** Position of the entry that is being applied. */
  let applying: number | undefined
  /** From this position on, the events of all replicas are the same. */
  let completeFrom = Number.POSITIVE_INFINITY
  /** The last position of what was loaded instead of read from the stream. */
  let loadedTo = 0
  /** Of the present entry, other replicas may have more events. */
  const nextPosition = () => (reader === undefined ? Number.POSITIVE_INFINITY : reader.position + 1)
  let watchedUntil = 0

  const watcherOptions: SharedWatcherOptions = {
    ...{ settings: poll, clock, log },
    onPolled: (key, snapshot) => exchange.publish(key, snapshot),
    onPublish(watcher, isShared) {
      if (!isShared) diverged.add(watcher)
      else if (diverged.delete(watcher) && diverged.size === 0) completeFrom = Math.max(loadedTo + 1, nextPosition())
    },
    onClose(watcher) {
      diverged.delete(watcher)
      // A server whose settings have changed already has another watcher.
      if (watchers.get(watcher.key) !== watcher) return
      watchers.delete(watcher.key)
      if (keyOfName.get(watcher.server) === watcher.key) keyOfName.delete(watcher.server)
      removedKeys.push(watcher.key)
      removedAt.set(watcher.key, clock.now())
    },
  }

  const onSnapshot: SnapshotExchangeOptions['onSnapshot'] = (key, snapshot, version, origin) => {
    const watcher = watchers.get(key)
    if (watcher === undefined) return
    watcher.apply(snapshot, version, origin)
    if (origin.from !== 'stream' || origin.member === membership?.name) return
    const sender = idOf(origin.member)
    if (watcher.declined?.delete(sender)) void move()
    // Of several replicas that poll a silent server, one continues.
    const owner = ownerOf(key)
    if (watcher.isFallback && owner !== id && (sender === owner || sender < id)) watcher.disown()
  }

  const exchange = createSnapshotExchange({
    ...{ connection, keys, icons, clock, log, expiryMs, onSnapshot },
    lateMs: timeoutMs,
    membership: () => membership,
    position: () => reader?.position ?? 0,
    find(key) {
      const watcher = watchers.get(key)
      if (watcher === undefined) checkConflict(key)
      return watcher?.snapshot()
    },
    isCurrent(key, snapshot) {
      const watcher = watchers.get(key)
      return watcher?.isOwned === true && watcher.snapshot().at <= snapshot.at
    },
  })

  /** Another replica has a server with this key, which this one has not. */
  function checkConflict(key: string): void {
    const name = nameOfKey(key)
    const isRecent = clock.now() - (removedAt.get(key) ?? Number.NEGATIVE_INFINITY) < 2 * conflictAfterMs
    if (!keyOfName.has(name) || conflicts.has(name) || isRecent) return
    conflicts.add(name)
    clock.after(conflictAfterMs, () => {
      const isOver = isClosed || watchers.has(key) || !keyOfName.has(name)
      if (isOver) conflicts.delete(name)
      else
        log.warn(
          { server: name },
          `${name}: another replica has a server with this name and another address. Each replica polls its own: give them different names, or set another STATE_PREFIX.`,
        )
    })
  }

  function receive(entry: StreamEntry): void {
    const { kind, member, data, epoch } = entry
    if (membership?.epoch !== undefined && epoch > membership.epoch) membership.check()
    if (kind === 'snapshots') {
      applying = entry.position
      exchange.receive(entry)
      applying = undefined
      return
    }
    if (kind === 'beat' || member === membership?.name) return
    const listed = readKeys(data)
    if (kind === 'wanted') {
      const unlisted = listed.filter((key) => !watchers.has(key))
      unlisted.forEach(checkConflict)
      void exchange.post('declined', unlisted)
    } else if (kind === 'declined') {
      for (const key of listed) {
        const watcher = watchers.get(key)
        if (watcher !== undefined) watcher.declined = (watcher.declined ?? new Set()).add(idOf(member))
      }
      void move()
    }
  }

  function followMembers(next: readonly string[]): void {
    if (isClosed) return
    if (next.length === 0) exchange.clear()
    else log.info({ members: next }, `Live replicas: ${next.length}.`)
    ownerOf = createOwnership(next, (member, key) => watchers.get(key)?.declined?.has(member) !== true)
    if (members.some((member) => !next.includes(member))) hasLostMember = true
    members = next
    void move()
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
      for (const watcher of watchers.values()) {
        if (pauses.isDue()) await pauses.take()
        if (isMoveDue || isClosed) break
        const isOwn = ownerOf(watcher.key) === id
        if (isOwn && watcher.isOwned) watcher.isFallback = false
        if (isOwn === watcher.isOwned || watcher.isFallback) continue
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

  /** Polls servers here that would become unknown because the replicas that should poll them are silent. */
  function fallBack(silent: readonly SharedWatcher[]): void {
    const spreadMs = Math.min(interval / 2, silent.length * startSpacingMs)
    for (const watcher of silent) {
      watcher.own(placeOf(watcher.server) * spreadMs)
      watcher.isFallback = true
    }
    const count = [...watchers.values()].filter((watcher) => watcher.isFallback).length
    if (isFallback === count > 0) return
    isFallback = count > 0
    if (isFallback)
      log.warn(`The replicas that should poll ${count} servers are silent: this replica polls them in the meantime.`)
    else log.info('Every server is polled by one replica again.')
  }

  /** What has to be done from time to time for each server, in slices. */
  async function sweep(): Promise<void> {
    const pauses = createPauses()
    let now = clock.now()
    const [silent, asked]: [SharedWatcher[], SharedWatcher[]] = [[], []]
    exchange.applyLate()
    for (const watcher of watchers.values()) {
      if (pauses.isDue()) {
        await pauses.take()
        now = clock.now()
      }
      if (isClosed) return
      watcher.expire(now)
      if (watcher.isOwned) {
        watcher.repeat(now)
        continue
      }
      const silentMs = now - watcher.receivedAt
      if (stateFailOpen === 'true' && silentMs >= fallbackAfterMs) silent.push(watcher)
      const isAskDue = silentMs >= (watcher.snapshot().lastPollAt === undefined ? askAfterMs : fallbackAfterMs / 2)
      if (isAskDue && now - watcher.askedAt >= askAgainMs && asked.length < maxAsked) asked.push(watcher)
    }
    fallBack(silent)
    if (membership?.epoch !== undefined && members.length > 1) {
      for (const watcher of asked) watcher.askedAt = now
      void exchange.post(
        'wanted',
        asked.map(({ key }) => key),
      )
    }
    if (now - lastPrune > pruneMs) {
      lastPrune = now
      icons.keepOnly(Array.from(watchers.values(), (watcher) => watcher.snapshot()))
      exchange.prune()
      for (const [key, at] of removedAt) if (now - at > pruneMs) removedAt.delete(key)
    }
    cancelSweep = clock.after(sweepMs, () => void sweep())
  }

  /** What was loaded may be newer than the last entry that was read: until then, clients of other replicas cannot continue here. */
  async function loadServers(serverKeys: readonly string[]): Promise<void> {
    loadedTo = Math.max(loadedTo, await exchange.load(serverKeys))
    completeFrom = Math.max(loadedTo + 1, completeFrom)
  }

  /**
   * Loads everything, after entries of the stream were missed. New entries are applied meanwhile: the stream would not keep them for as
   * long as it takes to load tens of thousands of servers.
   */
  async function load(): Promise<void> {
    isLoadDue = true
    if (isLoading) return
    isLoading = true
    while (isLoadDue && !isClosed) {
      isLoadDue = false
      try {
        await loadServers([...watchers.keys()])
      } catch {
        // Reported by the connection.
        isLoadDue = true
        await new Promise<void>((resolve) => {
          cancelLoad = clock.after(retryLoadMs, resolve)
        })
      }
    }
    isLoading = false
    completeFrom = Math.max(loadedTo + 1, nextPosition())
  }

  const locks = createLocks({ connection, keys, clock })

  /** Whether the state is that of all replicas that have read the same entries. */
  const isSame = () => diverged.size === 0 && !isLoading

  return {
    share(server, createWatcher) {
      const watcher = new SharedWatcher(server, createWatcher, watcherOptions)
      watchers.set(watcher.key, watcher)
      keyOfName.set(watcher.server, watcher.key)
      return watcher
    },
    start(fleet) {
      fleet.onChange(({ added }) => {
        const removed = removedKeys.filter((key) => !watchers.has(key))
        removedKeys = []
        void exchange.post('declined', removed)
        void move()
        // Not of those whose settings have changed: a stored snapshot may be of another address.
        const addedKeys = added.flatMap((name) => keyOfName.get(name) ?? [])
        void loadServers(addedKeys).catch(() => {})
      })
      membership = startMembership({
        ...{ connection, keys, id, heartbeatMs, clock, log },
        dataExpiryMs: expiryMs,
        position: () => reader?.position ?? 0,
        watchedMs: () => Math.max(0, Math.round(watchedUntil - clock.now())),
        onChange: followMembers,
      })
      reader = readStream({ connection, keys, clock, blockMs: 2 * heartbeatMs, onEntry: receive, onGap: () => void load() })
      void sweep()
    },
    isPolledHere: (server) => watchers.get(keyOfName.get(server) ?? '')?.isPolledHere ?? false,
    metrics() {
      let [servers, unknown, fallback] = [0, 0, 0]
      for (const watcher of watchers.values()) {
        if (watcher.isFallback) fallback++
        else if (watcher.isOwned) servers++
        if (watcher.isSilent) unknown++
      }
      const { isUp } = connection
      const invalid = exchange.invalid()
      return { servers, unknown, fallback, isStateUp: isUp, invalid, ...(isUp && { members: membership?.members.length ?? 0 }) }
    },
    locks,
    shared: {
      locks,
      values: (part) => createSharedValues(connection, keys.values(part)),
      queue: (name) => createSharedQueue(connection, keys, name),
    },
    order: {
      position: () => (isSame() && applying !== undefined && applying >= completeFrom ? applying : undefined),
      last: () => reader?.position ?? 0,
      completeFrom: () => (isSame() ? completeFrom : Number.POSITIVE_INFINITY),
      isWatched: () => membership?.isWatched ?? false,
      watchFor(ms) {
        watchedUntil = Math.max(watchedUntil, clock.now() + ms)
      },
    },
    async close() {
      isClosed = true
      cancelSweep()
      cancelLoad()
      reader?.close()
      await waitUpTo(membership?.close() ?? Promise.resolve(), maxLeaveMs, clock)
      connection.close()
    },
  }
}

function readKeys(data: string): readonly string[] {
  try {
    const keys = parseJson(data)
    return Array.isArray(keys) ? keys.filter((key) => typeof key === 'string') : []
  } catch {
    return []
  }
}
