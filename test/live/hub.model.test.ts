import { EventEmitter } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import type { EventSink } from '../../src/live/client.ts'
import { createEventHub, type EventHub } from '../../src/live/hub.ts'
import { type LiveState, stateOf } from '../../src/live/state.ts'
import { createEventParser } from '../../src/web/client/event-parser.ts'
import { fakeFleet } from '../helpers/fake-fleet.ts'
import { manualClock } from '../helpers/manual-clock.ts'

// Each part of an output is written in a separate turn, so that everything else can happen in between.
vi.mock(import('../../src/util/pauses.ts'), async (original) => ({
  ...(await original()),
  createPauses: () => ({ isDue: () => true, take: () => setImmediate() }),
}))

const names = Array.from({ length: 30 }, (_, index) => `s${index}`)
/** The states of all servers take several writes. */
const motd = 'm'.repeat(3_000)

const server = fc.nat(names.length - 1)
const client = fc.nat(9)
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('change' as const), first: server, count: fc.integer({ min: 1, max: 25 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('connect' as const),
      servers: fc.option(fc.uniqueArray(server, { minLength: 1, maxLength: 5 }), { nil: undefined }),
      isSlow: fc.boolean(),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('turns' as const), count: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 100 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('drain' as const), client }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('cut' as const), client, received: fc.double({ min: 0, max: 1, noNaN: true }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('resume' as const), client }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), server }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('add' as const), server }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('configure' as const), server }) },
)

interface Message extends Partial<LiveState> {
  readonly server: string
  readonly servers?: readonly string[]
}

/** A client that connects again with the id of the last message that it has received. */
interface ReaderOptions {
  readonly hub: EventHub
  readonly servers: ReadonlySet<string> | undefined
  readonly isSlow: boolean
  readonly listsServers: boolean
  readonly isWatched: (server: string) => boolean
}

function createReader({ hub, servers, isSlow, listsServers, isWatched }: ReaderOptions) {
  const states = new Map<string, Partial<LiveState>>()
  let lastId: number | undefined
  let text = ''
  let dropped = false
  let sink: (EventEmitter & { writableLength: number }) | undefined

  function receive(event: string, { server, servers: list, ...data }: Message): void {
    if (event === 'servers') for (const name of states.keys()) if (!list?.includes(name)) states.delete(name)
    if (event === 'removed') states.delete(server)
    if (event === 'snapshot') states.set(server, data)
    if (event !== 'change') return
    const before = states.get(server)
    if (before === undefined) {
      // The client has removed it because it is no longer watched: docs/status-api.md.
      if (!listsServers) expect(data, `a change of ${server} before its state`).toMatchObject({ up: null })
      return
    }
    const { online } = before
    // Each change of a server adds one player. A server without a poll has an unknown number.
    if (typeof online === 'number' && typeof data.online === 'number') expect(data.online, server).toBe(online + 1)
    states.set(server, { ...before, ...data })
  }

  /** Reads a part of what has been sent. The rest is lost with the connection. */
  function read(received: number): void {
    let id = 0
    const parse = createEventParser(
      ({ event, data }) => receive(event, JSON.parse(data) as Message),
      (given) => {
        expect(Number(given)).toBeGreaterThan(id)
        id = Number(given)
        lastId = id
      },
    )
    parse(text.slice(0, Math.round(received * text.length)))
    text = ''
  }

  function cut(received: number): void {
    const own = sink
    if (own === undefined) return
    sink = undefined
    read(received)
    own.emit('close')
  }

  return {
    states,
    servers,
    connect() {
      if (sink !== undefined) return
      if (dropped) read(0.9)
      dropped = false
      // As if it had read /api/v1/servers: docs/status-api.md.
      for (const name of states.keys()) if (!listsServers && !isWatched(name)) states.delete(name)
      const own = Object.assign(new EventEmitter(), {
        writableLength: 0,
        socket: null,
        write(bytes: Buffer) {
          text += String(bytes)
          if (isSlow) own.writableLength += bytes.length
          return own.writableLength < 16_384
        },
        end() {},
        destroy: () => void own.emit('close'),
      })
      own.once('close', () => {
        if (sink !== own) return
        sink = undefined
        // Read later: the fleet would catch what is thrown here.
        dropped = true
      })
      sink = own
      const resumed = lastId === undefined ? {} : { lastId }
      hub.connect({ sink: own as unknown as EventSink, ...(servers && { servers }), ...resumed })
    },
    drain() {
      if (sink === undefined || sink.writableLength === 0) return false
      sink.writableLength = 0
      return sink.emit('drain')
    },
    cut,
    finish: () => read(1),
  }
}

