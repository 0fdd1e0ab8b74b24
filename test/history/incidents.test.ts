import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'libsql'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { SourceError } from '../../src/game/errors.ts'
import type { Fields } from '../../src/game/fields.ts'
import type { ServerSnapshot } from '../../src/game/snapshot.ts'
import { openHistory } from '../../src/history/history.ts'
import { IncidentTracker } from '../../src/history/recording/incident-tracker.ts'
import { HistoryStore } from '../../src/history/store/store.ts'
import { silentLog } from '../../src/util/log.ts'
import { fakeFleet, type Script } from '../helpers/fake-fleet.ts'
import { type ManualClock, manualClock } from '../helpers/manual-clock.ts'
import { hasTool } from '../helpers/require-tool.ts'
import { buildTestApp, type TestApp } from '../helpers/test-app.ts'

const second = 1_000
const minute = 60 * second
const status: Partial<Fields> = { playersOnline: 2, playersMax: 20 }
const up: Script = { status }
const refused: Script = { status: new SourceError('refused', 'connection refused') }
const ticks = (tickRate: number, more: Partial<Fields> = {}): Script => ({
  status,
  rcon: { tickRate, tickRateTarget: 20, ...more },
})

interface Shown {
  readonly kind: string
  readonly from: number
  readonly to: number | null
  readonly ongoing: boolean | null
  readonly unknown: number
  readonly reason: string | null
  readonly tickRate: number | null
}

async function run({ clock, fleet }: Pick<TestApp, 'clock' | 'fleet'>, milliseconds: number): Promise<void> {
  for (let passed = 0; passed < milliseconds; passed += 5 * second) {
    await clock.advance(5 * second)
    await fleet.pollAll()
  }
}

const read = async ({ get }: TestApp, query = ''): Promise<readonly Shown[]> =>
  ((await (await get(`/api/v1/incidents${query}`)).json()) as { readonly incidents: readonly Shown[] }).incidents

/** What is told after a server has been in some states for a while each. */
async function incidentsAfter(...states: readonly (readonly [script: Script, milliseconds: number])[]) {
  const service = await buildTestApp({ scripts: { Server: { ...up } } })
  for (const [script, milliseconds] of states) {
    service.fleet.scripts.Server = script
    await run(service, milliseconds)
  }
  return { service, incidents: await read(service) }
}

