import { mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'libsql'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type History, openHistory } from '../../src/history/history.ts'
import { BatchWriter } from '../../src/history/recording/batch-writer.ts'
import { RecordedServer } from '../../src/history/recording/recorded-server.ts'
import { HistoryStore } from '../../src/history/store/store.ts'
import { openLocalStore } from '../../src/history/store/store-client.ts'
import { type FakeFleet, fakeFleet, type Script } from '../helpers/fake-fleet.ts'
import { collectLog } from '../helpers/log-lines.ts'
import { manualClock } from '../helpers/manual-clock.ts'
import { until } from '../helpers/until.ts'

// What the history says of times in which something is missing: the list of players, or the database.

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const week = 7 * day
const status = { playersOnline: 2, playersMax: 20 }

let folder: string
let clock: ReturnType<typeof manualClock>
let fleet: FakeFleet
let history: History
let log: ReturnType<typeof collectLog>

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tickwarden-blind-'))
  clock = manualClock(9_000)
})
afterEach(async () => {
  fleet.close()
  await history.close()
  rmSync(folder, { recursive: true })
})

async function open(
  scripts: Record<string, Script>,
  options: { readonly days?: number; readonly recordsPlayers?: boolean } = {},
): Promise<void> {
  fleet = fakeFleet(scripts, clock)
  log = collectLog()
  history = await openHistory({ fleet, clock, folder, log, inThread: false, ...options })
}

/** The players of the list; undefined without a list. */
async function poll(names: readonly string[] | undefined, ms: number, server = 'Server'): Promise<void> {
  const players = names?.map((name) => ({ name }))
  fleet.scripts[server] = { status, ...(players && { rcon: { players: { complete: true, players } } }) }
  for (let passed = 0; passed < ms; passed += 5_000) {
    await clock.advance(5_000)
    await fleet.pollAll()
  }
}

const lock = () => {
  const other = new Database(join(folder, 'history.db'))
  other.exec('BEGIN IMMEDIATE')
  return () => {
    other.exec('ROLLBACK')
    other.close()
  }
}

it('counts no time for a player after the last list, and does not say that the player is online', async () => {
  await open({ Server: { status } })
  await poll([], minute)
  await poll(['Notch'], 10 * minute)
  const lastList = clock.wall()
  await poll(undefined, 5 * minute)
  const [player] = await history.players('Server', week)
  expect(player).toMatchObject({ online: null, sessions: 1 })
  // The values of a source are valid for a while.
  expect(player!.seconds).toBeGreaterThanOrEqual(595)
  expect(player!.seconds).toBeLessThanOrEqual(620)
  expect(player!.lastSeen - lastList).toBeLessThanOrEqual(20_000)
  expect((await history.sessions('Server'))[0]).toMatchObject({ name: 'Notch', isOnline: null })
  await poll(['Notch'], 5_000)
  expect((await history.players('Server', week))[0]).toMatchObject({ online: true, sessions: 1, lastSeen: clock.wall() })
})

it('counts no time in which no lists were recorded, also before a restart', async () => {
  await open({ Server: { status } })
  await poll([], minute)
  await poll(['Notch'], 10 * minute)
  await history.close()
  fleet.close()
  await open({ Server: { status } }, { recordsPlayers: false })
  await poll([], hour)
  await history.close()
  fleet.close()
  await open({ Server: { status } })
  await poll(['Notch'], 5 * minute)
  await poll([], minute)
  const sessions = await history.sessions('Server')
  expect(sessions.map(({ from, to }) => [from !== undefined, to !== undefined])).toEqual([
    [false, true],
    [true, false],
  ])
  expect((await history.players('Server', week))[0]).toMatchObject({ seconds: 0, sessions: 2, online: false })
})

it('goes on with a session over a short restart', async () => {
  await open({ Server: { status } })
  await poll([], minute)
  await poll(['Notch'], 5 * minute)
  await history.close()
  fleet.close()
  await clock.advance(5 * minute)
  await open({ Server: { status } })
  await poll(['Notch'], 5 * minute)
  expect(await history.players('Server', week)).toMatchObject([{ sessions: 1, online: true, seconds: 15 * 60 - 5 }])
})

