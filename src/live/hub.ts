import { type Fleet, perServers } from '../game/fleet.ts'
import type { ServerSnapshot } from '../game/snapshot.ts'
import { type Clock, repeat } from '../util/clock.ts'
import type { MaintenanceOf, SnapshotOrder } from '../util/part-metrics.ts'
import { createPauses } from '../util/pauses.ts'
import { missedBacklog, snapshotBacklog } from './backlog.ts'
import { createEventBatch, type SendEvents } from './batch.ts'
import { createEventClient, type EventClient, type EventSink } from './client.ts'
import { LiveEvent } from './event.ts'
import { createEventLog, firstEventId } from './event-log.ts'
import { createPublishedStates } from './published-states.ts'
import { difference, stateOf, type ToState, unknownState } from './state.ts'
import { stateChanges } from './state-changes.ts'
import { createTurns } from './turns.ts'

const maxRemembered = 1_000
const heartbeatMs = 15_000
/** Milliseconds for which events are still recorded after the last client has disconnected, for clients that reconnect. */
const rememberMs = 600_000

export interface ConnectOptions {
  readonly sink: EventSink
  /** Names of the servers whose events are sent; default: all. */
  readonly servers?: ReadonlySet<string>
  /** Id of the last event that the client received. */
  readonly lastId?: number
}

/** Number of clients of several hubs, and of those that were dropped. */
export function sumEventMetrics(hubs: readonly EventHub[]) {
  const sum = { clients: 0, dropped: 0 }
  for (const { clients, dropped } of hubs.map((hub) => hub.metrics())) {
    sum.clients += clients
    sum.dropped += dropped
  }
  return sum
}

const positionsOf = (servers: Iterable<string>): ReadonlyMap<string, number> =>
  new Map([...servers].map((server, position) => [server, position]))

export interface EventHubOptions {
  /** Default: no server is in maintenance. */
  readonly maintenanceOf?: MaintenanceOf
  /** Converts a snapshot into what is sent; default: the state. */
  readonly toState?: ToState
  /**
   * Also sends `servers`, the names of all servers, before their snapshots, and `removed` for a server that is no longer watched.
   * Otherwise such a server only becomes unknown. Default: false.
   */
  readonly listsServers?: boolean
  /**
   * Maximum number of players who joined and left between two polls for which events are sent; of more, a single event `players`
   * is sent. States are then without the list of players, which may be long. Default: states have it, and all events are sent.
   */
  readonly maxPlayerEvents?: number
  /** Set if several replicas share the servers: events then have the same ids on all of them. */
  readonly order?: SnapshotOrder
}

/**
 * Turns snapshots into events. Each event is encoded once, and the same bytes go to all clients.
 * @param maxClients maximum number of clients
 */
