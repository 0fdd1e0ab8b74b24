import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'libsql'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/config/config.ts'
import { SourceError } from '../../src/game/errors.ts'
import type { Fields } from '../../src/game/fields.ts'
import { type History, openHistory } from '../../src/history/history.ts'
import { claimFolder } from '../../src/history/store/folder.ts'
import { openStoreThread } from '../../src/history/store/store-client.ts'
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
  }
}

/** As if the process were killed: no more data is written. */
const stop = () => fleet.close()
const file = () => join(folder, 'history.db')
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
    const before = [
      await history.range('Server', hour),
      await history.uptime('Server', 3),
      await history.uptime('down', 1),
      await history.sessions('Server'),
    ]
    await history.close()
    stop()
    await open({ Server: { status: status(1), rcon: rcon('Bob') }, down: {} })
    // Before the first list of the players.
    expect((await history.sessions('Server')).find(({ name }) => name === 'Bob')?.isOnline).toBeNull()
    await fleet.pollAll()
    expect([
      await history.range('Server', hour),
      await history.uptime('Server', 3),
      await history.uptime('down', 1),
      await history.sessions('Server'),
    ]).toEqual(before)
    expect(log.lines).toEqual([])
    expect(known((await history.range('Server', hour)).series.players!.max).length).toBeGreaterThan(36)
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
    const values = (await history.range('Server', hour)).series.players!.max.slice(-54)
    const text = values.map((value) => value ?? '.').join('')
    expect(text).toMatch(/^3{12,14}\.{28,30}5{12,14}$/)
    const [today] = (await history.uptime('Server', 1)).days
    expect(today!.known * 86_400).toBeCloseTo(240, -1)
    expect((await history.uptime('Server', 1)).record).toMatchObject({ players: 5 })
  })

  it('has each change of state, although the clock was set back', async () => {
    const refused = { status: new SourceError('refused', 'x') }
    await open({ Server: { status: status(3) } })
    await fleet.pollAll()
    await run(minute)
    fleet.scripts.Server = refused
    await run(5_000)
    clock.jump(-20_000)
    fleet.scripts.Server = { status: status(3) }
    await run(30_000)
    fleet.scripts.Server = refused
    await run(5_000)
    await history.close()
    expect(onFile('SELECT kind, count(*) AS count FROM events GROUP BY kind')).toEqual([
      { kind: 'down', count: 2 },
      { kind: 'up', count: 2 },
    ])
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
    await until(async () => (await history.uptime('Server', 1)).days[0]!.known > 0)
    expect((await history.uptime('Server', 1)).days[0]!.known * 86_400).toBeCloseTo(1, 1)
  })

  it('loses at most the last minute if the process is killed', async () => {
    await open({ Server: { status: status(3) } })
    await fleet.pollAll()
    await run(5 * minute)
    // A copy has the state at the time of the kill.
    const copy = mkdtempSync(join(tmpdir(), 'tickwarden-history-'))
    cpSync(folder, copy, { recursive: true })
    const { max: before } = (await history.range('Server', hour)).series.players!
    const opened = await openHistory({ fleet: fakeFleet({ Server: {} }, clock), clock, log, folder: copy })
    const { max } = (await opened.range('Server', hour)).series.players!
    expect(known(before).length).toBeGreaterThan(30)
    expect(max.slice(0, -7)).toEqual(before.slice(0, -7))
    await opened.close()
    rmSync(copy, { recursive: true })
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
    const { mean } = (await history.range('Server', { names: ['players'], range: 7 * 24 * 60 * minute, points: 1000 })).series
      .players!
    const total = known(mean)
    expect(total.length).toBeLessThanOrEqual(2)
    expect((await history.uptime('Server', 1)).days[0]!.players).toMatchObject({ mean: 7, max: 12 })
  })

  it('works for servers with any names', async () => {
    const names = ['A b', 'a b', 'a-b', 'Größe', '日本', 'x'.repeat(300), '..%2f']
    await open(Object.fromEntries(names.map((name, index) => [name, { status: status(index) }])))
    await fleet.pollAll()
    await run(minute)
    await history.close()
    stop()
    await open(Object.fromEntries(names.map((name) => [name, {}])))
    expect(await Promise.all(names.map(async (name) => (await history.uptime(name, 1)).record.players))).toEqual(
      names.map((_, index) => index),
    )
  })
})