it('records a server once the database is no longer locked at its start', async () => {
  await open({ Server: { status } })
  await poll(undefined, 2 * minute)
  await history.close()
  fleet.close()
  // As a process leaves it that is killed.
  new Database(join(folder, 'history.db')).exec('PRAGMA journal_mode = WAL')
  const unlock = lock()
  await open({ Server: { status } })
  await poll(undefined, minute)
  expect(log.lines).toEqual([expect.stringContaining('cannot write the history: another program has locked it')])
  unlock()
  await poll(undefined, 2 * minute)
  const { days, since } = await history.uptime('Server', 1)
  expect(days[0]!.known * day).toBeGreaterThan(3 * minute)
  expect(since).toBeLessThan(clock.wall() - 4 * minute)
  expect(log.lines.at(-1)).toContain('the history can be written again')
})

it('keeps the history in the file once that is no longer locked for reading, without a restart', async () => {
  await open({ Server: { status } })
  await poll(undefined, 2 * minute)
  await history.close()
  fleet.close()
  const other = new Database(join(folder, 'history.db'))
  other.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
  await open({ Server: { status } })
  await poll(undefined, 2 * minute + 30_000)
  expect(log.lines).toEqual([expect.stringContaining('another program has locked it; it stays as it is')])
  const known = async () => (await history.uptime('Server', 1)).days[0]!.known * day
  expect(await known()).toBeCloseTo(2.5 * minute - 5_000, -3)
  other.exec('ROLLBACK')
  other.close()
  await poll(undefined, minute)
  await until(() => log.lines.length === 2)
  expect(log.lines[1]).toContain('the file of the history can be used again')
  await poll(undefined, minute)
  // That of before and from then on; what was recorded in between is lost.
  expect(await known()).toBeGreaterThan(2.8 * minute)
  expect(await known()).toBeLessThan(4 * minute)
})

it('can be opened while another program reads it', async () => {
  await open({ Server: { status } })
  await poll(undefined, minute)
  await history.close()
  fleet.close()
  const reader = new Database(join(folder, 'history.db'))
  reader.exec('BEGIN; SELECT * FROM servers')
  await open({ Server: { status } })
  expect(log.lines.filter((line) => line.includes('in memory only'))).toEqual([])
  reader.exec('ROLLBACK')
  reader.close()
  await poll(undefined, minute)
  expect((await history.uptime('Server', 1)).days[0]!.known * day).toBeGreaterThan(1.5 * minute)
})

it('tries a locked database once a second, however many clients ask', async () => {
  await open({ Server: { status } })
  await poll(undefined, minute)
  let attempts = 0
  const store = {
    write: async () => {
      attempts++
      throw Object.assign(new Error('locked'), { code: 'SQLITE_BUSY' })
    },
  }
  const writer = new BatchWriter(store, { log, clock })
  const recorded = {
    moveTo: ({ slices }: { slices: Float64Array[] }) => slices.push(new Float64Array(1)),
  } as unknown as RecordedServer
  for (let count = 0; count < 100; count++) await writer.write([recorded], clock.wall())
  expect(attempts).toBe(1)
  await clock.advance(1_000)
  for (let count = 0; count < 100; count++) await writer.write([recorded], clock.wall())
  expect(attempts).toBe(2)
})

it('keeps the order of what could not be written, if several writes fail at once', async () => {
  await open({ Server: { status } })
  const store = await openLocalStore({ path: join(folder, 'history.db') })
  const writer = new BatchWriter(store, { log, clock })
  const recorded = new RecordedServer((await store.servers(['Other']))[0]!, clock)
  const observe = (up: boolean) =>
    recorded.observe({ ...fleet.watchers[0]!.snapshot(), up, knownUntil: hour }, undefined, clock.wall())
  const unlock = lock()
  observe(false)
  const first = writer.write([recorded], clock.wall())
  observe(true)
  await Promise.all([first, writer.write([recorded], clock.wall())])
  unlock()
  await clock.advance(minute)
  await writer.write([], clock.wall())
  expect(await store.incidents.list({ since: 0, limit: 2 })).toMatchObject([{ kind: 'down', to: clock.wall() - minute }])
  await store.close()
})

it('writes at its end what could not be written before', async () => {
  await open({ Server: { status } })
  await poll(undefined, minute)
  const unlock = lock()
  await poll(undefined, minute)
  await history.uptime('Server', 1)
  unlock()
  await history.close()
  const store = new HistoryStore({ path: join(folder, 'history.db'), isReadOnly: true })
  const [{ id } = { id: -1 }] = store.servers(['Server'])
  expect(store.buckets.uptime(id, 1, clock.wall()).days[0]!.known * day).toBeCloseTo(2 * minute - 5_000, -3)
  store.close()
})

