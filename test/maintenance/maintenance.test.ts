import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Maintenance, type MaintenanceOptions } from '../../src/maintenance/maintenance.ts'
import { addNewRecord, addRecords, type MaintenanceRecord, readRecords } from '../../src/maintenance/records.ts'
import { type Clock, systemClock } from '../../src/util/clock.ts'
import { silentLog } from '../../src/util/log.ts'
import { collectLog } from '../helpers/log-lines.ts'
import { until } from '../helpers/until.ts'

const start = Date.parse('2026-12-01T02:30:00Z')

/** A clock that stands still until it is set; timers are real. */
function fixedClock(): Clock & { set(text: string): void } {
  let now = start
  return {
    ...systemClock,
    wall: () => now,
    set(text) {
      now = Date.parse(text)
    },
  }
}

async function open(options: Partial<MaintenanceOptions> = {}) {
  const clock = fixedClock()
  const maintenance = await Maintenance.open({ windows: [], groupOf: () => undefined, clock, log: silentLog, ...options })
  onTestFinished(() => maintenance.close())
  return { clock, maintenance }
}

const nightly = {
  servers: ['surv*'],
  reason: 'backup',
  time: { schedule: '0 4 * * *', timezone: 'Europe/Berlin', durationMs: 1_800_000 },
}

test('windows by cron pattern are open in their time zone', async () => {
  const { clock, maintenance } = await open({ windows: [nightly] })
  const states = ['02:59:59', '03:00:00', '03:29:59', '03:30:00'].map((time) => {
    clock.set(`2026-12-01T${time}Z`)
    return maintenance.of('survival')
  })
  const open1 = { reason: 'backup', until: Date.parse('2026-12-01T03:30:00Z') }
  expect(states).toEqual([null, open1, open1, null])
  clock.set('2026-07-01T02:10:00Z')
  expect(maintenance.of('survival')).toEqual({ reason: 'backup', until: Date.parse('2026-07-01T02:30:00Z') })
  expect(maintenance.since('survival')).toBe(Date.parse('2026-07-01T02:00:00Z'))
  expect(maintenance.of('lobby')).toBeNull()
  expect(maintenance.since('lobby')).toBeUndefined()
  expect(maintenance.next('survival')?.from).toBe(Date.parse('2026-07-02T02:00:00Z'))
})

test('the folder of the records is created at the start, and its file is read when a command has written it', async () => {
  const folder = join(mkdtempSync(join(tmpdir(), 'maintenance-')), 'data')
  const { maintenance } = await open({ folder })
  await addRecords(folder, [{ id: '1', kind: 'start', servers: ['*'], from: start, to: start + 1_000, reason: '' }], start)
  await until(() => maintenance.of('survival') !== null)
})

test('a file that cannot be read is reported once, and when it can be read again', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'maintenance-'))
  const file = join(folder, 'maintenance.json')
  writeFileSync(file, '[')
  const log = collectLog()
  const { maintenance } = await open({ folder, log })
  await maintenance.sync()
  writeFileSync(file, '[]')
  await maintenance.sync()
  expect(log.lines).toEqual([
    expect.stringMatching(/^warn: .* cannot be read or stored \(\/.*\/maintenance\.json: not valid JSON\)\.$/),
    'info: The maintenance that was started by commands can be read and stored again.',
  ])
})

test('single windows and groups', async () => {
  const window = { servers: ['eu'], reason: 'upgrade', time: { from: start + 1_000, to: start + 2_000 } }
  const { clock, maintenance } = await open({ windows: [window], groupOf: (server) => (server === 'a' ? 'eu' : undefined) })
  expect(maintenance.of('a')).toBeNull()
  clock.set('2026-12-01T02:30:01Z')
  expect(maintenance.of('a')).toEqual({ reason: 'upgrade', until: start + 2_000 })
  expect(maintenance.of('b')).toBeNull()
})