/** Runs a program of its own on the database, as a person would with a tool. */
function onFile(statements: string, path = file()): unknown[] {
  const db = new Database(path)
  try {
    return statements.startsWith('SELECT') || statements.startsWith('PRAGMA integrity')
      ? db.prepare(statements).all()
      : [db.exec(statements)]
  } finally {
    db.close()
  }
}

describe('a file that cannot be used', () => {
  const make = async () => {
    await open({ Server: { status: status(3) } })
    await fleet.pollAll()
    await run(minute)
    await history.close()
    stop()
  }
  it.each([
    ['no database', () => writeFileSync(file(), 'something else '.repeat(500)), 'it is not an SQLite database'],
    ['another program’s', () => onFile('PRAGMA application_id = 7'), 'it is the database of another program'],
    ['newer', () => onFile('PRAGMA user_version = 3'), 'it was written by a newer version of Tickwarden'],
    [
      'damaged',
      () => {
        const bytes = readFileSync(file())
        writeFileSync(file(), bytes.fill(7, 4096 * 2, 4096 * 6))
      },
      'it is damaged',
    ],
    ['cut off', () => truncateSync(file(), 4096 * 3), 'it is damaged'],
  ])('because it is %s stays as it is; the service records in memory', async (_, damage, reason) => {
    await make()
    damage()
    const before = readFileSync(file())
    await open({ Server: { status: status(4) } })
    expect(log.lines).toEqual([
      `cannot use ${file()}: ${reason}; it stays as it is, and the history is kept in memory only. Fix this and restart, move the file away, or set HISTORY_DIR to another folder`,
    ])
    await fleet.pollAll()
    await run(minute)
    expect((await history.uptime('Server', 1)).record.players).toBe(4)
    await history.close()
    expect(readFileSync(file())).toEqual(before)
  })

  it('because another program has locked it stays as it is', async () => {
    await make()
    const other = new Database(file())
    other.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
    await open({ Server: { status: status(4) } })
    expect(log.lines).toEqual([expect.stringContaining('another program has locked it; it stays as it is')])
    other.exec('COMMIT')
    other.close()
  })

  it('for some time loses nothing that is recorded meanwhile', async () => {
    await open({ Server: { status: status(3), rcon: rcon('Alice') } })
    await fleet.pollAll()
    const other = new Database(file())
    other.exec('BEGIN IMMEDIATE')
    await run(2 * minute)
    await until(() => log.lines.length === 1)
    other.exec('COMMIT')
    other.close()
    await run(2 * minute)
    expect(log.lines).toEqual([
      'cannot write the history: another program has locked it; the last values are kept in memory until that succeeds',
      'the history can be written again',
    ])
    expect(known((await history.range('Server', hour)).series.players!.max).length).toBeGreaterThanOrEqual(24)
    expect(await history.sessions('Server')).toMatchObject([{ name: 'Alice', isOnline: true }])
  })

  it('until the service stops says that the last values are lost', async () => {
    await open({ Server: { status: status(3) } })
    await fleet.pollAll()
    const other = new Database(file())
    other.exec('BEGIN IMMEDIATE')
    await run(2 * minute)
    await until(() => log.lines.length === 1)
    await history.close()
    other.exec('COMMIT')
    other.close()
    expect(log.lines.slice(1)).toEqual(['cannot write the history: another program has locked it; its last values are lost'])
  })
})

it('is read while other programs use the file, which may read it too', async () => {
  await open({ Server: { status: status(3) } })
  await fleet.pollAll()
  await run(3 * minute)
  const rows = onFile("SELECT count(*) AS count FROM minutes JOIN servers ON id = server WHERE name = 'Server'")
  expect(rows).toEqual([expect.objectContaining({ count: expect.any(Number) })])
  expect((rows[0] as { count: number }).count).toBeGreaterThanOrEqual(2)
  expect(onFile('PRAGMA integrity_check')).toEqual([expect.objectContaining({ integrity_check: 'ok' })])
})

