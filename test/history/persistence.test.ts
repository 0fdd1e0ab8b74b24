import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/config/config.ts'
import { SourceError } from '../../src/game/errors.ts'
import type { Fields } from '../../src/game/fields.ts'
import { openFolder } from '../../src/history/folder.ts'
import { type History, openHistory } from '../../src/history/history.ts'
import { type Log, silentLog } from '../../src/util/log.ts'
import { type FakeFleet, fakeFleet, type Script } from '../helpers/fake-fleet.ts'
import { type ManualClock, manualClock } from '../helpers/manual-clock.ts'
import { until } from '../helpers/until.ts'

const minute = 60_000
const allSeries = ['players', 'latency', 'tickRate', 'tickTimeMean', 'tickTimeP99'] as const
const hour = { names: allSeries, range: 60 * minute, points: 1000 }

let folder: string
let clock: ManualClock
let fleet: FakeFleet
let history: History
let log: Log & { readonly lines: string[] }

const status = (playersOnline: number): Partial<Fields> => ({ playersOnline, latency: 0.0015 })
const rcon = (...names: string[]): Partial<Fields> => ({
  playersOnline: names.length,
  players: { complete: true, players: names.map((name) => ({ name })) },
  tickRate: 19.98,
  tickDurationMean: 0.0123,
})

function recordingLog(): Log & { readonly lines: string[] } {
  const lines: string[] = []
  const add = (...given: unknown[]) => void lines.push(String(given.at(-1)))
  return { lines, debug() {}, info: add, warn: add, error: add }
}

async function open(scripts: Record<string, Script>, path: string | null = folder, recordsPlayers = true): Promise<void> {
  log = recordingLog()
  fleet = fakeFleet(scripts, clock)
  history = await openHistory({ fleet, clock, log, recordsPlayers, ...(path !== null && { folder: path }) })
}

async function run(milliseconds: number): Promise<void> {
  for (let passed = 0; passed < milliseconds; passed += 5_000) {
    await clock.advance(5_000)
    await fleet.pollAll()
    // Writing takes real time, which does not pass on the clock of the test.
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}

/** As if the process were killed: no more data is written. */
const stop = () => fleet.close()
const file = () => join(folder, readdirSync(folder).find((name) => name.endsWith('.history'))!)
const known = (values: readonly (number | null)[]) => values.filter((value) => value !== null)

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tickwarden-history-'))
  clock = manualClock(9_000)
})
afterEach(async () => {
  fleet.close()
  await history.close()
  rmSync(folder, { recursive: true })
})

