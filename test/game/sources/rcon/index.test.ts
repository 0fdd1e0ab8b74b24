import { afterEach, describe, expect, it } from 'vitest'
import { type DemoOptions, type DemoServer, startDemoServer } from '../../../../src/demo/demo-server.ts'
import { SourceError } from '../../../../src/game/errors.ts'
import type { Fields } from '../../../../src/game/fields.ts'
import { type Network, systemNetwork } from '../../../../src/game/network.ts'
import { rconCommands } from '../../../../src/game/protocol/rcon/commands.ts'
import { RconSource } from '../../../../src/game/sources/rcon/rcon-source.ts'
import type { Source } from '../../../../src/game/sources/source.ts'
import { createConnectBackoffs } from '../../../../src/game/watcher/connect-backoff.ts'
import { SourceWatcher } from '../../../../src/game/watcher/index.ts'
import { type Clock, systemClock } from '../../../../src/util/clock.ts'
import { type Log, silentLog } from '../../../../src/util/log.ts'
import { manualClock } from '../../../helpers/manual-clock.ts'
import { acceptLogin, listenRconPeer, packet, type RconPeer, type Request } from '../../../helpers/rcon-peer.ts'
import { freeDemoPorts } from '../../../helpers/run-tool.ts'
import { until } from '../../../helpers/until.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup()
})

const context = (clock: Clock = systemClock, log: Log = silentLog) => ({
  clock,
  log,
  random: () => 0,
  push() {},
  connectBackoff: createConnectBackoffs(clock, () => 0).acquire,
})

function sourceOf(address: { host: string; port: number }, password: string, clock?: Clock, log?: Log) {
  const source = new RconSource({ address, password }, context(clock, log))
  cleanups.push(() => source.close())
  return source
}

/** A watcher of the source alone, which is polled by hand. */
function watcherOf(source: Source, clock: Clock = systemClock) {
  const settings = { interval: 20_000, timeout: 20_000, staleAfter: 60_000 }
  const sources = () => ({ list: () => [source], close: () => source.close() })
  const watcher = new SourceWatcher({ server: 'a', settings, clock, log: silentLog, random: () => 0, sources })
  cleanups.push(() => watcher.close())
  return watcher
}

async function demo(options: DemoOptions): Promise<DemoServer & { readonly commands: string[] }> {
  const commands: string[] = []
  const server = await startDemoServer({ ...options, onCommand: (command) => commands.push(command) })
  cleanups.push(() => server.close())
  return { ...server, commands }
}

async function peerWith(answer: (request: Request) => void, onLogin = acceptLogin): Promise<RconPeer> {
  const peer = await listenRconPeer(answer, onLogin)
  cleanups.push(() => peer.close())
  return peer
}

/** A poll as the watcher makes it, with a deadline. */
function poll(source: ReturnType<typeof sourceOf>, timeout = 20_000) {
  const deadline = new AbortController()
  const timer = setTimeout(() => deadline.abort(new SourceError('timeout', 'too late')), timeout)
  return source.poll(deadline.signal).finally(() => clearTimeout(timer))
}

const failure = (promise: Promise<unknown>): Promise<SourceError> =>
  promise.then(
    () => Promise.reject(new Error('it should have failed')),
    (error: SourceError) => error,
  )

/** Enough polls for every command to have had its turn. */
async function pollAll(source: ReturnType<typeof sourceOf>): Promise<Partial<Fields>> {
  let fields: Partial<Fields> = {}
  for (let turn = 0; turn < 10; turn++) fields = (await poll(source)).fields
  return fields
}

/** A server with these replies; all other commands are unknown. */
const replying =
  (replies: Readonly<Record<string, string>>, type = 0) =>
  ({ socket, id, type: requested, body }: Request) => {
    const text =
      requested === 100 ? 'Unknown request 64' : (replies[body] ?? 'Unknown or incomplete command, see below for error<--[HERE]')
    const count = Math.max(1, Math.ceil(text.length / 4096))
    for (let piece = 0; piece < count; piece++) socket.write(packet(id, type, text.slice(piece * 4096, (piece + 1) * 4096)))
  }