it('is read and not written if it is read-only', async () => {
  await open({ Server: { status: status(3) } })
  await fleet.pollAll()
  await run(2 * minute)
  await history.close()
  stop()
  const before = readFileSync(file())
  log = recordingLog()
  fleet = fakeFleet({ Server: { status: status(9) } }, clock)
  history = await openHistory({ fleet, clock, log, folder, isReadOnly: true })
  await fleet.pollAll()
  await run(2 * minute)
  expect((await history.uptime('Server', 1)).record.players).toBe(3)
  expect(known((await history.range('Server', hour)).series.players!.max).length).toBeGreaterThanOrEqual(12)
  expect((await history.overview(['Server'])).get('Server')!.up.at(-1)).toBe(1)
  expect(log.lines).toEqual([])
  await history.close()
  expect(readFileSync(file())).toEqual(before)
  expect(readdirSync(folder)).toEqual(['history.db'])
})

it('shows what another process writes if it is read-only', async () => {
  await open({ Server: { status: status(3) } })
  await fleet.pollAll()
  await run(2 * minute)
  const readers = fakeFleet({ Server: { status: status(3) } }, clock)
  const reader = await openHistory({ fleet: readers, clock, log, folder, isReadOnly: true })
  try {
    await readers.pollAll()
    const upNow = async () => (await reader.overview(['Server'])).get('Server')!.up.at(-1)
    expect(await upNow()).toBe(1)
    fleet.scripts.Server = { status: new SourceError('refused', 'x') }
    await run(10 * minute)
    expect(await upNow()).toBeLessThan(1)
  } finally {
    readers.close()
    await reader.close()
  }
})

it('keeps what HISTORY_DAYS says, of removed servers too', async () => {
  const day = 24 * 60 * minute
  const openFor = async (days: number, scripts: Record<string, Script>) => {
    log = recordingLog()
    fleet = fakeFleet(scripts, clock)
    history = await openHistory({ fleet, clock, log, folder, days })
    await fleet.pollAll()
    await run(minute)
  }
  await openFor(3, { old: { rcon: rcon('Alice') }, Server: { rcon: rcon('Bob') } })
  fleet.scripts.old = { rcon: rcon() }
  await run(minute)
  await history.close()
  stop()
  await clock.advance(2 * day)
  await openFor(3, { Server: { rcon: rcon('Bob') } })
  expect((await history.uptime('Server', 4)).days.filter(({ known }) => known > 0)).toHaveLength(2)
  await history.close()
  stop()
  await clock.advance(4 * day)
  await openFor(3, { Server: { rcon: rcon('Bob') } })
  await run(2 * minute)
  expect((await history.uptime('Server', 7)).days.filter(({ known }) => known > 0)).toHaveLength(1)
  await history.close()
  for (const table of ['ten_seconds', 'minutes', 'ten_minutes', 'days', 'sessions', 'events'])
    expect(
      onFile(`SELECT count(*) AS count FROM ${table} WHERE server = (SELECT id FROM servers WHERE name = 'old')`),
      table,
    ).toEqual([expect.objectContaining({ count: 0 })])
})

it('has the overview for all who need it while it is read', async () => {
  await open({ Server: { status: status(3) } })
  await fleet.pollAll()
  await run(2 * minute)
  const overviews = await Promise.all([history.overview(['Server']), history.overview(['Server'])])
  expect(overviews.map((overview) => overview.get('Server')?.up.at(-1))).toEqual([1, 1])
})

it('has the overview of one of many servers that has just been added again', async () => {
  await open(Object.fromEntries(Array.from({ length: 102 }, (_, index) => [`Server ${index}`, { status: status(3) }])))
  const { servers } = fleet
  await run(minute)
  fleet.update(servers.slice(1))
  await run(minute)
  fleet.update(servers)
  expect((await history.overview(['Server 0'])).get('Server 0')?.up.at(-1)).toBe(1)
})

it('reads the overview again at once after it could not be read', async () => {
  await open({ Server: { status: status(3) } })
  await fleet.pollAll()
  await run(2 * minute)
  onFile('ALTER TABLE days RENAME TO gone')
  await expect(history.overview(['Server'])).rejects.toThrow('no such table')
  onFile('ALTER TABLE gone RENAME TO days')
  expect((await history.overview(['Server'])).get('Server')?.up.at(-1)).toBe(1)
})

