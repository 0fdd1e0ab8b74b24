import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'libsql'
import { expect, it, onTestFinished } from 'vitest'
import { type SessionChange, SessionTracker } from '../../src/history/recording/sessions.ts'
import { HistoryStore } from '../../src/history/store/store.ts'
import { growthOf, isLinear } from '../helpers/growth.ts'

// What a large server, or one that lists other players at every poll, costs.

const now = 1_800_000_000_000
const day = 86_400_000
const noChanges = { slices: new Float64Array(0), events: [], incidents: [] }
const players = (count: number, prefix: string) => Array.from({ length: count }, (_, index) => ({ name: `${prefix}${index}` }))

function openStore(path?: string) {
  const store = new HistoryStore({ ...(path !== undefined && { path }) })
  onTestFinished(() => store.close())
  const [{ id: server } = { id: -1 }] = store.servers(['Server'])
  const write = (changes: readonly SessionChange[]) =>
    store.write({ ...noChanges, sessions: changes.map((change) => ({ ...change, server })) })
  return { store, server, write }
}

it('writes those who leave in a time that grows no faster than their number', async () => {
  const { store, server, write } = openStore()
  const make = (count: number) => players(count, 'p').map(({ name }) => ({ name, id: null, at: now, changedAt: now }))
  const run = (all: ReturnType<typeof make>) => {
    for (const kind of ['join', 'leave'] as const) write(all.map((one) => ({ kind, ...one })))
  }
  // Each could read all others who are online.
  expect(isLinear(await growthOf({ maxSize: 8_192, makers: {}, run }, make))).toBe(true)
  run(make(8_000))
  expect(store.servers(['Server'])[0]?.online).toEqual([])
  expect(store.sessions.players(server, day, now, true)).toHaveLength(8_000)
})

it('compares no more lists than can be written, and goes on with the next one after that', () => {
  const tracker = new SessionTracker()
  for (let poll = 0; poll < 20; poll++) tracker.observe(players(5_000, `${poll}-`), now + poll * 5_000, poll * 5_000)
  const changes = tracker.take()
  expect(changes.length).toBeLessThan(40_000)
  expect(tracker.isKnown).toBe(false)
  tracker.observe(players(1, 'last'), now + 100_000, 100_000)
  expect(tracker.isKnown).toBe(true)
  const names = tracker.take().flatMap((change) => (change.kind === 'join' ? [change.name] : []))
  expect(names).toEqual(['last0'])
})

it('keeps and lists the newest of a server with more than a million', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tickwarden-sessions-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'history.db')
  new HistoryStore({ path }).close()
  const db = new Database(path)
  // As an earlier version left it.
  for (const index of ['of_server', 'in_order', 'of_name']) db.exec(`DROP INDEX sessions_${index}`)
  db.exec(`INSERT INTO servers (name) VALUES ('Server'), ('other');
    WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < 1000100)
    INSERT INTO sessions (server, player, joined_at, left_at, online, changed_at)
    SELECT 1, 'p' || number, ${now - day} + number, ${now - day} + number + 1, 0, ${now - day} + number + 1 FROM numbers;
    INSERT INTO sessions (server, player, online, changed_at) VALUES (2, 'kept', 0, ${now - day})`)
  db.close()
  const { store, server, write } = openStore(path)
  const joins = players(10_000, 'new').map(({ name }) => ({ kind: 'join', name, id: null, at: now, changedAt: now }) as const)
  write(joins.slice(1))
  store.prune(now, 400)
  write(joins.slice(0, 1))
  store.prune(now, 400)
  expect(store.servers(['Server'])[0]?.online).toHaveLength(10_000)
  const file = new Database(path, { readonly: true })
  expect(file.prepare('SELECT server, count(*) FROM sessions GROUP BY server').raw().all()).toEqual([
    [1, 1_000_000],
    [2, 1],
  ])
  file.close()
  expect(store.sessions.players(server, 365 * day, now + 5_000, true)).toHaveLength(10_000)
  expect(store.sessions.last(server)).toHaveLength(200)
  expect(store.sessions.regulars(server, 365 * day, now + 5_000, true, 1)).toMatchObject([{ seconds: 5, firstSeen: now }])
})

it('tells players apart whose names differ only in characters that are not shown', () => {
  const { store, server, write } = openStore()
  const names = ['A', 'A\u0007', 'A\u202e']
  write(names.map((name, index) => ({ kind: 'join', name, id: null, at: now + index, changedAt: now + index }) as const))
  const found = store.sessions.regulars(server, day, now + 10_000, true, 10)
  expect(found.map(({ player, firstSeen }) => [player.NAME, firstSeen])).toEqual([
    ['A', now],
    ['A\\u0007', now + 1],
    ['A\\u202e', now + 2],
  ])
})