describe('/api/v1/incidents', () => {
  it('tells an outage while it goes on, and with its end', async () => {
    const { service, incidents } = await incidentsAfter([up, minute], [refused, 2 * minute])
    expect(incidents).toMatchObject([{ server: 'Server', kind: 'down', to: null, ongoing: true, unknown: 0, reason: 'refused' }])
    service.fleet.scripts.Server = up
    await run(service, 5 * second)
    const [ended] = await read(service)
    expect(ended).toMatchObject({ ongoing: false, from: incidents[0]?.from })
    expect(Number(ended?.to) - Number(ended?.from)).toBe(2 * minute)
  })

  it('tells two outages apart', async () => {
    const { incidents } = await incidentsAfter([refused, minute], [up, minute], [refused, minute])
    expect(incidents.map(({ kind, ongoing }) => [kind, ongoing])).toEqual([
      ['down', true],
      ['down', false],
    ])
  })

  it('tells lag once it has lasted for a minute, from its start to its end, with the lowest tick rate', async () => {
    const { incidents } = await incidentsAfter(
      [ticks(20), minute],
      [ticks(12), 30 * second],
      [ticks(9.46), 90 * second],
      [ticks(20), 2 * minute],
    )
    expect(incidents).toMatchObject([{ kind: 'lag', ongoing: false, reason: null, tickRate: 9.5 }])
    expect(Number(incidents[0]?.to) - Number(incidents[0]?.from)).toBe(2 * minute)
  })

  it.each([
    {
      what: 'short lag',
      states: [[ticks(20), minute] as const, [ticks(12), 50 * second] as const, [ticks(20), 2 * minute] as const],
    },
    { what: 'a frozen server', states: [[ticks(12, { tickFrozen: true }), 3 * minute] as const] },
    { what: 'a sleeping server', states: [[{ status: new SourceError('asleep', 'stopped') }, 3 * minute] as const] },
    { what: 'a server that has not been polled', states: [] },
  ])('tells nothing of $what', async ({ states }) => {
    expect((await incidentsAfter(...states)).incidents).toEqual([])
  })

  it('does not say that an outage goes on, or has ended, while nothing is known of the server', async () => {
    const { service } = await incidentsAfter([refused, minute])
    // Stale 15 s after the last poll.
    await service.clock.advance(10 * minute)
    expect(await read(service)).toMatchObject([{ to: null, ongoing: null }])
    await run(service, minute)
    const [incident] = await read(service)
    expect(incident).toMatchObject({ kind: 'down', to: null, ongoing: true })
    expect(incident?.unknown).toBeGreaterThan(9 * minute)
    expect(incident?.unknown).toBeLessThan(10 * minute)
  })

  it('has the newest first, within limits, of some or all servers', async () => {
    const service = await buildTestApp({ scripts: { 'a,b': { ...refused }, two: { ...up } } })
    await run(service, minute)
    service.fleet.scripts.two = refused
    await run(service, minute)
    const names = async (query: string) =>
      (await read(service, query)).map((incident) => (incident as unknown as { server: string }).server)
    expect(await names('')).toEqual(['two', 'a,b'])
    expect(await names('?limit=1')).toEqual(['two'])
    expect(await names('?servers=a%2Cb')).toEqual(['a,b'])
    expect(await names('?servers=a%2Cb,two&days=1')).toEqual(['two', 'a,b'])
    const own = await (await service.get('/api/v1/servers/a%2Cb/incidents')).json()
    expect(own).toMatchObject({ incidents: [{ server: 'a,b' }] })
    for (const [path, code] of [
      ['/api/v1/incidents?days=401', 'INVALID_PARAMETER'],
      ['/api/v1/incidents?limit=0', 'INVALID_PARAMETER'],
      ['/api/v1/incidents?servers=', 'INVALID_PARAMETER'],
      ['/api/v1/incidents?servers=three', 'NOT_FOUND'],
      ['/api/v1/servers/three/incidents', 'NOT_FOUND'],
      ['/servers/three/incidents.atom', 'NOT_FOUND'],
    ])
      expect([path, await (await service.get(path ?? '')).json()]).toMatchObject([path, { code }])
  })
})

describe('IncidentTracker', () => {
  const snapshot = (more: Partial<ServerSnapshot>): ServerSnapshot => ({
    ...{ server: 'one', at: 0, fields: {}, sources: [], polls: {}, up: true, knownUntil: 15_000 },
    ...more,
  })

  it('tells a hang, and the outage that it becomes', () => {
    const tracker = new IncidentTracker()
    tracker.observe(snapshot({ mainThread: { responsive: false } }), 1_000)
    tracker.observe(snapshot({ mainThread: { responsive: false } }), 6_000)
    tracker.observe(snapshot({ up: false }), 11_000)
    expect(tracker.take(12_000)).toEqual([
      { kind: 'hung', from: 1_000, to: 11_000, knownAt: 11_000, unknownMs: 0, detail: null },
      { kind: 'down', from: 11_000, to: null, knownAt: 12_000, unknownMs: 0, detail: null },
    ])
  })

  it('counts the time for which the process was stopped as unknown', () => {
    const tracker = new IncidentTracker()
    tracker.observe(snapshot({ up: false }), 1_000)
    expect(tracker.take(500_000)).toMatchObject([{ knownAt: 16_000 }])
    tracker.observe(snapshot({ up: false }), 601_000)
    expect(tracker.take(602_000)).toMatchObject([{ from: 1_000, to: null, knownAt: 602_000, unknownMs: 585_000 }])
  })
})