const checked = fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 60 }), fc.boolean(), async (steps, listsServers) => {
  const clock = manualClock()
  let players = 0
  let groups = 0
  const counts = new Map<string, number>()
  const fleet = fakeFleet(Object.fromEntries(names.map((name) => [name, { status: { playersOnline: 0, motd } }])), clock)
  await fleet.pollAll()
  const all = fleet.servers
  const hub = createEventHub(fleet, clock, 50, { listsServers })
  const isWatched = (name: string) => fleet.get(name) !== undefined
  const readers: ReturnType<typeof createReader>[] = []

  async function change(index: number): Promise<void> {
    const name = names[index % names.length]!
    players = (counts.get(name) ?? 0) + 1
    counts.set(name, players)
    fleet.scripts[name] = { status: { playersOnline: players, motd } }
    await fleet.get(name)?.poll()
  }

  for (const one of steps) {
    if (one.kind === 'change') for (let count = 0; count < one.count; count++) await change(one.first + count)
    else if (one.kind === 'connect') {
      const servers = one.servers && new Set(one.servers.map((index) => names[index]!))
      const reader = createReader({ hub, servers, isSlow: one.isSlow, listsServers, isWatched })
      readers.push(reader)
      reader.connect()
    } else if (one.kind === 'turns') for (let turn = 0; turn < one.count; turn++) await setImmediate()
    else if (one.kind === 'wait') await clock.advance(one.ms)
    else if (one.kind === 'drain') readers[one.client]?.drain()
    else if (one.kind === 'cut') readers[one.client]?.cut(one.received)
    else if (one.kind === 'resume') readers[one.client]?.connect()
    else if (one.kind === 'configure') {
      const group = `group ${++groups}`
      fleet.update(fleet.servers.map((settings) => (settings.name === names[one.server] ? { ...settings, group } : settings)))
    } else {
      const isWanted = (name: string) => (name === names[one.server] ? one.kind === 'add' : fleet.get(name) !== undefined)
      fleet.update(all.filter(({ name }) => isWanted(name)))
    }
  }

  // Clients that have been cut off connect again, and all of them read everything.
  for (let turn = 0, idle = 0; idle < 20 && turn < 2_000; turn++) {
    for (const reader of readers) reader.connect()
    await clock.advance(10)
    await setImmediate()
    idle = readers.map((reader) => reader.drain()).includes(true) ? 0 : idle + 1
  }
  for (const { states, servers, finish } of readers) {
    finish()
    for (const name of servers ?? names) {
      const watcher = fleet.get(name)
      const state = states.get(name)
      if (watcher !== undefined) expect(state).toMatchObject(stateOf(watcher.snapshot()))
      else if (listsServers) expect(state, name).toBeUndefined()
      else expect(state?.up ?? null, name).toBeNull()
    }
  }
  hub.close()
  fleet.close()
})

/** A client is cut off before it has all states, and a server is removed before its state is sent again. */
const removedAfterReconnect: [(typeof step extends fc.Arbitrary<infer Step> ? Step : never)[], boolean] = [
  [
    { kind: 'connect', servers: undefined, isSlow: false },
    { kind: 'turns', count: 20 },
    { kind: 'cut', client: 0, received: 0.99 },
    { kind: 'resume', client: 0 },
    { kind: 'remove', server: 28 },
  ],
  false,
]

/** A server is removed while a change of it is pending, before its state is sent to a new client. */
const removedWhileConnecting: typeof removedAfterReconnect = [
  [
    { kind: 'connect', servers: undefined, isSlow: false },
    { kind: 'turns', count: 1 },
    { kind: 'change', first: 0, count: 12 },
    { kind: 'turns', count: 1 },
    { kind: 'connect', servers: undefined, isSlow: false },
    { kind: 'change', first: 14, count: 9 },
    { kind: 'cut', client: 0, received: 0 },
    { kind: 'remove', server: 22 },
  ],
  false,
]

/** A server is added again before the list of servers is sent to a new client. */
const addedWhileConnecting: typeof removedAfterReconnect = [
  [
    { kind: 'connect', servers: undefined, isSlow: false },
    { kind: 'remove', server: 11 },
    { kind: 'wait', ms: 0 },
    { kind: 'change', first: 0, count: 1 },
    { kind: 'connect', servers: undefined, isSlow: false },
    { kind: 'add', server: 11 },
    { kind: 'wait', ms: 0 },
  ],
  true,
]

it('sends each client the state of each server, then each change once and in order, whatever happens in between', async () => {
  await fc.assert(checked, { numRuns: 100, examples: [removedAfterReconnect, removedWhileConnecting, addedWhileConnecting] })
})
