import { EventEmitter } from 'node:events'
import pino from 'pino'
import { expect, it, onTestFinished } from 'vitest'
import { buildApp } from '../src/app.ts'
import { loadConfig } from '../src/config/config.ts'
import { SourceError } from '../src/game/errors.ts'
import type { Fields } from '../src/game/fields.ts'
import { createFleet } from '../src/game/fleet.ts'
import { MainThreadTracker } from '../src/game/sources/main-thread-activity.ts'
import type { Source } from '../src/game/sources/source.ts'
import type { EventSink } from '../src/live/client.ts'
import { createEventHub } from '../src/live/hub.ts'
import { stateOf } from '../src/live/state.ts'
import { silentLog } from '../src/util/log.ts'
import { createEventParser } from '../src/web/client/event-parser.ts'
import { testPoll } from './helpers/fake-fleet.ts'
import { manualClock } from './helpers/manual-clock.ts'

const steps = 500
const seed = Number(process.env.SEED ?? Date.now() % 1e9)

/** Mulberry32: 0 <= n < 1. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** What every part must show; null where unknown. */
interface Values {
  readonly up: unknown
  readonly responsive: unknown
  readonly tickRate: unknown
  readonly tickTimeMean: unknown
  readonly online: unknown
}

const rounded = (value: unknown, factor = 1) => (typeof value === 'number' ? Number((value * factor).toPrecision(7)) : null)
const pick = ({ up, responsive, tickRate, tickTimeMean, online }: Record<string, unknown>): Values => ({
  ...{ up, responsive, tickRate, tickTimeMean, online },
})

const serverAt = (port: number) => ({ name: 'Server', sources: { status: { address: { ...address, port } } } })
const address = { host: 'server.test', edition: 'java' } as const

type Mode = 'ok' | 'silent' | 'refused' | 'closed'

/** A server that runs 20 ticks per second, and two sources that are cut off from it at random, and count players differently. */
function createWorld(clock: ReturnType<typeof manualClock>) {
  const world = { ticks: 1_000, players: 0, isHung: false, version: '1.21.10', run: {}, status: 'ok' as Mode, rcon: 'ok' as Mode }
  const thread = new MainThreadTracker(1_000)
  /** Tick counters that the current run and connection have shown since the last failure. */
  let connection: object | undefined
  let lastRun: object | undefined
  let shown = 0
  const poll = (name: 'status' | 'rcon', read: () => Partial<Fields> | undefined): Source['poll'] => {
    return async (signal) => {
      const startedAt = clock.now()
      const fields = world[name] === 'ok' ? read() : undefined
      if (fields !== undefined) {
        return { source: name, at: clock.now(), fields, ...(name === 'rcon' && connection && { connection }) }
      }
      const failed = (error: SourceError) => {
        if (name === 'rcon') {
          connection = undefined
          shown = 0
          if (error.progress === 'accepted') thread.unanswered(startedAt, error)
          thread.failed(error)
        }
        return error
      }
      const mode = world[name]
      if (mode === 'refused' || mode === 'closed') throw failed(new SourceError(mode, `${name}.test: ${mode}`))
      const progress = mode === 'ok' ? ({ progress: 'accepted' } as const) : {}
      return new Promise((_, reject) =>
        signal.addEventListener('abort', () => reject(failed(new SourceError('timeout', `${name}.test: late`, progress)))),
      )
    }
  }
  const sources: readonly Source[] = [
    {
      ...{ name: 'status', target: 'status.test', close() {} },
      poll: poll('status', () => ({ version: world.version, playersOnline: world.players, latency: 0.01 })),
    },
    {
      ...{ name: 'rcon', target: 'rcon.test', close() {}, mainThread: () => thread.activity() },
      poll: poll('rcon', () => {
        if (world.isHung) return undefined
        if (lastRun !== world.run) [connection, shown] = [undefined, 0]
        lastRun = world.run
        connection ??= {}
        shown++
        thread.answered(clock.now(), clock.now())
        return {
          ...{
            tickCount: { ticks: Math.floor(world.ticks), at: clock.now() },
            tickDurationMean: 0.01 + (world.ticks % 7) / 1_000,
          },
          ...{ playersOnline: world.players + 1, tickRateTarget: 20, tickSprinting: false, tickFrozen: false },
        }
      }),
    },
  ]
  return { world, sources, areCountersComparable: () => shown > 1 }
}