describe('the Atom feeds', () => {
  const parse = `
import sys, json, xml.etree.ElementTree as x
a = '{http://www.w3.org/2005/Atom}'
f = x.fromstring(sys.stdin.buffer.read())
print(json.dumps({'title': f.findtext(a + 'title'), 'id': f.findtext(a + 'id'), 'updated': f.findtext(a + 'updated'),
  'links': [l.get('href') for l in f.findall(a + 'link')],
  'entries': [[e.findtext(a + t) for t in ('id', 'title', 'updated', 'summary')] + [e.find(a + 'link').get('href')] for e in f.findall(a + 'entry')]}))`

  it.skipIf(!hasTool('python3'))('are XML whatever the names are, with stable IDs and absolute links', async () => {
    const name = 'a <b>&"\u0001]]>'
    const service = await buildTestApp({ scripts: { [name]: { ...refused } } })
    await run(service, minute)
    const feed = async (path: string) => {
      const reply = await service.get(path)
      expect(reply.headers.get('content-type')).toBe('application/atom+xml; charset=utf-8')
      return JSON.parse(execFileSync('python3', ['-c', parse], { input: Buffer.from(await reply.text()), encoding: 'utf8' }))
    }
    const one = await feed(`/servers/${encodeURIComponent(name)}/incidents.atom`)
    const all = await feed('/incidents.atom')
    expect(all.entries).toEqual(one.entries)
    expect(all.id).not.toBe(one.id)
    const [[id, title, updated, summary, link]] = all.entries
    expect(id).toMatch(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/)
    expect([title, summary]).toEqual([`a <b>&"\ufffd]]> is down (refused)`, `a <b>&"\ufffd]]> is down (refused)`])
    expect(new Date(updated).toISOString()).toBe(updated)
    expect(link).toMatch(/^http:\/\/[^/]+\/servers\/a%20%3Cb%3E%26%22%01%5D%5D%3E$/)
    expect(all.links[0]).toMatch(/^http:\/\/[^/]+\/incidents\.atom$/)
    service.fleet.scripts[name] = up
    await run(service, minute)
    expect((await feed('/incidents.atom')).entries[0]).toMatchObject([
      id,
      expect.stringContaining('was down for'),
      expect.any(String),
      expect.any(String),
      link,
    ])
  })
})