describe('the history after a restart', () => {
  it('is the same', async () => {
    await open({
      Server: { status: status(3), rcon: rcon('Alice', 'Bob', 'Carol') },
      down: { status: new SourceError('refused', 'x') },
    })
    await fleet.pollAll()
    await run(3 * minute)
    fleet.scripts.Server = { status: status(1), rcon: rcon('Bob') }
    await run(3 * minute)
    await history.close()
    const before = [
      history.range('Server', hour),
      history.uptime('Server', 3),
      history.uptime('down', 1),
      history.sessions('Server'),
    ]
    stop()
    await open({ Server: { status: status(1), rcon: rcon('Bob') }, down: {} })
    expect([
      history.range('Server', hour),
      history.uptime('Server', 3),
      history.uptime('down', 1),
      history.sessions('Server'),
    ]).toEqual(before)
    expect(log.lines).toEqual([])
    expect(known(history.range('Server', hour).series.players!.max).length).toBeGreaterThan(36)
  })

  it('continues with a gap for the time between', async () => {
    await open({ Server: { status: status(3) } })
    await fleet.pollAll()
    await run(2 * minute)
    await history.close()
    stop()
    await clock.advance(5 * minute)
    await open({ Server: { status: status(5) } })
    await fleet.pollAll()
    await run(2 * minute)
    const values = history.range('Server', hour).series.players!.max.slice(-54)
    const text = values.map((value) => value ?? '.').join('')
    expect(text).toMatch(/^3{12,14}\.{28,30}5{12,14}$/)
    const [today] = history.uptime('Server', 1).days
    expect(today!.known * 86_400).toBeCloseTo(240, -1)
    expect(history.uptime('Server', 1).record).toMatchObject({ players: 5 })
  })

  it('ends when the server is removed, although it is written later', async () => {
    await open({ Server: { status: status(3) } })
    await fleet.pollAll()
    await clock.advance(1_000)
    // It starts to write the histories, which takes real time.
    const { servers } = fleet
    fleet.update([])
    await clock.advance(5_000)
    fleet.update(servers)
    await until(() => history.uptime('Server', 1).days[0]!.known > 0)
    expect(history.uptime('Server', 1).days[0]!.known * 86_400).toBeCloseTo(1, 1)
  })

  it('loses at most the last 10 s if the process is killed', async () => {
    await open({ Server: { status: status(3) } })
    await fleet.pollAll()
    await run(5 * minute)
    const before = history.range('Server', hour).series.players!.max
    expect(known(before).length).toBeGreaterThan(30)
    // A copy has the state at the time of the kill. Writing takes real time.
    const copy = mkdtempSync(join(tmpdir(), 'tickwarden-history-'))
    const restored = async () => {
      cpSync(folder, copy, { recursive: true })
      const opened = await openHistory({ fleet: fakeFleet({ Server: {} }, clock), clock, log, folder: copy })
      const { max } = opened.range('Server', hour).series.players!
      await opened.close()
      return max.slice(0, -1).join()
    }
    try {
      await until(async () => (await restored()) === before.slice(0, -1).join())
    } finally {
      rmSync(copy, { recursive: true })
    }
  })

  it('keeps the mean of an incomplete bucket', async () => {
    await open({ Server: { status: status(2) } })
    await fleet.pollAll()
    await run(5 * minute)
    await history.close()
    stop()
    await open({ Server: { status: status(12) } })
    await fleet.pollAll()
    await run(5 * minute)
    const { mean } = history.range('Server', { names: ['players'], range: 7 * 24 * 60 * minute, points: 1000 }).series.players!
    const total = known(mean)
    expect(total.length).toBeLessThanOrEqual(2)
    expect(history.uptime('Server', 1).days[0]!.players).toMatchObject({ mean: 7, max: 12 })
  })

  it.each([1, 8, 20, 50, 100])('is read up to a last frame that lacks %i bytes', async (missing) => {
    await open({ Server: { status: status(3) } })
    await fleet.pollAll()
    await run(5 * minute)
    await history.close()
    stop()
    truncateSync(file(), statSync(file()).size - missing)
    await open({ Server: { status: status(3) } })
    expect(known(history.range('Server', hour).series.players!.max).length).toBeGreaterThan(25)
    expect(log.lines).toEqual([])
    await fleet.pollAll()
    await run(minute)
    await history.close()
    stop()
    await open({ Server: { status: status(3) } })
    expect(known(history.range('Server', hour).series.players!.max.slice(-6)).length).toBeGreaterThanOrEqual(5)
  })

  it('is read up to a frame that is damaged', async () => {
    await open({ Server: { status: status(3) } })
    await fleet.pollAll()
    await run(5 * minute)
    await history.close()
    stop()
    appendFileSync(file(), Buffer.alloc(40, 7))
    const size = statSync(file()).size
    await open({ Server: { status: status(3) } })
    expect(statSync(file()).size).toBe(size - 40)
    expect(known(history.range('Server', hour).series.players!.max).length).toBeGreaterThan(29)
  })

  it('that is far too large is renamed without being read', async () => {
    await open({ Server: { status: status(3) } })
    await fleet.pollAll()
    await history.close()
    stop()
    const path = file()
    // More than a Buffer can hold.
    truncateSync(path, 2 ** 40)
    await open({ Server: { status: status(4) } })
    expect(log.lines).toEqual([expect.stringContaining('it has 1099511627776 bytes; the maximum is 16777216')])
    expect(statSync(`${path}.unreadable`).size).toBe(2 ** 40)
  })

  it.each([
    ['another version', (bytes: Buffer) => bytes.fill(9, 7, 8)],
    ['no history', () => Buffer.from('something else')],
    ['an empty file', () => Buffer.alloc(0)],
    ['a damaged start', (bytes: Buffer) => bytes.fill(0xff, 20, 30)],
  ])('starts a new file and renames the old one if that is %s', async (_, damage) => {
    await open({ Server: { status: status(3) } })
    await fleet.pollAll()
    await run(minute)
    await history.close()
    stop()
    const damaged = damage(readFileSync(file()))
    writeFileSync(file(), damaged)
    await open({ Server: { status: status(4) } })
    expect(log.lines).toEqual([expect.stringContaining('cannot use the history file')])
    expect(readdirSync(folder).filter((name) => name.endsWith('.unreadable'))).toHaveLength(1)
    expect(known(history.range('Server', hour).series.players!.max)).toEqual([])
    await fleet.pollAll()
    await run(minute)
    await history.close()
    stop()
    await open({ Server: { status: status(4) } })
    expect(log.lines).toEqual([])
    expect(known(history.range('Server', hour).series.players!.max).length).toBeGreaterThan(5)
  })

  it('works for servers with any names', async () => {
    const names = ['A b', 'a b', 'a-b', 'Größe', '日本', 'x'.repeat(300), '..%2f']
    await open(Object.fromEntries(names.map((name, index) => [name, { status: status(index) }])))
    await fleet.pollAll()
    await run(minute)
    await history.close()
    stop()
    await open(Object.fromEntries(names.map((name) => [name, {}])))
    expect(names.map((name) => history.uptime(name, 1).record.players)).toEqual(names.map((_, index) => index))
  })
})