it('shows values in the overview that were written late', async () => {
  await open({ Server: { status } })
  await poll(undefined, hour)
  const unlock = lock()
  for (let count = 0; count < 5; count++) {
    await poll(undefined, 10 * minute)
    await history.overview(['Server'])
  }
  unlock()
  await poll(undefined, 30 * minute)
  const { players } = (await history.overview(['Server'])).get('Server')!
  expect(players.slice(players.findIndex((value) => value !== null))).not.toContain(null)
})

it('weighs values by the time for which they were known', async () => {
  await open({ Server: { status } })
  await poll(undefined, 10 * minute)
  fleet.scripts.Server = { status: { playersOnline: 10, playersMax: 20 } }
  await fleet.pollAll()
  await clock.advance(5_000)
  await history.close()
  fleet.close()
  await clock.advance(3 * hour)
  await open({ Server: { status } })
  const { series } = await history.range('Server', { names: ['players'], range: day, points: 24 })
  const [mean] = series.players!.mean.filter((value) => value !== null)
  expect(mean).toBeGreaterThan(2)
  expect(mean).toBeLessThan(2.15)
})

it('keeps incidents that ended within the days that are kept, and their notes', async () => {
  await open({ Server: { status } }, { days: 1 })
  await history.close()
  fleet.close()
  const now = clock.wall()
  const db = new Database(join(folder, 'history.db'))
  const add = db.prepare('INSERT INTO incidents VALUES (1, ?, ?, ?, ?, 0, NULL)')
  const note = db.prepare("INSERT INTO incident_notes VALUES (1, ?, ?, 'why')")
  for (const [from, to] of [
    [now - 90 * hour, now - 80 * hour],
    [now - 30 * hour, now - hour],
  ] as const) {
    add.run(from, 'down', to, to)
    note.run(from, from)
  }
  // Older than all of them, and goes on.
  add.run(now - 100 * hour, 'hung', null, now)
  db.close()
  await open({ Server: { status } }, { days: 1 })
  const left = new Database(join(folder, 'history.db'), { readonly: true })
  const rows = (sql: string) => left.prepare(sql).raw().all()
  expect(rows('SELECT from_at FROM incidents ORDER BY from_at')).toEqual([[now - 100 * hour], [now - 30 * hour]])
  expect(rows('SELECT from_at FROM incident_notes')).toEqual([[now - 30 * hour]])
  left.close()
})

it('deletes old sessions of servers that are no longer watched, also of players who were online', async () => {
  await open({ Server: { status } }, { days: 1 })
  await history.close()
  fleet.close()
  const db = new Database(join(folder, 'history.db'))
  db.exec("BEGIN; INSERT INTO servers (name) VALUES ('removed')")
  const add = db.prepare('INSERT INTO sessions (server, player, online, changed_at) VALUES (?, ?, ?, ?)')
  const now = clock.wall()
  for (let count = 0; count < 1_100; count++) add.run(1, `online${count}`, 1, now)
  for (let count = 0; count < 1_100; count++) add.run(2, `gone${count}`, 1, now - 500 * day)
  add.run(2, 'ended', 0, now - 80 * hour)
  db.exec('COMMIT')
  db.close()
  await open({ Server: { status } }, { days: 1 })
  await poll(undefined, 2 * minute)
  const left = new Database(join(folder, 'history.db'), { readonly: true })
  expect(left.prepare('SELECT server, count(*) FROM sessions GROUP BY server').raw().all()).toEqual([[1, 1_100]])
  left.close()
})

it.each(['deleted', 'replaced'])('says once that its file was %s while it was open', async (what) => {
  await open({ Server: { status } })
  await poll(undefined, 2 * minute)
  expect(log.lines).toEqual([])
  const copy = join(folder, 'copy.db')
  new HistoryStore({ path: copy }).close()
  if (what === 'deleted') rmSync(join(folder, 'history.db'))
  else renameSync(copy, join(folder, 'history.db'))
  await poll(undefined, 3 * minute)
  expect(log.lines).toEqual([expect.stringContaining('error: history.db was deleted or replaced while Tickwarden was using it')])
})