describe('the recorded incidents', () => {
  let folder: string
  let clock: ManualClock
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tickwarden-incidents-'))
    clock = manualClock()
    return () => rmSync(folder, { recursive: true })
  })

  async function open(scripts: Record<string, Script>) {
    const fleet = fakeFleet(scripts, clock)
    const history = await openHistory({ fleet, clock, log: silentLog, folder })
    onTestFinished(() => fleet.close())
    return { fleet, clock, history, incidents: () => history.incidents({ since: 0, limit: 10 }) }
  }

  it('go on after a restart, with the time between them as unknown', async () => {
    const first = await open({ one: { ...refused }, two: { ...refused } })
    await run(first as never, minute)
    await first.history.close()
    first.fleet.close()
    await clock.advance(5 * minute)
    const second = await open({ one: { ...refused }, two: { ...up } })
    await run(second as never, minute)
    const incidents = await second.incidents()
    expect(incidents).toHaveLength(2)
    const of = (name: string) => incidents.find(({ server }) => server === name)
    expect(of('one')).toMatchObject({ to: null })
    expect(of('one')?.unknownMs).toBeGreaterThanOrEqual(5 * minute)
    // When it was first seen to be up again, with the time in between as unknown.
    expect(Number(of('two')?.to) - Number(of('two')?.from)).toBe(6 * minute)
    expect(of('two')?.unknownMs).toBeGreaterThanOrEqual(5 * minute)
    await second.history.close()
  })

  it('tell the tick rate of a server that lags as soon as it is up again, after a restart', async () => {
    const first = await open({ one: { ...refused } })
    await run(first as never, minute)
    await first.history.close()
    first.fleet.close()
    const second = await open({ one: { ...ticks(12) } })
    await run(second as never, 2 * minute)
    expect(await second.incidents()).toMatchObject([
      { kind: 'lag', detail: '12' },
      { kind: 'down', detail: 'refused' },
    ])
    await second.history.close()
  })

  it('of a database of an earlier version are made of its changes of state', async () => {
    const first = await open({ one: { ...up } })
    await run(first as never, minute)
    await first.history.close()
    first.fleet.close()
    const db = new Database(join(folder, 'history.db'))
    const at = Math.round(clock.wall())
    db.exec(`DROP TABLE incidents; DROP TABLE incident_notes; DELETE FROM events; PRAGMA user_version = 1;
      INSERT INTO events (time, server, kind, detail) VALUES (${at - 9000}, 1, 'up', NULL), (${at - 8000}, 1, 'down', 'timeout'),
        (${at - 7000}, 1, 'version', '1.21.11'), (${at - 6000}, 1, 'hung', NULL), (${at - 5000}, 1, 'up', NULL)`)
    db.close()
    const second = await open({ one: { ...up } })
    expect(await second.incidents()).toMatchObject([
      { kind: 'hung', from: at - 6000, to: at - 5000, detail: null },
      { kind: 'down', from: at - 8000, to: at - 6000, detail: 'timeout' },
    ])
    await second.history.close()
  })

  it('of a server that never stops flapping are bounded, and found and noted without reading all', () => {
    const store = new HistoryStore({})
    onTestFinished(() => store.close())
    const [one, two] = store.servers(['one', 'two']).map(({ id }) => id)
    const incident = (server = 0, from = 0, to: number | null = from + 5) =>
      ({ server, kind: 'down', from, to, knownAt: to ?? 400_000, unknownMs: 0, detail: null }) as const
    const incidents = [incident(two, 7, null), ...Array.from({ length: 12_000 }, (_, index) => incident(one, 10 * index))]
    const events = incidents.map(({ server, from }) => ({ server, time: from, kind: 'down', detail: null }) as const)
    store.write({ slices: new Float64Array(0), sessions: [], events, incidents })
    const found = (since: number, servers?: readonly string[]) =>
      store.incidents.list({ since, limit: 2, ...(servers && { servers }) }).map(({ server, from }) => [server, from])
    expect(found(119_994)).toEqual([
      ['one', 119_990],
      ['two', 7],
    ])
    expect(found(119_996, ['one'])).toEqual([])
    expect(found(119_996, ['one', 'two'])).toEqual([['two', 7]])
    store.prune(120_000, 400)
    expect(store.incidents.list({ since: 0, limit: 1e6 })).toHaveLength(10_001)
    expect(store.incidents.addNote({ server: one ?? 0, from: 0 }, { at: 1, text: 'gone' })).toBeUndefined()
    store.incidents.addNote({ server: one ?? 0, from: 20_000 }, { at: 1, text: 'by ID' })
    store.incidents.addNote('one', { at: 2, text: 'by name' })
    const noted = store.incidents.list({ since: 0, limit: 1e6 }).filter(({ notes }) => notes.length > 0)
    expect(noted.map(({ from, notes }) => [from, notes[0]?.text])).toEqual([
      [119_990, 'by name'],
      [20_000, 'by ID'],
    ])
  })

  it('can be listed and noted by the command while the service runs', async () => {
    const service = await open({ one: { ...refused } })
    await run(service as never, 2 * minute)
    const [incident] = await service.incidents()
    const main = join(import.meta.dirname, '..', '..', 'dist', 'src', 'main.js')
    const command = (...args: readonly string[]) => {
      try {
        const env = { ...process.env, DATA_DIR: folder, NO_COLOR: '1' }
        return {
          code: 0,
          text: execFileSync(process.execPath, [main, 'incident', ...args], {
            env,
            encoding: 'utf8',
            stdio: 'pipe',
          }),
        }
      } catch (error) {
        const { status: code, stderr } = error as { readonly status: number; readonly stderr: string }
        return { code, text: stderr }
      }
    }
    expect(command('note', 'one', 'The disk was "full" <now>.')).toMatchObject({ code: 0 })
    expect(command('note', incident?.id ?? '', 'It has a new one.')).toMatchObject({ code: 0 })
    expect(command('list', 'one').text).toMatch(
      /^1-\d+ {2}\S+Z {2}one is down \(refused\)\n {2}\S+ {2}The disk was "full" <now>\.\n {2}\S+ {2}It has a new one\.\n$/,
    )
    expect(command('note', 'three', 'text')).toEqual({ code: 1, text: expect.stringContaining('no incident of "three"') })
    expect(command('note', 'one', 'two\nlines')).toMatchObject({ code: 2 })
    expect(command('note', 'one', 'x'.repeat(501))).toMatchObject({
      code: 2,
      text: expect.stringContaining('the maximum is 500'),
    })
    expect((await service.incidents())[0]?.notes.map(({ text }) => text)).toEqual([
      'The disk was "full" <now>.',
      'It has a new one.',
    ])
    await service.history.close()
    expect(readFileSync(join(folder, 'history.db')).subarray(0, 15).toString()).toBe('SQLite format 3')
  })
})