describe('the file', () => {
  it('is rewritten when it has grown, without losing data', async () => {
    await open({ Server: { status: status(1), rcon: rcon('Alice') } })
    await fleet.pollAll()
    // A rewritten file replaces the previous one.
    const inodes = new Set<number>()
    const sizes: number[] = []
    for (let round = 0; round < 40; round++) {
      for (let count = 0; count < 180; count++) {
        fleet.scripts.Server = {
          status: status(count),
          rcon: { ...rcon('Alice'), playersOnline: count, tickRate: 20 - count / 100 },
        }
        await clock.advance(5_000)
        await fleet.pollAll()
        await new Promise(setImmediate)
      }
      await until(() => readdirSync(folder).some((name) => name.endsWith('.history')))
      const { ino, size } = statSync(file())
      inodes.add(ino)
      sizes.push(size)
    }
    const day = { names: allSeries, range: 24 * 60 * minute, points: 1000 }
    await history.close()
    inodes.add(statSync(file()).ino)
    expect(inodes.size).toBeGreaterThan(1)
    expect(Math.max(...sizes)).toBeLessThan(400 * 1024)
    const before = [history.range('Server', day), history.uptime('Server', 2)]
    stop()
    await open({ Server: {} })
    expect([history.range('Server', day), history.uptime('Server', 2)]).toEqual(before)
  })

  it('is rewritten after a failure', async () => {
    await open({ Server: { status: status(1) } })
    await fleet.pollAll()
    await run(minute)
    // Like another process.
    await until(() => readdirSync(folder).some((name) => name.endsWith('.history')))
    appendFileSync(file(), 'x')
    await run(minute)
    await until(() => log.lines.length === 2)
    expect(log.lines).toEqual([expect.stringContaining('another process'), expect.stringContaining('can be written again')])
    await history.close()
    stop()
    await open({ Server: {} })
    expect(known(history.range('Server', hour).series.players!.max).length).toBeGreaterThanOrEqual(12)
  })

  it('has what was recorded while its file could not be created', async () => {
    await open({ Server: { rcon: rcon() } })
    rmSync(folder, { recursive: true })
    await fleet.pollAll()
    await run(minute)
    fleet.scripts.Server = { rcon: rcon('Alice') }
    await run(minute)
    await until(() => log.lines.length === 1)
    mkdirSync(folder)
    await run(20_000)
    await until(() => log.lines.length === 2)
    expect(log.lines).toEqual([expect.stringContaining('ENOENT'), expect.stringContaining('can be written again')])
    await history.close()
    const before = [history.range('Server', hour), history.sessions('Server')]
    stop()
    await open({ Server: {} })
    expect([history.range('Server', hour), history.sessions('Server')]).toEqual(before)
    expect(known(history.range('Server', hour).series.players!.max).length).toBeGreaterThanOrEqual(14)
    expect(history.sessions('Server')).toMatchObject([{ name: 'Alice', isOnline: true }])
  })
})

it('neither restores nor records sessions if that is off', async () => {
  await open({ Server: { rcon: rcon('Alice') } })
  await fleet.pollAll()
  await run(20_000)
  await history.close()
  stop()
  await open({ Server: { rcon: rcon('Bob') } }, folder, false)
  expect(known(history.range('Server', hour).series.players!.max)).not.toEqual([])
  await fleet.pollAll()
  await run(20_000)
  expect([history.sessions('Server'), history.players('Server', 60 * minute)]).toEqual([[], []])
})

describe('the history without a folder', () => {
  it('has values up to now, whenever it is read', async () => {
    await open({ Server: { status: status(3) } }, null)
    await fleet.pollAll()
    await clock.advance(1_000)
    expect(history.uptime('Server', 1).days[0]!.known * 86_400).toBeCloseTo(1, 1)
    // It includes a time at which histories with a file are saved.
    await clock.advance(12_000)
    expect(history.uptime('Server', 1).days[0]!.known * 86_400).toBeCloseTo(13, 1)
  })
})

describe('the folder', () => {
  const folderOf = (env: Record<string, string>, to: Log = silentLog) => {
    const { history, data } = loadConfig({ env })
    return openFolder({ ...history, dataDir: data.dataDir }, to)
  }

  it('is HISTORY_DIR, else history in DATA_DIR', async () => {
    await open({})
    expect(await folderOf({ HISTORY_DIR: join(folder, 'a/b'), DATA_DIR: folder })).toBe(join(folder, 'a/b'))
    expect(await folderOf({ DATA_DIR: folder })).toBe(join(folder, 'history'))
    expect(readdirSync(folder).toSorted()).toEqual(['a', 'history'])
  })

  it('does not exist without either, or if it is not writable, which is logged once', async () => {
    await open({ Server: { status: status(3) } }, null)
    const lines = recordingLog()
    expect(await folderOf({}, lines)).toBeUndefined()
    expect(await folderOf({ HISTORY_DIR: '/dev/null/history' }, lines)).toBeUndefined()
    expect(lines.lines).toEqual([
      expect.stringContaining('; set HISTORY_DIR to keep it'),
      expect.stringContaining('/dev/null/history'),
    ])
    await fleet.pollAll()
    await run(minute)
    expect(known(history.range('Server', hour).series.players!.max).length).toBeGreaterThan(5)
    expect(log.lines).toEqual([])
    expect(readdirSync(folder)).toEqual([])
  })
})