export function createEventHub(
  fleet: Fleet,
  clock: Clock,
  maxClients: number,
  {
    maintenanceOf = () => null,
    toState = (snapshot) => stateOf(snapshot, maintenanceOf(snapshot.server)),
    listsServers = false,
    maxPlayerEvents,
    order,
  }: EventHubOptions = {},
) {
  const log = createEventLog(maxRemembered, firstEventId(clock.wall()), order)
  const clients = new Set<EventClient>()
  const states = createPublishedStates(fleet, clock, toState, maxPlayerEvents === undefined)
  const sendToAll: SendEvents = (events, joined) => {
    for (const client of clients) client.send(events, joined)
  }
  const batch = createEventBatch(clock, sendToAll, () => clients.size)
  const turns = createTurns()
  /** False while there are no clients and none that may reconnect, so that snapshots are not compared. */
  let isAwake = false
  let cancelSleep = () => {}
  let dropped = 0
  let isClosed = false

  function publish(server: string, name: string, data: object, isShared = false): void {
    const event = new LiveEvent(log.nextId(isShared), server, name, data)
    log.add(event)
    if (clients.size > 0) batch.add(event)
  }

  function onSnapshot(snapshot: ServerSnapshot): void {
    if (!isAwake) {
      if (!order?.isWatched()) return
      // A client of another replica may continue here.
      wake()
      sleepLater()
    }
    const { server } = snapshot
    const before = states.get(server)
    const next = states.update(snapshot)
    // No client has been sent anything of it that could have changed.
    if (before === undefined) return
    for (const [name, data] of stateChanges(before, next, snapshot, maxPlayerEvents)) publish(server, name, data, true)
  }

  function onAdded(server: string): void {
    const watcher = fleet.get(server)
    if (!isAwake || watcher === undefined) return
    const { state, at } = states.update(watcher.snapshot())
    publish(server, 'snapshot', { at, ...state })
  }

  /** The state of a server is unknown until the first poll with its new settings, which may have another address. */
  function onChanged(server: string): void {
    const watcher = fleet.get(server)
    if (watcher !== undefined) onSnapshot(watcher.snapshot())
  }

  function onRemoved(server: string): void {
    if (!isAwake) return
    const before = states.get(server)
    const changed = before && difference(before.state, unknownState)
    states.delete(server)
    const at = Math.round(clock.wall())
    if (changed !== undefined) publish(server, 'change', { at, ...changed })
    if (listsServers) publish(server, 'removed', { at })
  }

  function wake(): void {
    cancelSleep()
    if (isAwake) return
    isAwake = true
    if (order !== undefined) void readStates().then(log.clear)
  }

  /** Reads the states of all servers, in slices: until then, events of other replicas are missing here. */
  async function readStates(): Promise<void> {
    const pauses = createPauses()
    for (const { server } of fleet.watchers) {
      if (pauses.isDue()) await pauses.take()
      states.read(server)
    }
  }

  function sleepLater(): void {
    cancelSleep()
    cancelSleep = clock.after(rememberMs, sleep)
  }

  function sleep(): void {
    if (order?.isWatched()) {
      sleepLater()
      return
    }
    isAwake = false
    states.clear()
    // A client that reconnects later must not be treated as one that has missed nothing.
    log.clear()
  }

  /** Shared by all clients: a map of thousands of servers for each of them would take megabytes. */
  const allPositions = perServers(fleet, (servers) => positionsOf(servers.map(({ name }) => name)))

  /** @param servers undefined: all */
  function allSnapshots(servers?: ReadonlySet<string>) {
    const positions = servers === undefined ? allPositions() : positionsOf(servers)
    // When it is sent: events of servers that are added until then are sent before.
    const list = () => {
      const names = (servers === undefined ? allPositions() : positions).keys()
      return JSON.stringify({ at: Math.round(clock.wall()), servers: [...names] })
    }
    return snapshotBacklog(positions, log, states, listsServers ? list : undefined)
  }

  function connect({ sink, servers, lastId }: ConnectOptions): void {
    wake()
    const createSnapshots = () => allSnapshots(servers)
    const client = createEventClient({
      sink,
      turns,
      pending: batch.pending,
      ...(servers && { servers }),
      backlog: lastId !== undefined && log.has(lastId) ? missedBacklog(log, lastId, servers, createSnapshots) : createSnapshots(),
      onLeave(reason) {
        if (reason === 'dropped') dropped++
        clients.delete(client)
        if (clients.size > 0 || isClosed) return
        sleepLater()
      },
    })
    clients.add(client)
    order?.watchFor(rememberMs)
    client.start()
  }

  function beat(): void {
    for (const client of clients) client.beat()
    if (clients.size > 0) order?.watchFor(rememberMs)
  }

  const unsubscribe = fleet.subscribe(onSnapshot)
  const unfollow = fleet.onChange(({ added, changed, replaced = [], removed }) => {
    for (const server of replaced) states.replace(server)
    // Changes that are pending are sent first: a client that has not been sent the state of a server yet needs none of them, but is
    // sent that the server is no longer watched.
    if (removed.length > 0) batch.flush()
    for (const server of removed) onRemoved(server)
    for (const server of added) onAdded(server)
    for (const server of changed) onChanged(server)
  })
  const cancelHeartbeat = repeat(clock, heartbeatMs, beat)

  return {
    /** Maximum number of clients. */
    maxClients,
    get isFull(): boolean {
      return clients.size >= maxClients
    },
    /** Sends the state of each server, or the events that the client missed, then every new event. */
    connect(options: ConnectOptions): void {
      if (isClosed) options.sink.end()
      else connect(options)
    },
    /** An id for `lastId` of a client that has been sent, in another way, the state that each server has after this resolves. */
    async resumeId(): Promise<number> {
      wake()
      if (clients.size === 0) sleepLater()
      await readStates()
      return log.endId()
    },
    metrics: () => ({ clients: clients.size, dropped }),
    /** Ends all streams. */
    close(): void {
      isClosed = true
      unsubscribe()
      unfollow()
      cancelHeartbeat()
      cancelSleep()
      batch.flush()
      for (const client of clients) client.end()
    },
  }
}

export type EventHub = ReturnType<typeof createEventHub>