test('commands start and end maintenance in the running service, and it is kept across restarts', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'maintenance-'))
  const { maintenance, clock } = await open({ folder, windows: [nightly] })
  await addRecords(
    folder,
    [{ id: '1', kind: 'start', servers: ['a'], from: start, to: start + 3_600_000, reason: 'disk' }],
    start,
  )
  await until(() => maintenance.of('a') !== null)
  const { maintenance: next, clock: nextClock } = await open({ folder, windows: [nightly] })
  expect(next.of('a')).toEqual({ reason: 'disk', until: start + 3_600_000 })
  clock.set('2026-12-01T03:10:00Z')
  nextClock.set('2026-12-01T03:10:00Z')
  expect(maintenance.of('survival')).not.toBeNull()
  await addRecords(folder, [{ id: '2', kind: 'end', servers: ['*'], at: clock.wall() }], start)
  await until(() => maintenance.of('a') === null && next.of('a') === null)
  // A planned window ends early too.
  expect(maintenance.of('survival')).toBeNull()
  clock.set('2026-12-02T03:10:00Z')
  expect(maintenance.of('survival')).not.toBeNull()
  // 40 minutes of a, 10 minutes of survival.
  expect(maintenance.partOfDay('a', '2026-12-01')).toBeCloseTo(40 / 1_440, 5)
  expect(maintenance.partOfDay('survival', '2026-12-01')).toBeCloseTo(10 / 1_440, 5)
  expect(maintenance.partOfDay('survival', '2026-12-02')).toBeCloseTo(10 / 1_440, 5)
})

test('replicas share what commands have started', async () => {
  const stored: Record<string, string> = {}
  const shared = {
    all: async () => ({ ...stored }),
    put: async (name: string, value: string) => {
      stored[name] = value
    },
  }
  const folder = mkdtempSync(join(tmpdir(), 'maintenance-'))
  const [{ maintenance: one }, { maintenance: two }] = [await open({ folder, shared }), await open({ shared })]
  await addRecords(folder, [{ id: '1', kind: 'start', servers: ['a'], from: start, to: start + 3_600_000, reason: '' }], start)
  await one.sync()
  await two.sync()
  expect(two.of('a')).toEqual({ reason: '', until: start + 3_600_000 })
})

test('what commands have ended and started stays so after the clock was set back, across restarts and in every replica', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'maintenance-'))
  const { maintenance, clock } = await open({ folder, windows: [nightly] })
  const command = async (text: string, record: object) => {
    const now = Date.parse(`2026-12-01T${text}:00Z`)
    const added = { id: text, servers: ['a', 'survival'], at: now, ...record } as unknown as MaintenanceRecord
    await addNewRecord(folder, added, now)
    clock.set(`2026-12-01T${text}:00Z`)
    await maintenance.sync()
  }
  const begin = (text: string) => {
    const from = Date.parse(`2026-12-01T${text}:00Z`)
    return command(text, { kind: 'start', from, to: from + 4 * 3_600_000, reason: text })
  }
  /** The reasons at some times in this process and in one that reads the records in another order, as from Redis. */
  const reasons = async (...times: readonly string[]) => {
    const records = (await readRecords(folder)).map((record) => [record.id, JSON.stringify(record)]).reverse()
    const other = await open({
      windows: [nightly],
      shared: { all: async () => Object.fromEntries(records), put: async () => {} },
    })
    return times.map((text) => {
      const both = [{ maintenance, clock }, other].map((one) => {
        one.clock.set(`2026-12-01T${text}:00Z`)
        return one.maintenance.of('a')?.reason ?? one.maintenance.of('survival')?.reason ?? ''
      })
      expect(both[1]).toBe(both[0])
      return both[0]
    })
  }
  await begin('10:00')
  expect(await reasons('09:00', '10:00', '13:59', '14:00')).toEqual(['10:00', '10:00', '10:00', ''])
  await command('09:05', { kind: 'end' })
  expect(await reasons('09:05', '10:00', '13:00', '03:10')).toEqual(['', '', '', 'backup'])
  await command('09:30', { kind: 'end' })
  await begin('08:30')
  expect(await reasons('08:30', '09:30', '12:29', '12:30')).toEqual(['08:30', '08:30', '08:30', ''])
  await command('08:30', { kind: 'end', id: 'last' })
  expect(await reasons('08:00', '08:30', '10:00')).toEqual(['', '', ''])
})
