import type { ServerResponse } from 'node:http'
import type { Clock } from '../clock.ts'
import type { Fleet } from '../game/fleet.ts'
import type { ServerSnapshot } from '../game/snapshot.ts'
import type { Watcher } from '../game/watcher/index.ts'
import { createEventLog, firstEventId, type LiveEvent } from './event-log.ts'
import { playerChanges } from './player-changes.ts'
import { difference, downReason, type LiveState, stateOf, type ToState, wallOf } from './state.ts'

const maxRemembered = 1_000
const heartbeatMs = 15_000
/** Unsent bytes after which a client is dropped. */
const maxUnsent = 256 * 1024
/** Unsent bytes after which snapshots and missed events wait until the client has read some of them. */
const maxBurst = 64 * 1024
/** Events within `batchMs` that are sent one by one. Further ones are collected and sent to each client in one write. */
const maxSingle = 20
const batchMs = 50
const heartbeat = Buffer.from(':\n\n')

/** The part of `ServerResponse` that is used to write events. */
export type EventSink = Pick<ServerResponse, 'write' | 'end' | 'destroy' | 'writableLength' | 'once' | 'socket'>

export interface ClientOptions {
  readonly sink: EventSink
  /** Names of the servers whose events are sent; default: all. */
  readonly servers?: ReadonlySet<string>
  /** Id of the last event that the client received. */
  readonly lastId?: number
}

/** Metrics of the event clients. */
export interface EventMetrics {
  readonly clients: number
  readonly dropped: number
}

export interface EventHub {
  readonly isFull: boolean
  /** Maximum number of clients. */
  readonly maxClients: number
  /** Sends the state of each server, or the events that the client missed, then every new event. */
  connect(client: ClientOptions): void
  metrics(): EventMetrics
  /** Ends all streams. */
  close(): void
}

/** The sum of the metrics of several hubs. */
export function sumEventMetrics(hubs: readonly Pick<EventHub, 'metrics'>[]): EventMetrics {
  const all = hubs.map((hub) => hub.metrics())
  return {
    clients: all.reduce((sum, { clients }) => sum + clients, 0),
    dropped: all.reduce((sum, { dropped }) => sum + dropped, 0),
  }
}

interface Client {
  /** @param joined the bytes of all events */
  send(events: readonly LiveEvent[], joined: () => Buffer): void
  beat(): void
  end(): void
}

/** Encoded when it is first sent, which is rare while there are no clients. */
class EncodedEvent implements LiveEvent {
  readonly id: number
  readonly server: string
  #bytes: Buffer | (() => Buffer)

  constructor(id: number, server: string, encode: () => Buffer) {
    this.id = id
    this.server = server
    this.#bytes = encode
  }