const uuid = (index: number) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`
const listOf = (names: readonly string[]) =>
  `There are ${names.length} of a max of 500 players online: ${names.map((name, index) => `${name} (${uuid(index)})`).join(', ')}`

describe('the replies of each era', () => {
  const ring = '. Sample: 100'
  const tick = (state: string, tail: string) =>
    `${state}Target tick rate: 20.0 per second.\nAverage time per tick: 12.3ms (Target: 50.0ms)Percentiles: P50: 11.1ms P95: 19.7ms P99: 423.9ms${tail}`
  const ticks = {
    tickDurationMean: 0.0123,
    tickDurationP50: 0.0111,
    tickDurationP95: 0.0197,
    tickDurationP99: 0.4239,
    tickRateTarget: 20,
    tickFrozen: false,
    tickSprinting: false,
  }
  const alice = { name: 'Alice', id: uuid(0) }
  const players = { playersOnline: 1, playersMax: 20, players: { players: [alice], complete: true } }
  const classic = {
    'time query gametime': 'The time is 123456',
    'time query daytime': 'The time is 3456',
    'time query day': 'The time is 5',
  }
  const clocks = {
    'time query gametime': 'The game time is 123456 tick(s)',
    'time query time': 'Clock minecraft:overworld is at 123456 tick(s)',
    'time query day repetition': 'Timeline minecraft:day has passed 5 repetition(s)',
  }
  const world = { tickCount: { ticks: 123_456, at: expect.any(Number) }, worldTimeOfDay: 3456, worldDay: 5 }
  const since1_16 = { 'list uuids': `There are 1 of a max of 20 players online: Alice (${uuid(0)})` }
  const difficulty = { difficulty: 'The difficulty is Hard' }

  it.each<readonly [string, Readonly<Record<string, string>>, object]>([
    [
      '1.12.2',
      {
        ...classic,
        'time query gametime': 'Time is 123456',
        'time query daytime': 'Time is 3456',
        'time query day': 'Time is 5',
        'list uuids': `There are 1/20 players online:Alice (${uuid(0)})`,
        difficulty: 'Usage: /difficulty <new difficulty>',
      },
      { ...world, ...players },
    ],
    [
      '1.14.4',
      { ...classic, ...difficulty, 'list uuids': `There are 1 of a max 20 players online: Alice (${uuid(0)})` },
      { ...world, ...players, difficulty: 'hard' },
    ],
    [
      '1.20.4',
      { ...classic, ...difficulty, ...since1_16, 'tick query': tick('The game runs normally', ', sample: 100') },
      { ...world, ...players, ...ticks, difficulty: 'hard' },
    ],
    [
      '1.21.11',
      {
        ...classic,
        ...difficulty,
        ...since1_16,
        'tick query': tick('The game is running normally', ring),
        version:
          'Server version info:id = 1.21.11name = 1.21.11data = 4671series = mainprotocol = 774 (0x306)build_time = x' +
          'pack_resource = 75.0pack_data = 94.1stable = yes',
      },
      { ...world, ...players, ...ticks, difficulty: 'hard', version: '1.21.11', protocol: 774 },
    ],
    [
      '26.3',
      {
        ...clocks,
        ...difficulty,
        ...since1_16,
        'tick query': tick('The game is running normally', ring).replaceAll(/(\d)\.(\d)/g, '$1,$2'),
      },
      { ...world, ...players, ...ticks, worldTimeOfDay: 3456, difficulty: 'hard' },
    ],
    [
      'Paper 1.19.4',
      {
        ...classic,
        ...difficulty,
        ...since1_16,
        tps: '§6TPS from last 1m, 5m, 15m: §a*20.0§r, §a19.87§r, §a18.5\n',
        mspt: '§6Server tick times §e(§7avg§e/§7min§e/§7max§e)§6 from last 5s§7,§6 10s§7,§6 1m§e:\n§6◴ §a12.3§7/§a9.9§7/§a13.4§e, §a2.0§7/§a0.9§7/§a3.4§e, §a2.0§7/§a0.9§7/§a3.4\n',
      },
      {
        ...world,
        ...players,
        difficulty: 'hard',
        tickDurationMean: 0.0123,
        paperTickRates: { '1m': 20, '5m': 19.87, '15m': 18.5 },
      },
    ],
    [
      'Forge 1.20.1',
      {
        ...classic,
        ...since1_16,
        'forge tps':
          'Dim minecraft:overworld (minecraft:overworld): Mean tick time: 0.520 ms. Mean TPS: 20.000Overall: Mean tick time: 12.345 ms. Mean TPS: 20.000',
      },
      {
        ...world,
        ...players,
        tickDurationMean: 0.012345,
        dimensions: [{ name: 'minecraft:overworld', tickDurationMean: 0.00052, tickRate: 20 }],
      },
    ],
    [
      'Cuberite',
      { 'list uuids': 'Players (2): Bot0, Bot1', tps: 'Global TPS: 20\nWorld "world": 19.96 TPS' },
      { playersOnline: 2, players: { players: [{ name: 'Bot0' }, { name: 'Bot1' }], complete: true } },
    ],
  ])('%s are right to the last digit', async (name, replies, expected) => {
    const peer = await peerWith(replying(replies, name === 'Cuberite' ? 2 : 0))
    const { tickRate, tickPaused, ...fields } = await pollAll(sourceOf(peer.address, 'secret'))
    expect(fields).toEqual(expected)
  })

  it('are read after an update of the server to the commands of another era, and back', async () => {
    const [later, earlier] = ['Clock minecraft:overworld is at 54000 tick(s)', 'The time is 3456']
    let replies: Readonly<Record<string, string>> = classic
    const peer = await peerWith((request) => replying(replies)(request))
    const source = sourceOf(peer.address, 'secret')
    for (const [updated, worldTimeOfDay] of [
      [classic, 3456],
      [{ ...clocks, 'time query time': later }, 6000],
      [{ ...classic, 'time query daytime': earlier }, 3456],
    ] as const) {
      replies = updated
      for (const socket of peer.sockets) socket.destroy()
      await until(async () => (await poll(source).catch(() => undefined)) !== undefined)
      expect(await pollAll(source)).toMatchObject({ worldTimeOfDay, worldDay: 5 })
    }
  })

  it('are read from the demo server: every era and software, with every command from the list', async () => {
    for (const [era, software] of [
      ['1.12.2', 'vanilla'],
      ['1.13.2', 'vanilla'],
      ['1.16.5', 'forge'],
      ['1.20.2', 'paper'],
      ['1.20.4', 'vanilla'],
      ['1.21.8', 'neoforge'],
      ['1.21.11', 'paper'],
      ['26.1', 'vanilla'],
      ['26.3', 'vanilla'],
    ] as const) {
      const warnings: unknown[] = []
      const server = await demo({ era, software, scenario: 'steady', players: 7 })
      const source = sourceOf(server.rcon.address, server.rcon.password, systemClock, {
        ...silentLog,
        warn: (...line: unknown[]) => warnings.push(line),
      })
      const fields = await pollAll(source)
      const { world } = server
      expect(fields.players?.players.map(({ name }) => name).sort(), era).toEqual(
        world
          .players()
          .map(({ name }) => name)
          .sort(),
      )
      expect(fields.tickCount?.ticks, era).toBeGreaterThan(0)
      expect(Math.abs((fields.tickCount?.ticks ?? 0) - world.gameTime())).toBeLessThan(100)
      expect(fields.worldDay, era).toBeTypeOf('number')
      expect(fields.worldTimeOfDay, era).toBeTypeOf('number')
      expect(fields.difficulty).toBe(era === '1.12.2' ? undefined : 'normal')
      if (era >= '1.20.4')
        expect(fields, era).toMatchObject({ tickRateTarget: 20, tickFrozen: false, tickDurationP99: expect.any(Number) })
      expect(fields.paperTickRates !== undefined, era).toBe(software === 'paper')
      expect(fields.dimensions?.length, era).toBe(software.endsWith('forge') ? 3 : undefined)
      expect(warnings, era).toEqual([])
      for (const command of server.commands) expect(rconCommands).toContain(command)
      expect(server.commands.includes('version'), era).toBe(software !== 'paper')
    }
  })
})

describe('the commands', () => {
  it('are at most four in a poll, and an unknown one is not sent again soon on the same connection', async () => {
    const peer = await peerWith(
      replying({ 'time query gametime': 'The time is 5', 'list uuids': 'There are 0 of a max of 20 players online: ' }),
    )
    const source = sourceOf(peer.address, 'secret')
    for (let turn = 1; turn <= 12; turn++) {
      const before = peer.commands.length
      await poll(source)
      expect(peer.commands.length - before).toBeLessThanOrEqual(4)
    }
    for (const once of ['tick query', 'tps', 'mspt', 'forge tps', 'neoforge tps', 'version', 'difficulty']) {
      expect(
        peer.commands.filter((command) => command === once),
        once,
      ).toHaveLength(1)
    }
    for (const always of ['time query gametime', 'list uuids']) {
      expect(
        peer.commands.filter((command) => command === always),
        always,
      ).toHaveLength(12)
    }
    for (const socket of peer.sockets) socket.destroy()
    await until(async () => (await poll(source).catch(() => undefined)) !== undefined)
    expect(peer.logins).toBe(2)
    expect(peer.commands.filter((command) => command === 'tick query')).toHaveLength(2)
  })

  it('are sent again after "Unknown command": at once if understood before, since the reply may be that to another client', async () => {
    const clock = manualClock()
    const unknown = new Set<string>()
    const reply = replying({
      'time query gametime': 'The time is 5',
      'list uuids': listOf(['Alice']),
      tps: 'TPS from last 1m, 5m, 15m: 20.0, 20.0, 20.0',
    })
    const peer = await peerWith((request) => (unknown.delete(request.body) ? replying({})(request) : reply(request)))
    const source = sourceOf(peer.address, 'secret', clock)
    const pollLater = async () => {
      await clock.advance(5_000)
      return (await poll(source)).fields
    }
    for (let turn = 0; turn < 10; turn++) await pollLater()
    const all = { tickCount: { ticks: 5 }, players: { players: [{ name: 'Alice' }] }, paperTickRates: { '1m': 20 } }
    expect(await pollLater()).toMatchObject(all)
    for (const command of ['time query gametime', 'list uuids', 'tps']) {
      for (let stray = 0; stray < 5; stray++) {
        unknown.add(command)
        while (unknown.size > 0) await pollLater()
        expect(await pollLater(), command).toMatchObject(all)
      }
    }
    expect(peer.commands).not.toContain('minecraft:list uuids')
    expect(peer.commands).not.toContain('version')
    expect(peer.logins).toBe(1)
  })

  it('that no reply was understood to are sent again after a minute, later after at most ten minutes', async () => {
    const clock = manualClock()
    const replies: Record<string, string> = { 'time query gametime': 'The time is 5' }
    const peer = await peerWith((request) => replying(replies)(request))
    const source = sourceOf(peer.address, 'secret', clock)
    const sentAt: number[] = []
    let fields: Partial<Fields> = {}
    const pollUntil = async (end: number) => {
      while (clock.now() < end) {
        const before = peer.commands.length
        fields = (await poll(source)).fields
        if (peer.commands.slice(before).includes('tick query')) sentAt.push(clock.now())
        await clock.advance(5_000)
      }
    }
    await pollUntil(3_600_000)
    const minutes = sentAt.slice(1).map((at, index) => (at - sentAt[index]!) / 60_000)
    expect(minutes).toEqual([1, 2, 4, 8, 10, 10, 10, 10])
    replies['list uuids'] = listOf(['Alice'])
    replies['tick query'] =
      'The game is running normallyTarget tick rate: 20.0 per second.\nAverage time per tick: 1.2ms (Target: 50.0ms)Percentiles: P50: 1.1ms P95: 1.9ms P99: 2.3ms. Sample: 100'
    await pollUntil(4_300_000)
    expect(fields).toMatchObject({ playersOnline: 1, tickDurationMean: 0.0012, tickCount: { ticks: 5 } })
    expect(peer.logins).toBe(1)
  })

  it('whose reply is not understood are logged once, truncated, and do not affect the others', async () => {
    const warnings: string[] = []
    const log = { ...silentLog, warn: (_fields: unknown, text?: string) => void warnings.push(text ?? '') }
    const peer = await peerWith(
      replying({ 'time query gametime': `Es ist ${'9'.repeat(1_000)} Uhr`, 'list uuids': listOf(['Alice']) }),
    )
    const source = sourceOf(peer.address, 'secret', systemClock, log)
    const fields = await pollAll(source)
    expect(fields).toEqual({
      playersOnline: 1,
      playersMax: 500,
      players: { players: [{ name: 'Alice', id: uuid(0) }], complete: true },
    })
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toContain('"Es ist 999')
    expect(warnings[0]!.length).toBeLessThan(320)
    expect(peer.commands.filter((command) => command.endsWith('time query gametime'))).toEqual([
      'time query gametime',
      'minecraft:time query gametime',
      'time query gametime',
      'minecraft:time query gametime',
    ])
  })

  it('are sent in another form once a plugin has replaced them while the connection is open, and back', async () => {
    const clock = manualClock()
    const replies: Record<string, string> = { 'time query gametime': 'The time is 5', 'list uuids': listOf(['Alice']) }
    const peer = await peerWith((request) => replying(replies)(request))
    const source = sourceOf(peer.address, 'secret', clock)
    const pollFor = async (polls: number) => {
      for (let turn = 1; turn < polls; turn++) {
        await poll(source)
        await clock.advance(5_000)
      }
      return (await poll(source)).fields
    }
    expect(await pollFor(4)).toMatchObject({ tickCount: { ticks: 5 } })
    replies['time query gametime'] = 'Usage of time: day or night'
    replies['minecraft:time query gametime'] = 'The time is 6'
    expect(await pollFor(1)).not.toHaveProperty('tickCount')
    expect(await pollFor(4)).toMatchObject({ tickCount: { ticks: 6 } })
    delete replies['minecraft:time query gametime']
    replies['time query gametime'] = 'The time is 7'
    expect(await pollFor(5)).toMatchObject({ tickCount: { ticks: 7 } })
    expect(peer.logins).toBe(1)
  })

  it('of several forms are sent again at once if the first reply was that to another client', async () => {
    let isFirst = true
    const peer = await peerWith((request) => {
      replying({ 'time query gametime': isFirst ? '' : 'The time is 5' })(request)
      isFirst = false
    })
    const source = sourceOf(peer.address, 'secret', manualClock())
    await poll(source)
    await poll(source)
    expect((await poll(source)).fields).toMatchObject({ tickCount: { ticks: 5 } })
  })

  it('are sent at least once per poll, even if the server supports none, to detect whether it is up', async () => {
    let silent = false
    const peer = await peerWith((request) => silent || replying({})(request))
    const source = sourceOf(peer.address, 'secret')
    for (let turn = 0; turn < 15; turn++) {
      const before = peer.commands.length
      expect((await poll(source)).fields).toEqual({})
      expect(peer.commands.length).toBeGreaterThan(before)
    }
    silent = true
    expect((await failure(poll(source, 500))).code).toBe('timeout')
  })

  it("fall back to the game's own list if a plugin has replaced it", async () => {
    const peer = await peerWith(
      replying({ 'list uuids': '§4Error:§c That group does not exist.', 'minecraft:list uuids': listOf(['Alice']) }),
    )
    expect(await pollAll(sourceOf(peer.address, 'secret'))).toMatchObject({ playersOnline: 1 })
  })
})

describe('a command that is never answered', () => {
  const answers = {
    'tick query':
      'The game is running normallyTarget tick rate: 20.0 per second.\nAverage time per tick: 1.2ms (Target: 50.0ms)Percentiles: P50: 1.1ms P95: 1.9ms P99: 2.3ms. Sample: 100',
    'time query gametime': 'The time is 5',
    'list uuids': listOf(['Alice']),
    tps: '§6TPS from last 1m, 5m, 15m: §a20.0§r, §a20.0§r, §a20.0\n',
  }

  /** A server that does not answer the commands in `silent`, nor anything after them on that connection; and a source for it. */
  async function withSilent(...commands: string[]) {
    const silent = new Set(commands)
    const clock = manualClock()
    const pace = { slow: false }
    const warnings: string[] = []
    const log = { ...silentLog, warn: (_fields: unknown, text?: string) => void warnings.push(text ?? '') }
    const reply = replying(answers)
    const stuck = new Set<unknown>()
    const peer = await peerWith(async (request) => {
      if (pace.slow) await clock.advance(900)
      if (silent.has(request.body)) stuck.add(request.socket)
      if (!stuck.has(request.socket)) reply(request)
    })
    const source = sourceOf(peer.address, 'secret', clock, log)
    /** The deadline passes while the poll waits for the unanswered command. */
    const pollOnce = async () => {
      const before = peer.commands.length
      const requested = () => peer.commands.slice(before)
      const deadline = new AbortController()
      let over = false
      const polled = source.poll(deadline.signal).finally(() => {
        over = true
      })
      polled.catch(() => {})
      await until(() => over || requested().some((command) => silent.has(command)))
      if (!over) deadline.abort(new SourceError('timeout', `${source.target}: too late`))
      return { reading: await polled, late: deadline.signal.aborted, requested: requested() }
    }
    return { peer, silent, pace, warnings, clock, pollOnce, source }
  }
  const read = { tickDurationMean: 0.0012, tickCount: { ticks: 5 }, playersOnline: 1 }

  const timesSent = (peer: RconPeer, command: string) => peer.commands.filter((sent) => sent === command).length

  it('does not affect earlier replies, and rests for at most a minute', async () => {
    const { peer, silent, warnings, clock, pollOnce, source } = await withSilent('tps')
    const first = await pollOnce()
    expect(first.late).toBe(true)
    expect(first.reading.fields).toMatchObject(read)
    // A single timeout may be caused by the network, which stalled during the poll.
    expect(source.resting?.()).toEqual([])
    await clock.advance(2_500)
    expect((await pollOnce()).reading.fields).toMatchObject(read)
    expect(source.resting?.()).toEqual([{ command: 'tps', until: clock.now() + 5_000 }])
    let longestRest = 0
    for (let turn = 0; turn < 60; turn++) {
      await clock.advance(5_000)
      expect((await pollOnce()).reading.fields).toMatchObject(read)
      longestRest = Math.max(longestRest, ...source.resting!().map(({ until }) => until - clock.now()))
    }
    expect(longestRest).toBe(60_000)
    // Immediately, after 5, 10, 20 and 40 s, then every minute, within five minutes.
    expect(timesSent(peer, 'tps')).toBeLessThanOrEqual(10)
    expect(warnings).toEqual([expect.stringContaining(`127.0.0.1:${peer.port}: "tps"`)])
    silent.clear()
    await clock.advance(60_000)
    await until(async () => (await pollOnce()).reading.fields.paperTickRates !== undefined)
    expect(source.resting?.()).toEqual([])
  })

  it('is replaced by its other form', async () => {
    const { clock, pollOnce } = await withSilent('list uuids')
    for (let poll = 0; poll < 2; poll++) {
      expect((await pollOnce()).reading.fields).toMatchObject({ tickCount: { ticks: 5 } })
      await clock.advance(2_500)
    }
    expect((await pollOnce()).requested).toContain('minecraft:list uuids')
  })

  it('fails the poll if it is sent first, and is sent last in the next poll', async () => {
    const { clock, pollOnce } = await withSilent('time query gametime')
    expect((await failure(pollOnce())).code).toBe('timeout')
    await clock.advance(5_000)
    const next = await pollOnce()
    expect(next.late).toBe(true)
    expect(next.requested.at(-1)).toBe('time query gametime')
    expect(next.reading.fields).toMatchObject({ tickDurationMean: 0.0012, playersOnline: 1 })
    await clock.advance(2_500)
    expect((await pollOnce()).late).toBe(false)
  })

  it('is sent again if it was answered before, since the server may have stalled', async () => {
    const { silent, clock, pollOnce, source } = await withSilent()
    await pollOnce()
    silent.add('list uuids')
    await clock.advance(5_000)
    const standing = await pollOnce()
    expect(standing.reading.fields.tickCount).toMatchObject({ ticks: 5 })
    expect(standing.reading.fields).not.toHaveProperty('players')
    expect(standing.reading.fields).not.toHaveProperty('tickDurationMean')
    expect(source.resting?.()).toEqual([])
    silent.clear()
    await clock.advance(5_000)
    expect((await pollOnce()).reading.fields).toMatchObject(read)
  })

  it('is still sent if the others were slow too', async () => {
    const { silent, pace, clock, pollOnce, source } = await withSilent('list uuids')
    pace.slow = true
    expect((await pollOnce()).reading.fields).toMatchObject({ tickCount: { ticks: 5 } })
    expect(source.resting?.()).toEqual([])
    silent.clear()
    await clock.advance(5_000)
    expect((await pollOnce()).reading.fields).toMatchObject(read)
  })

  it('does not renew the time of a field, nor does a poll that did not read it', async () => {
    const clock = manualClock()
    const peer = await peerWith(replying({ ...answers, difficulty: 'The difficulty is Hard' }))
    const source = sourceOf(peer.address, 'secret', clock)
    const pollLater = async () => {
      await clock.advance(5_000)
      return poll(source)
    }
    let reading = await poll(source)
    while (reading.fields.difficulty === undefined) reading = await pollLater()
    const readAt = reading.readAt?.difficulty
    expect(readAt).toBe(clock.now())
    for (let turn = 0; turn < 5; turn++) {
      const later = await pollLater()
      expect(later.readAt).toMatchObject({ difficulty: readAt, tickCount: clock.now() })
      expect(later.readEvery).toMatchObject({ difficulty: 60_000 })
      expect(later.readEvery).not.toHaveProperty('tickCount')
    }
  })

  it('is not one that a closed connection has interrupted: it never rests', async () => {
    const reply = replying(answers)
    const peer = await peerWith((request) => (request.body === 'tps' ? request.socket.destroy() : reply(request)))
    const source = sourceOf(peer.address, 'secret')
    for (let turn = 0; turn < 12; turn++) {
      expect((await poll(source)).fields).toMatchObject(read)
      expect(source.resting?.()).toEqual([])
    }
  })

  it('is sent again within two polls of the reconnect after a short outage, with all others', async () => {
    const clock = manualClock()
    let cut = false
    const peer = await peerWith((request) => (cut ? request.socket.destroy() : replying(answers)(request)))
    const source = sourceOf(peer.address, 'secret', clock)
    let before: Partial<Fields> = {}
    for (let turn = 0; turn < 10; turn++) {
      before = (await poll(source)).fields
      await clock.advance(5_000)
    }
    cut = true
    for (const socket of peer.sockets) socket.destroy()
    await until(() => peer.sockets.size === 0)
    await failure(poll(source))
    await clock.advance(5_000)
    cut = false
    await poll(source)
    await clock.advance(5_000)
    expect(Object.keys((await poll(source)).fields).sort()).toEqual(Object.keys(before).sort())
  })
})

describe('a long reply', () => {
  it('with 300 players is assembled from its pieces', async () => {
    const server = await demo({ players: 300, scenario: 'steady' })
    const { fields } = await poll(sourceOf(server.rcon.address, server.rcon.password))
    expect(fields.playersOnline).toBe(300)
    expect(fields.players?.players).toHaveLength(300)
  })

  it.each([4095, 4096, 4097, 8191, 8192, 8193, 12_288])('of %i units is complete', async (length) => {
    // The last name fills up to the length.
    const names = Array.from({ length: Math.floor(length / 60) }, (_, index) => `Player${index}`)
    const text = listOf([...names, ''])
    const all = [...names, 'x'.repeat(length - text.length)]
    expect(listOf(all)).toHaveLength(length)
    const peer = await peerWith(replying({ 'list uuids': listOf(all) }))
    const { fields } = await poll(sourceOf(peer.address, 'secret'))
    expect(fields.players?.players.map(({ name }) => name)).toEqual(all)
  })
})

describe('a list of players', () => {
  it('has at most 10,000, and is not complete then', async () => {
    const names = Array.from({ length: 10_001 }, (_, index) => index.toString(36))
    const text = `There are 10001 of a max of 20 players online: ${names.join(', ')}`
    const peer = await peerWith(replying({ 'list uuids': text }))
    const { fields } = await poll(sourceOf(peer.address, 'secret'))
    expect(fields.playersOnline).toBe(10_001)
    expect(fields.players?.players).toHaveLength(10_000)
    expect(fields.players?.complete).toBe(false)
  })

  it('remains the same object while the reply is unchanged, with a new time', async () => {
    let names = ['Alice', 'Bob']
    const peer = await peerWith((request) => replying({ 'list uuids': listOf(names) })(request))
    const source = sourceOf(peer.address, 'any')
    const first = await poll(source)
    const second = await poll(source)
    expect(second.fields.players).toBe(first.fields.players)
    expect(second.fields.playersOnline).toBe(2)
    expect(second.readAt?.players).toBeGreaterThan(first.readAt?.players ?? Number.POSITIVE_INFINITY)
    names = ['Alice', 'Carol']
    const third = await poll(source)
    expect(third.fields.players?.players.map(({ name }) => name)).toEqual(['Alice', 'Carol'])
    expect(third.fields.playersOnline).toBe(2)
  })

  it('is read again after a reply that was not understood', async () => {
    let reply = listOf(['Alice'])
    const peer = await peerWith((request) => replying({ 'list uuids': reply })(request))
    const source = sourceOf(peer.address, 'any')
    expect((await poll(source)).fields.playersOnline).toBe(1)
    reply = 'Nobody knows'
    expect((await poll(source)).fields.playersOnline).toBeUndefined()
    reply = listOf(['Alice'])
    expect((await poll(source)).fields.players?.players).toEqual([{ name: 'Alice', id: uuid(0) }])
  })
})

describe('the tick rate', () => {
  it('of a server that ticks ten times a second reads 10 within 3 %', async () => {
    const clock = manualClock()
    const server = await demo({ scenario: 'tps10', clock })
    const watcher = watcherOf(sourceOf(server.rcon.address, server.rcon.password, clock), clock)
    /** The server answers a command after its tick, so the clock must advance during the poll. */
    const pollInTime = async () => {
      let done = false
      const polled = watcher.poll().finally(() => {
        done = true
      })
      while (!done) {
        await clock.advance(1)
        // wait: the clock advances about as fast as time, until the poll ends.
        await new Promise((resolve) => setTimeout(resolve, 1))
      }
      return polled
    }
    for (const wait of [4_700, 4_900, 4_550, 4_980]) {
      await pollInTime()
      await clock.advance(wait)
    }
    const { tickRate } = (await pollInTime()).fields
    expect(Math.abs(tickRate!.value / 10 - 1)).toBeLessThan(0.03)
  })

  it('is measured again after the server was stopped, although its counter continues', async () => {
    const clock = manualClock()
    let ticks = 0
    const peer = await peerWith((request) => replying({ 'time query gametime': `The time is ${ticks}` })(request))
    const unused = await listenRconPeer(() => {})
    await unused.close()
    let port = peer.port
    const network: Network = {
      ...systemNetwork,
      connect: (addresses, _port, signal) => systemNetwork.connect(addresses, port, signal),
    }
    const source = new RconSource({ address: peer.address, password: 'secret' }, { ...context(clock), network })
    const watcher = watcherOf(source, clock)
    const rateAfter = async (newTicks: number, milliseconds: number) => {
      ticks += newTicks
      await clock.advance(milliseconds)
      return (await watcher.poll()).fields.tickRate?.value
    }
    expect(await rateAfter(0, 0)).toBeUndefined()
    expect(await rateAfter(100, 5_000)).toBe(20)
    port = unused.port
    for (const socket of peer.sockets) socket.destroy()
    await until(() => peer.sockets.size === 0)
    expect((await watcher.poll()).sources).toMatchObject([{ error: { code: 'refused' } }])
    port = peer.port
    expect(await rateAfter(20, 40_000)).toBeUndefined()
    expect(await rateAfter(100, 5_000)).toBe(20)
  })

  it('is absent for a paused server, which is reported as paused', async () => {
    const clock = manualClock()
    const server = await demo({ scenario: 'paused', players: 0, clock })
    const watcher = watcherOf(sourceOf(server.rcon.address, server.rcon.password, clock), clock)
    await watcher.poll()
    await clock.advance(5_000)
    const { fields } = await watcher.poll()
    expect(fields.tickPaused?.value).toBe(true)
    expect(fields.tickRate).toBeUndefined()
  })
})

it.each([
  ['frozen', { tickFrozen: true, tickSprinting: false, tickPaused: false }],
  ['sprinting', { tickFrozen: false, tickSprinting: true, tickPaused: false }],
] as const)('a %s game is reported as such', async (scenario, expected) => {
  const server = await demo({ scenario })
  const watcher = watcherOf(sourceOf(server.rcon.address, server.rcon.password))
  await watcher.poll()
  await until(async () => (await watcher.poll()).fields.tickPaused !== undefined)
  const { tickFrozen, tickSprinting, tickPaused, tickRate } = watcher.snapshot().fields
  expect({ tickFrozen: tickFrozen?.value, tickSprinting: tickSprinting?.value, tickPaused: tickPaused?.value }).toEqual(expected)
  if (scenario === 'frozen') expect(tickRate).toBeUndefined()
  else expect(tickRate?.value).toBeGreaterThan(20)
})

describe('a wrong password', () => {
  it('is tried once in five minutes, and only reported in between', async () => {
    const clock = manualClock()
    let right = false
    const peer = await peerWith(
      replying({ 'time query gametime': 'The time is 5' }),
      ({ socket, id }) => void socket.write(packet(right ? id : -1, 2, '')),
    )
    const source = sourceOf(peer.address, 'hunter2', clock)
    const first = await failure(poll(source))
    expect(first.code).toBe('auth')
    expect(first.message).not.toContain('hunter2')
    for (let turn = 0; turn < 59; turn++) {
      await clock.advance(5_000)
      expect(await failure(poll(source))).toBe(first)
    }
    expect(peer.logins).toBe(1)
    right = true
    await clock.advance(5_000)
    expect((await poll(source)).fields.tickCount?.ticks).toBe(5)
    expect(peer.logins).toBe(2)
  })

  it('that is longer than any server reads is not even sent', async () => {
    const peer = await peerWith(replying({}))
    const source = sourceOf(peer.address, 'x'.repeat(1_447))
    expect((await failure(poll(source))).code).toBe('auth')
    expect((await failure(poll(source))).code).toBe('auth')
    expect(peer.logins).toBe(0)
    await until(() => peer.sockets.size === 0)
  })

  it('is detected in a second packet after an empty one, and tried once in five minutes too', async () => {
    const clock = manualClock()
    const peer = await peerWith(
      replying({}),
      ({ socket, id }) => void socket.write(Buffer.concat([packet(id, 0, ''), packet(-1, 2, '')])),
    )
    const source = sourceOf(peer.address, 'wrong', clock)
    for (let turn = 0; turn < 59; turn++) {
      expect((await failure(poll(source))).code).toBe('auth')
      await clock.advance(5_000)
    }
    expect(peer.logins).toBe(1)
  })
})

it('logs in to a server that answers a login with two packets', async () => {
  const peer = await peerWith(
    replying({ 'time query gametime': 'The time is 5' }),
    ({ socket, id }) => void socket.write(Buffer.concat([packet(id, 0, ''), packet(id, 2, '')])),
  )
  const source = sourceOf(peer.address, 'secret')
  expect((await poll(source)).fields.tickCount?.ticks).toBe(5)
  expect((await poll(source)).fields.tickCount?.ticks).toBe(5)
  expect(peer.logins).toBe(1)
})

describe('a hostile server', () => {
  const stream = (socket: Request['socket'], bytes: Buffer) => {
    const more = () => {
      while (!socket.destroyed && socket.write(bytes));
    }
    socket.on('drain', more)
    more()
  }

  it.each<readonly [string, string, (request: Request) => void]>([
    ['a negative length', 'malformed', ({ socket, id }) => socket.write(packet(id, 0, 'x', -1))],
    ['a huge length', 'malformed', ({ socket, id }) => stream(socket, packet(id, 0, 'x'.repeat(60_000), 2_147_483_647))],
    ['a short length', 'malformed', ({ socket, id }) => socket.write(packet(id, 0, 'x', 9))],
    ['garbage', 'malformed', ({ socket }) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n')],
    ['a wrong id', 'malformed', ({ socket, id }) => socket.write(packet(id + 7, 0, 'The time is 5'))],
    ['a wrong type', 'malformed', ({ socket, id }) => socket.write(packet(id, 5, 'The time is 5'))],
    ['full pieces without end', 'too_large', ({ socket, id }) => stream(socket, packet(id, 0, 'x'.repeat(4096)))],
    [
      'empty pieces without end',
      'too_large',
      ({ socket, id }) => {
        socket.write(packet(id, 0, 'x'.repeat(4096)))
        stream(socket, Buffer.concat(Array(100).fill(packet(id, 0, ''))))
      },
    ],
    ['silence', 'timeout', () => {}],
    [
      'silence in the middle of a reply',
      'timeout',
      ({ socket, id }) => socket.write(packet(id, 0, 'The time is 5').subarray(0, 15)),
    ],
    ['a close', 'closed', ({ socket }) => socket.end()],
    [
      'a close in the middle of a reply',
      'closed',
      ({ socket, id }) => socket.end(packet(id, 0, 'The time is 5').subarray(0, 15)),
    ],
  ])('with %s: %s', async (_, code, answer) => {
    const peer = await peerWith(answer)
    const before = process.memoryUsage().rss
    expect((await failure(poll(sourceOf(peer.address, 'secret'), code === 'timeout' ? 1_000 : 20_000))).code).toBe(code)
    expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000)
    await until(() => peer.sockets.size === 0)
  })

  it('that sends unrequested packets is disconnected', async () => {
    let socket: Request['socket'] | undefined
    const peer = await peerWith((request) => {
      socket = request.socket
      replying({})(request)
    })
    await poll(sourceOf(peer.address, 'secret'))
    stream(socket!, Buffer.concat(Array(100).fill(packet(0, 0, 'hello'))))
    await until(() => peer.sockets.size === 0)
  })

  it('that refuses connections is retried with a growing backoff, and recovers', async () => {
    const clock = manualClock()
    const server = await demo({ scenario: 'steady', ports: await freeDemoPorts() })
    const source = sourceOf(server.rcon.address, server.rcon.password, clock)
    await server.interrupt('rcon')
    const first = await failure(poll(source))
    expect(first.code).toBe('refused')
    expect(await failure(poll(source))).toBe(first)
    await server.resume('rcon')
    expect(await failure(poll(source))).toBe(first)
    await clock.advance(1_000)
    expect((await poll(source)).fields.tickCount).toBeDefined()
  })
})

it('releases all resources after 1,000 connections', async () => {
  const peer = await peerWith(replying({ 'time query gametime': 'The time is 5' }))
  const cycle = async () => {
    const source = new RconSource({ address: peer.address, password: 'secret' }, context())
    await poll(source)
    source.close()
    source.close()
    expect((await failure(poll(source))).code).toBe('aborted')
  }
  for (let turn = 0; turn < 50; turn++) await cycle()
  const resources = () => process.getActiveResourcesInfo().filter((name) => name.startsWith('TCP') || name === 'Timeout').length
  await until(() => peer.sockets.size === 0)
  const before = resources()
  const heap = process.memoryUsage().heapUsed
  for (let turn = 0; turn < 1_000; turn++) await cycle()
  await until(() => peer.sockets.size === 0)
  expect(resources()).toBeLessThanOrEqual(before + 2)
  expect(process.memoryUsage().heapUsed - heap).toBeLessThan(60_000_000)
})

it('that dies loses only its own fields, after staleAfter, and they are restored automatically', async () => {
  const clock = manualClock()
  const server = await demo({ scenario: 'steady', clock, ports: await freeDemoPorts() })
  const watcher = new SourceWatcher({
    server: 'survival',
    settings: { interval: 5_000, timeout: 3_000, staleAfter: 15_000 },
    clock,
    log: silentLog,
    random: () => 0,
    sources: (push) => {
      const own = { clock, log: silentLog, random: () => 0, push }
      const status = {
        name: 'status' as const,
        target: 'status.test:1',
        close() {},
        poll: async () => ({ source: 'status' as const, at: clock.now(), fields: { motd: 'hello' } }),
      }
      const sources = [status, new RconSource(server.rcon, own)]
      return { list: () => sources, close: () => sources.map((source) => source.close()) }
    },
  })
  cleanups.push(() => watcher.close())
  expect((await watcher.poll()).fields.tickCount?.source).toBe('rcon')
  await server.interrupt('rcon')
  await clock.advance(5_000)
  const soon = await watcher.poll()
  expect(soon.up).toBe(true)
  expect(soon.fields.tickCount).toBeDefined()
  await clock.advance(15_000)
  const later = await watcher.poll()
  expect(later.fields.tickCount).toBeUndefined()
  expect(later.fields.motd?.value).toBe('hello')
  expect(later.up).toBe(true)
  await server.resume('rcon')
  await clock.advance(30_000)
  expect((await watcher.poll()).fields.tickCount?.source).toBe('rcon')
})

it('sends a command in each poll of a hung server, and is not hung any more once one is answered', async () => {
  const clock = manualClock()
  let isMuted = false
  const answer = replying({ 'time query gametime': 'The time is 5' })
  const peer = await peerWith((request) => {
    if (!isMuted) answer(request)
  })
  const watcher = watcherOf(new RconSource({ address: peer.address, password: 'secret' }, context(clock)), clock)
  expect((await watcher.poll()).mainThread?.responsive).toBe(true)
  isMuted = true
  for (let polls = 1; polls <= 6; polls++) {
    const sent = peer.commands.length
    const polled = watcher.poll()
    await until(() => peer.commands.length > sent)
    await clock.advance(20_100)
    await polled
  }
  expect(watcher.snapshot().sources).toMatchObject([{ state: 'failed', error: { code: 'timeout' } }])
  isMuted = false
  const { up, mainThread } = await watcher.poll()
  expect({ up, responsive: mainThread?.responsive }).toEqual({ up: true, responsive: true })
})

it('still waits for a hung main thread if the login leaves no time for a command', async () => {
  const clock = manualClock()
  const slowLogin = async (request: Request) => {
    await clock.advance(60)
    acceptLogin(request)
  }
  const peer = await peerWith(() => {}, slowLogin)
  const { connectBackoff: _, ...withoutBackoff } = context(clock)
  const source = new RconSource({ address: peer.address, password: 'secret' }, withoutBackoff)
  cleanups.push(() => source.close())
  const attempt = async (leftMs: number) => {
    const deadline = new AbortController()
    clock.after(leftMs, () => deadline.abort(new SourceError('timeout', 'too late')))
    const [deadlineAt, sent] = [clock.now() + leftMs, peer.commands.length]
    let isOver = false
    const failed = failure(source.poll(deadline.signal, deadlineAt)).finally(() => {
      isOver = true
    })
    await until(() => isOver || peer.commands.length > sent)
    await clock.advance(deadlineAt - clock.now())
    return failed
  }
  expect((await attempt(400)).code).toBe('timeout')
  const since = source.mainThread?.().waitingSince
  expect(since).toBeDefined()
  // A command took longer than that, as with each poll of a server that hangs.
  expect((await attempt(200)).message).toContain('the login took too long')
  expect(source.mainThread?.().waitingSince).toBe(since)
  expect((await attempt(200)).code).toBe('timeout')
  expect(source.mainThread?.().waitingSince).toBe(since)
})