function followEvents(hub: ReturnType<typeof createEventHub>) {
  let state: Record<string, unknown> = {}
  const changes: string[] = []
  const parse = createEventParser(
    ({ event, data }) => {
      if (event === 'snapshot') state = JSON.parse(data)
      else if (event === 'change') state = { ...state, ...JSON.parse(data) }
      else if (event === 'up' || event === 'down') changes.push(event)
    },
    () => {},
  )
  const write = (bytes: Buffer) => {
    parse(String(bytes))
    return true
  }
  const sink = Object.assign(new EventEmitter(), { writableLength: 0, socket: null, write, end() {}, destroy() {} })
  hub.connect({ sink: sink as unknown as EventSink })
  return { state: () => state, changes }
}

it(`shows the same values everywhere in each of ${steps} steps (SEED=${seed})`, { timeout: 300_000 }, async () => {
  const random = randomOf(seed)
  const oneOf = <T>(...values: readonly T[]): T => values[Math.floor(random() * values.length)] as T
  const clock = manualClock()
  const { world, sources, areCountersComparable } = createWorld(clock)
  const fleet = createFleet({
    servers: [serverAt(1)],
    ...{ poll: testPoll, clock, log: silentLog, random },
    createSources: () => ({ list: () => sources, close() {} }),
  })
  const config = loadConfig({ env: {}, watches: false })
  const app = await buildApp({ config, fleet, clock, logger: pino({ level: 'silent' }) })
  const hub = createEventHub(fleet, clock, 1)
  onTestFinished(async () => {
    hub.close()
    fleet.close()
    await app.close()
  })
  const events = followEvents(hub)
  const get = async (path: string) => app.inject(path)
  fleet.start()
  const expectedChanges: string[] = []
  let lastKnownUp: boolean | undefined
  fleet.subscribe(({ up }) => {
    if (up !== undefined && lastKnownUp === !up) expectedChanges.push(up ? 'up' : 'down')
    lastKnownUp = up ?? lastKnownUp
  })

  /** Time passes for the server too. */
  async function advance(milliseconds: number): Promise<void> {
    for (let passed = 0; passed < milliseconds; passed += 50) {
      await clock.advance(50)
      if (!world.isHung) world.ticks += 1
    }
  }

  const series = { players: 'online', tickRate: 'tickRate', tickTimeMean: 'tickTimeMean' } as const
  /** Wall times since which each value has not been known. */
  const unknownSince: Record<string, number> = {}
  // A value may be known for a moment between two steps.
  fleet.subscribe((snapshot) => {
    const state = stateOf(snapshot)
    for (const [name, member] of Object.entries(series)) if (state[member] !== null) delete unknownSince[name]
  })
  const seen = { rates: 0, hung: 0, unknown: 0, down: 0 }

  for (let step = 1; step <= steps; step++) {
    const where = `step ${step}, SEED=${seed}`
    if (random() < 0.3) world.status = oneOf<Mode>('ok', 'ok', 'silent', 'refused', 'closed')
    if (random() < 0.3) world.rcon = oneOf<Mode>('ok', 'ok', 'ok', 'silent', 'refused', 'closed')
    if (random() < 0.1) world.isHung = !world.isHung
    if (random() < 0.2) world.players = Math.floor(random() * 30)
    if (random() < 0.05) {
      // A restart, or another server at the same address.
      world.run = {}
      world.ticks = oneOf(world.ticks, Math.max(0, world.ticks - 40), 1_000_000 * random())
      world.version = oneOf('1.21.10', '1.21.11')
    }
    const isReplaced = random() < 0.02
    if (isReplaced) {
      fleet.update([serverAt(step + 1)])
      lastKnownUp = undefined
    } else await advance(50 * Math.ceil(random() * oneOf(10, 100, 400)))
    const watcher = fleet.watchers[0]!
    const snapshot = watcher.snapshot()

    const page = (await get('/page/servers/Server')).json<{ server: { state: Record<string, unknown> } }>().server.state
    const text = (await get('/metrics')).body
    const metric = (name: string) => {
      const value = new RegExp(`^${name}\\{server="Server"\\} (\\S+)$`, 'm').exec(text)?.[1]
      return value === undefined ? null : Number(value)
    }
    const flag = (value: number | null) => (value === null ? null : value === 1)
    const values: Values = {
      up: flag(metric('minecraft_up')),
      responsive: flag(metric('minecraft_main_thread_responsive')),
      tickRate: rounded(metric('minecraft_tick_rate')),
      tickTimeMean: rounded(metric('minecraft_tick_duration_mean_seconds'), 1_000),
      online: metric('minecraft_players_online'),
    }
    expect(pick(page), where).toEqual(values)
    expect(pick(events.state()), where).toEqual(values)
    expect(watcher.snapshot(), where).toBe(snapshot)

    const sourcesReply = (await get('/api/v1/sources')).json<{ state: string }>()
    const stateName = values.responsive === false ? 'hung' : values.up === null ? 'unknown' : values.up ? 'up' : 'down'
    expect(sourcesReply.state, where).toBe(stateName)
    const all = await get('/api/v1/getall')
    // A failed poll is shown at once, while the last values are served until they are stale.
    const isServed = values.up !== null && clock.now() - (snapshot.lastContact?.at ?? -Infinity) < testPoll.staleAfter
    expect(all.statusCode, where).toBe(isServed ? 200 : 503)
    if (values.up === true) {
      const { TICK_TIME, METADATA } = all.json<{ TICK_TIME: number | null; METADATA: { PLAYERS: { ONLINE: number | null } } }>()
      expect({ tickTimeMean: TICK_TIME, online: METADATA.PLAYERS.ONLINE }, where).toEqual({
        ...{ tickTimeMean: values.tickTimeMean, online: values.online },
      })
    }

    const history = (await get(`/api/v1/history?series=${Object.keys(series).join()}&range=1h&points=360`)).json<{
      readonly to: number
      readonly step: number
      readonly series: Record<string, Record<'min' | 'max', (number | null)[]>>
    }>()
    for (const [name, member] of Object.entries(series)) {
      const value = values[member]
      const { min, max } = history.series[name]!
      // At the very start of a bucket nothing is in it yet, unless a poll has just ended.
      const last = clock.wall() % history.step === 0 && min.at(-1) === null ? -2 : -1
      const [low, high] = [min.at(last), max.at(last)]
      if (typeof value === 'number') {
        delete unknownSince[name]
        expect(low, `${name}, ${where}`).toBeLessThanOrEqual(value * 1.002 + 0.001)
        expect(high, `${name}, ${where}`).toBeGreaterThanOrEqual(value * 0.998 - 0.001)
      } else {
        unknownSince[name] ??= clock.wall()
        if (unknownSince[name] < history.to + last * history.step) expect(low, `${name}, ${where}`).toBeNull()
      }
    }

    if (isReplaced) expect(values.up, where).toBeNull()
    expect(events.changes, where).toEqual(expectedChanges)
    if (values.up !== true) expect([values.tickRate, values.tickTimeMean, values.online], where).toEqual([null, null, null])
    if (values.responsive === false) expect([values.tickRate, values.tickTimeMean], where).toEqual([null, null])
    if (typeof values.tickRate === 'number') {
      expect(values.tickRate, where).toBeLessThan(25)
      seen.rates++
    }
    if (!areCountersComparable() && snapshot.fields.tickCount?.value.at === clock.now()) expect(values.tickRate, where).toBeNull()
    seen.hung += Number(values.responsive === false)
    seen.unknown += Number(values.up === null)
    seen.down += Number(values.up === false)
  }

  expect(Math.min(...Object.values(seen)), JSON.stringify(seen)).toBeGreaterThan(0)
})