  get bytes(): Buffer {
    if (typeof this.#bytes === 'function') this.#bytes = this.#bytes()
    return this.#bytes
  }
}

const unknownState = stateOf({ server: '', at: 0, fields: {}, sources: [], polls: {} }, 0)

interface Published {
  readonly state: LiveState
  readonly at: number
  /** The last full player list, kept while the list is unknown. */
  readonly players: LiveState['players']
}

export interface EventHubOptions {
  /** Converts a snapshot into what is sent; default: the state. */
  readonly toState?: ToState
  /**
   * Also sends `servers`, the names of all servers, before their snapshots, and `removed` for a server that is no longer watched.
   * Otherwise such a server only becomes unknown. Default: false.
   */
  readonly listsServers?: boolean
}

/**
 * Turns snapshots into events. Each event is encoded once, and the same bytes go to all clients.
 * @param maxClients maximum number of clients
 */
export function createEventHub(
  fleet: Fleet,
  clock: Clock,
  maxClients: number,
  { toState = stateOf, listsServers = false }: EventHubOptions = {},
): EventHub {
  const log = createEventLog(maxRemembered, firstEventId(clock.wall()))
  const clients = new Set<Client>()
  const published = new Map<string, Published>()
  let dropped = 0
  let closed = false
  let cancelHeartbeat = () => {}
  let batch: LiveEvent[] = []
  let batchBytes = 0
  let cancelFlush = () => {}
  /** End of the time window in which events are counted, and their number. */
  let windowEnd = Number.NEGATIVE_INFINITY
  let inWindow = 0

  const encode = (id: number, event: string, data: object): Buffer =>
    Buffer.from(`id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`)

  function publish(server: string, name: string, data: object): void {
    const id = log.nextId()
    const event = new EncodedEvent(id, server, () => encode(id, name, { server, ...data }))
    log.add(event)
    if (clients.size === 0) return
    const now = clock.now()
    if (now >= windowEnd) openWindow(now, 0)
    if (batch.length === 0 && ++inWindow <= maxSingle) {
      for (const client of clients) client.send([event], () => event.bytes)
      return
    }
    batch.push(event)
    batchBytes += event.bytes.length
    if (batchBytes >= maxBurst) flush()
    else if (batch.length === 1) cancelFlush = clock.after(windowEnd - now, flush)
  }

  /** @param events those collected in the previous window: after many of them the next ones are collected too */
  function openWindow(now: number, events: number): void {
    windowEnd = now + batchMs
    inWindow = events
  }

  /** Sends the collected events. */
  function flush(): void {
    if (batch.length === 0) return
    const events = batch
    batch = []
    batchBytes = 0
    cancelFlush()
    openWindow(clock.now(), events.length)
    let bytes: Buffer | undefined
    const joined = () => {
      bytes ??= Buffer.concat(events.map((event) => event.bytes))
      return bytes
    }
    for (const client of clients) client.send(events, joined)
  }

  function read(snapshot: ServerSnapshot): Published {
    const staleAfter = fleet.get(snapshot.server)?.settings.staleAfter ?? Number.POSITIVE_INFINITY
    const state = toState(snapshot, staleAfter)
    return { state, at: wallOf(snapshot, clock), players: state.players ?? published.get(snapshot.server)?.players ?? null }
  }

  function onSnapshot(snapshot: ServerSnapshot): void {
    const { server } = snapshot
    const before = publishedOf(server)
    const next = read(snapshot)
    published.set(server, next)
    const { state, at } = next
    const changed = difference(before.state, state)
    if (changed === undefined) return
    publish(server, 'change', { at, ...changed })
    if (changed.up === true) publish(server, 'up', { at })
    if (changed.up === false) publish(server, 'down', { at, error: downReason(snapshot) })
    if (before.players === null || state.players === null) return
    const { joined, left } = playerChanges(before.players, state.players)
    for (const player of left) publish(server, 'leave', { at, player })
    for (const player of joined) publish(server, 'join', { at, player })
  }

  /** What has been sent of the server so far. */
  const publishedOf = (server: string): Published =>
    published.get(server) ?? { state: unknownState, at: Math.round(clock.wall()), players: null }

  function onAdded(watcher: Watcher): void {
    const next = read(watcher.snapshot())
    published.set(watcher.server, next)
    publish(watcher.server, 'snapshot', { at: next.at, ...next.state })
  }

  function onRemoved(server: string): void {
    const changed = difference(publishedOf(server).state, unknownState)
    published.delete(server)
    const at = Math.round(clock.wall())
    if (changed !== undefined) publish(server, 'change', { at, ...changed })
    if (listsServers) publish(server, 'removed', { at })
  }

  function* snapshots(servers: ReadonlySet<string>, sent: Set<string>): Generator<Buffer> {
    let id: number | undefined
    if (listsServers) {
      id = log.nextId()
      yield encode(id, 'servers', { at: Math.round(clock.wall()), servers: [...servers] })
    }
    for (const server of servers) {
      // Removed while the others were being sent.
      if (!published.has(server)) continue
      id = log.nextId()
      sent.add(server)
      const { state, at } = publishedOf(server)
      yield encode(id, 'snapshot', { server, at, ...state })
    }
    if (id !== undefined) log.mark(id)
  }

  function* missed(from: number, accepts: (event: LiveEvent) => boolean): Generator<Buffer> {
    let id = from
    for (let event = log.next(id); event !== undefined; event = log.next(id)) {
      id = event.id
      if (accepts(event)) yield event.bytes
    }
  }

  function connect({ sink, servers, lastId }: ClientOptions): void {
    // The collected events are older than what the client receives first.
    flush()
    const wanted = servers ?? new Set(fleet.watchers.map(({ server }) => server))
    const resumes = lastId !== undefined && log.has(lastId)
    const sent = new Set<string>()
    const isWanted = ({ server }: LiveEvent) => servers === undefined || servers.has(server)
    /** What is written before new events; undefined once that is done. */
    let backlog: Generator<Buffer> | undefined = resumes ? missed(lastId, isWanted) : snapshots(wanted, sent)
    let waitsSince = -1

    const drop = () => {
      dropped++
      leave()
      sink.destroy()
    }
    const leave = () => void clients.delete(client)
    const write = (bytes: Buffer) => {
      sink.write(bytes)
      if (sink.writableLength > maxUnsent) drop()
    }
    const pump = () => {
      // As above: the backlog continues with the newest states.
      flush()
      while (backlog !== undefined && clients.has(client)) {
        if (sink.writableLength > maxBurst) {
          sink.once('drain', pump)
          return
        }
        const { value, done } = backlog.next()
        if (done) backlog = undefined
        else write(value)
      }
    }
    const client: Client = {
      send(events, joined) {
        if (servers === undefined && backlog === undefined) {
          write(joined())
          return
        }
        const own = events.filter((event) => {
          if (!isWanted(event)) return false
          // The rest of the backlog contains this event or the state after it, but nothing of a server that was added since.
          const isAhead = sent.has(event.server) || !wanted.has(event.server) || !published.has(event.server)
          return backlog === undefined || (!resumes && isAhead)
        })
        if (own.length > 0) write(Buffer.concat(own.map(({ bytes }) => bytes)))
      },
      beat() {
        const written = sink.socket?.bytesWritten ?? 0
        if (sink.writableLength > 0 && written === waitsSince) return drop()
        waitsSince = written
        write(heartbeat)
      },
      end() {
        leave()
        sink.end()
      },
    }
    clients.add(client)
    sink.once('close', leave)
    sink.once('error', leave)
    pump()
  }

  function beat(): void {
    for (const client of clients) client.beat()
    cancelHeartbeat = clock.after(heartbeatMs, beat)
  }

  const unsubscribe = fleet.subscribe(onSnapshot)
  const unfollow = fleet.onChange(({ added, removed }) => {
    for (const server of removed) onRemoved(server)
    for (const watcher of added.map(fleet.get)) if (watcher !== undefined) onAdded(watcher)
  })
  for (const watcher of fleet.watchers) published.set(watcher.server, read(watcher.snapshot()))
  cancelHeartbeat = clock.after(heartbeatMs, beat)

  return {
    maxClients,
    get isFull() {
      return clients.size >= maxClients
    },
    connect(options) {
      if (closed) options.sink.end()
      else connect(options)
    },
    metrics: () => ({ clients: clients.size, dropped }),
    close() {
      closed = true
      unsubscribe()
      unfollow()
      cancelHeartbeat()
      flush()
      for (const client of clients) client.end()
    },
  }
}
