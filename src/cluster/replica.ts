import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { Clock } from '../clock.ts'
import type { Slices } from '../config/settings.ts'
import type { Fleet, FleetOptions } from '../game/fleet.ts'
import type { PollSettings } from '../game/server.ts'
import type { Log } from '../log.ts'
import type { ReplicaMetrics } from '../replica-metrics.ts'
import type { StateAddress } from './address.ts'
import { createStateConnection } from './connection.ts'
import { createIcons } from './icons.ts'
import { createStateKeys } from './keys.ts'
import { createLocks, type Locks } from './locks.ts'
import { startMembership } from './membership.ts'
import { createOwnership, type Ownership } from './ownership.ts'
import { createSharedWatcher, type SharedWatcher } from './shared-watcher.ts'
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
  readonly config: Slices['cluster']
  readonly poll: PollSettings
  readonly clock: Clock
  readonly log: Log
}

/** Number of servers that move before yielding to other work. */
const maxMoves = 100
/** Milliseconds between the first polls of servers that were taken over. */
const startSpacingMs = 5
const pruneMs = 60_000

export function createReplica({ address, config, poll, clock, log }: ReplicaOptions): Replica {
  const { stateHeartbeat: heartbeatMs, statePassword: password, statePrefix } = config
  const { staleAfter } = poll
  const id = `${hostname().replaceAll(/\s/g, '-')}-${process.pid}-${randomBytes(4).toString('hex')}`
  const keys = createStateKeys(statePrefix, address.database)
  const connection = createStateConnection({
    ...{ address, password, clock, log },
    timeoutMs: Math.min(3_000, Math.max(500, heartbeatMs / 2)),
    maxRetryMs: Math.min(2_000, heartbeatMs),
  })
  const icons = createIcons()
  const watchers = new Map<string, SharedWatcher>()
  let ownerOf: Ownership = createOwnership([])
  let isMoving = false
  let isMoveDue = false
  let isClosed = false
  let lastPrune = clock.now()
  let cancelSweep = () => {}

  const membership = startMembership({
    ...{ connection, keys, id, heartbeatMs, clock, log },
    onChange(members) {
      ownerOf = createOwnership(members)
      log.info({ members }, `${members.length} replicas share the servers.`)
      void move()
    },
  })
  const exchange = createSnapshotExchange({
    ...{ connection, keys, id, icons, clock, log },
    token: () => membership.token,
    expiryMs: Math.round(Math.max(2 * staleAfter, 4 * heartbeatMs)),
    isKnown: (server) => watchers.has(server),
    onSnapshot: (snapshot, storedMs) => watchers.get(snapshot.server)?.receive(snapshot, storedMs),
    onRefused: () => membership.check(),
  })

  /** Takes over and gives up servers after a change of the members, in parts. */
  async function move(): Promise<void> {
    isMoveDue = true
    if (isMoving) return
    isMoving = true
    const spreadMs = Math.min(poll.interval, heartbeatMs / 5)
    while (isMoveDue && !isClosed) {
      isMoveDue = false
      let moved = 0
      for (const [server, watcher] of watchers) {
        const isOwn = ownerOf(server) === id
        if (isOwn === watcher.isOwned) continue
        if (isOwn) watcher.own((moved * startSpacingMs) % spreadMs)
        else watcher.disown()
        if (++moved % maxMoves === 0) await new Promise((resolve) => setImmediate(resolve))
        if (isMoveDue || isClosed) break
      }
    }
    isMoving = false
  }

  /** Publishes unchanged snapshots too: silence would mean that no replica polls the server. */
  function sweep(): void {
    const now = clock.now()
    for (const [server, watcher] of watchers) {
      watcher.expire()
      const isDue = watcher.isOwned && now - exchange.publishedAt(server) > staleAfter / 2
      const snapshot = watcher.snapshot()
      if (isDue && snapshot.lastPollAt !== undefined) exchange.publish(snapshot)
    }
    if (now - lastPrune > pruneMs) {
      lastPrune = now
      const shown = [...watchers.values()].flatMap((watcher) => watcher.snapshot().fields.favicon?.value ?? [])
      icons.keepOnly(new Set(shown.map(icons.hashOf)))
      exchange.prune()
    }
    cancelSweep = clock.after(Math.min(1_000, staleAfter / 4), sweep)
  }

  return {
    share(server, createWatcher) {
      const watcher = createSharedWatcher({
        ...{ server, settings: poll, clock, log, createWatcher },
        onPolled: exchange.publish,
        onClose() {
          if (watchers.get(server.name) === watcher) watchers.delete(server.name)
        },
      })
      watchers.set(server.name, watcher)
      if (ownerOf(server.name) === id) watcher.own(0)
      return watcher
    },
    start(fleet) {
      fleet.onChange(({ added, changed }) => void exchange.load([...added, ...changed]))
      connection.subscribe(
        keys.channel,
        (message) => {
          if (message === keys.membersMessage) membership.check()
          else exchange.receive(message)
        },
        () => {
          exchange.forgetStored()
          void exchange.load([...watchers.keys()])
        },
      )
      sweep()
    },
    isPolledHere: (server) => watchers.get(server)?.isPolledHere ?? false,
    metrics() {
      const owned = [...watchers.values()].filter(({ isOwned }) => isOwned).length
      const { isUp } = connection
      return { servers: owned, isStateUp: isUp, ...(isUp && { members: membership.members.length }) }
    },
    locks: createLocks({ connection, keys, clock }),
    async close() {
      isClosed = true
      cancelSweep()
      await membership.close()
      connection.close()
    },
  }
}