it('answers from a thread of its own as it does without', async () => {
  const answers: unknown[] = []
  for (const inThread of [false, true]) {
    rmSync(folder, { recursive: true })
    folder = mkdtempSync(join(tmpdir(), 'tickwarden-history-'))
    clock = manualClock(9_000)
    fleet = fakeFleet({ Server: { status: status(3), rcon: rcon('Alice', 'Bob', 'Carol') } }, clock)
    history = await openHistory({ fleet, clock, log: silentLog, folder, inThread })
    await fleet.pollAll()
    await run(2 * minute)
    const overview = await history.overview(['Server'])
    answers.push([
      await history.range('Server', hour),
      await history.uptime('Server', 3),
      await history.sessions('Server'),
      await history.regulars('Server', 60 * minute, 10),
      overview.get('Server'),
      await history.peak(clock.wall() - 60 * minute, clock.wall()),
    ])
    await history.close()
    stop()
  }
  expect(answers[1]).toEqual(answers[0])
})

it('rejects calls to its thread after close()', async () => {
  for (let round = 0; round < 20; round++) {
    const store = await openStoreThread({ path: file() })
    const closed = store.close()
    const late = await Promise.allSettled([store.bytes(), store.prune(clock.wall(), 400), store.servers(['late'])])
    await closed
    for (const result of late) expect(result).toMatchObject({ reason: { message: 'the thread of the history has ended' } })
  }
})

it.each([false, true])('is closed without a report while it is tidied, in a thread: %s', async (inThread) => {
  log = recordingLog()
  fleet = fakeFleet({ Server: { status: status(3) } }, clock)
  history = await openHistory({ fleet, clock, log, folder, inThread })
  await clock.advance(minute)
  await history.close()
  expect(log.lines).toEqual([])
})

it('of many servers without a folder leaves no file behind', async () => {
  const { TMPDIR } = process.env
  process.env.TMPDIR = folder
  try {
    fleet = fakeFleet({ Server: { status: status(3) } }, clock)
    history = await openHistory({ fleet, clock, log: silentLog, inThread: true })
  } finally {
    if (TMPDIR === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = TMPDIR
  }
  await fleet.pollAll()
  await run(minute)
  expect((await history.uptime('Server', 1)).record.players).toBe(3)
  expect(readdirSync(folder)).toEqual([])
})

it('neither restores nor records sessions if that is off', async () => {
  await open({ Server: { rcon: rcon('Alice') } })
  await fleet.pollAll()
  await run(20_000)
  await history.close()
  stop()
  await open({ Server: { rcon: rcon('Bob') } }, folder, false)
  expect(known((await history.range('Server', hour)).series.players!.max)).not.toEqual([])
  await fleet.pollAll()
  await run(20_000)
  expect([await history.sessions('Server'), await history.players('Server', 60 * minute)]).toEqual([[], []])
})

describe('the history without a folder', () => {
  it('has values up to now, whenever it is read', async () => {
    await open({ Server: { status: status(3) } }, null)
    await fleet.pollAll()
    await clock.advance(1_000)
    expect((await history.uptime('Server', 1)).days[0]!.known * 86_400).toBeCloseTo(1, 1)
    // It includes a time at which histories with a file are saved.
    await clock.advance(12_000)
    expect((await history.uptime('Server', 1)).days[0]!.known * 86_400).toBeCloseTo(13, 1)
  })
})

describe('the folder', () => {
  const folderOf = async (env: Record<string, string>, to: Log = silentLog) => {
    const { history, data } = loadConfig({ env })
    const found = await claimFolder({ ...history, dataDir: data.dataDir }, to, () => {})
    await found?.release()
    const { release: _, ...folder } = found ?? {}
    return found && folder
  }

  it('is HISTORY_DIR, else DATA_DIR', async () => {
    await open({}, null)
    const inner = join(folder, 'a/b')
    const writable = { isReadOnly: false }
    expect(await folderOf({ HISTORY_DIR: inner, DATA_DIR: folder })).toEqual({ ...writable, folder: inner, oldFolder: inner })
    expect(await folderOf({ DATA_DIR: folder })).toEqual({ ...writable, folder, oldFolder: join(folder, 'history') })
    expect(readdirSync(folder)).toEqual(['a'])
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
    expect(known((await history.range('Server', hour)).series.players!.max).length).toBeGreaterThan(5)
    expect(log.lines).toEqual([])
    expect(readdirSync(folder)).toEqual([])
  })
})
