import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32, gunzipSync } from 'node:zlib'
import Database from 'libsql'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openHistory } from '../../src/history/history.ts'
import type { RangeValues } from '../../src/history/values/range.ts'
import type { Uptime } from '../../src/history/values/uptime.ts'
import { fakeFleet } from '../helpers/fake-fleet.ts'
import { collectLog } from '../helpers/log-lines.ts'
import { manualClock } from '../helpers/manual-clock.ts'
import { until } from '../helpers/until.ts'

/** A file of an earlier version and what that answered from it: 28 hours of a server with outages and up to four players. */
const fixtures = new URL('../fixtures/history/', import.meta.url)
const name = 'gr-e-1.3852322f07e0.history'
const file = gunzipSync(readFileSync(new URL(`${name}.gz`, fixtures)))
const server = 'Größe 1'
const answers = JSON.parse(readFileSync(new URL('answers.json', fixtures), 'utf8')) as {
  readonly wall: number
  readonly ranges: Readonly<Record<'1h' | '24h' | '7d' | '30d', RangeValues>>
  readonly uptime: Uptime
  readonly recent: { readonly to: number; readonly up: readonly (number | null)[] }
  readonly sessions: readonly unknown[]
}
const ranges = { '1h': 3_600_000, '24h': 86_400_000, '7d': 7 * 86_400_000, '30d': 30 * 86_400_000 } as const
const points = { '1h': 360, '24h': 24, '7d': 28, '30d': 28 } as const

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tickwarden-import-'))
  writeFileSync(join(folder, name), file)
})
afterEach(() => rmSync(folder, { recursive: true }))

async function open() {
  const clock = manualClock(answers.wall - 1_700_000_000_000)
  const fleet = fakeFleet({ [server]: {} }, clock)
  const log = collectLog()
  const history = await openHistory({ fleet, clock, log, folder })
  return {
    history,
    log,
    clock,
    async close() {
      fleet.close()
      await history.close()
    },
  }
}

/** Four digits, as the file has them; its means did not count how long each value was known. */
function expectAbout(found: readonly (number | null)[], expected: readonly (number | null)[], message: string): void {
  const [least, part] = message.endsWith('mean') ? [0.02, 0.01] : [0.002, 0.001]
  expect(
    found.map((value) => value === null),
    message,
  ).toEqual(expected.map((value) => value === null))
  for (const [index, value] of expected.entries())
    if (value !== null) expect(Math.abs(found[index]! - value), `${message} ${index}`).toBeLessThanOrEqual(least + value * part)
}

async function expectAnswers({ history }: Awaited<ReturnType<typeof open>>): Promise<void> {
  for (const key of ['1h', '24h', '7d', '30d'] as const) {
    const expected = answers.ranges[key]
    const names = Object.keys(expected.series) as (keyof typeof expected.series)[]
    const found = await history.range(server, { names, range: ranges[key], points: points[key] })
    expect([found.from, found.to, found.step]).toEqual([expected.from, expected.to, expected.step])
    for (const series of names)
      for (const of of ['min', 'mean', 'max'] as const)
        expectAbout(found.series[series]![of], expected.series[series]![of], `${key} ${series} ${of}`)
  }
  const { days, since, record } = await history.uptime(server, 3)
  expect([since, record]).toEqual([answers.uptime.since, answers.uptime.record])
  for (const [index, { players, ...day }] of days.entries()) {
    const expected = answers.uptime.days[index]!
    expect(day.date).toBe(expected.date)
    expect(day.known).toBeCloseTo(expected.known, 5)
    expect(day.up).toBeCloseTo(expected.up!, 4)
    expect([players.max, players.maxAt]).toEqual([expected.players.max, expected.players.maxAt])
    expect(players.mean).toBeCloseTo(expected.players.mean!, 1)
  }
  // Before the first list of the players.
  const sessions = (await history.sessions(server)).map((one) => ({ ...one, isOnline: one.isOnline ?? true }))
  expect(sessions.slice(0, 40)).toEqual(answers.sessions)
}

it('answers as the version that wrote the files did, which are then kept aside', async () => {
  const opened = await open()
  await expectAnswers(opened)
  expect(opened.log.lines).toEqual([
    expect.stringContaining('taking over histories of an earlier version from'),
    expect.stringContaining('took over histories: 1; their files are now in'),
  ])
  const { up } = (await opened.history.overview([server])).get(server)!
  const known = up.filter((part) => part !== null)
  const before = answers.recent.up.filter((part) => part !== null)
  const mean = (parts: readonly number[]) => parts.reduce((sum, part) => sum + part, 0) / parts.length
  expect(mean(known)).toBeCloseTo(mean(before), 1)
  await opened.close()
  expect(readFileSync(join(folder, 'imported', name))).toEqual(file)
  expect(readdirSync(folder).filter((entry) => entry.endsWith('.history'))).toEqual([])
})

it('adds nothing twice if the process is killed before the files are moved', async () => {
  await (await open()).close()
  copyFileSync(join(folder, 'imported', name), join(folder, name))
  const opened = await open()
  await expectAnswers(opened)
  await opened.close()
  expect(readdirSync(folder)).not.toContain(name)
})

/** The frames of the file; those from the third on are what was recorded later, in order. */
function readFrames(): readonly Buffer[] {
  const frames: Buffer[] = []
  for (let at = 8; at < file.length; at += frames.at(-1)!.length) frames.push(file.subarray(at, at + 9 + file.readUInt32LE(at)))
  return frames
}

function toFrame(kind: number, payload: Buffer): Buffer {
  const start = Buffer.alloc(9)
  start.writeUInt32LE(payload.length)
  start.writeUInt8(kind, 4)
  start.writeUInt32LE(crc32(payload, kind), 5)
  return Buffer.concat([start, payload])
}

/** The frame of a file that has nothing yet, begun at `since`, Unix milliseconds. */
function emptyImage(since: number): Buffer {
  const levels = 4 * (4 + 4 + 5 * 8)
  const payload = Buffer.alloc(3 * 8 + levels + 4 + 4 + 4 + 4)
  payload.writeDoubleLE(since)
  for (const at of [8, 16]) payload.writeDoubleLE(Number.NaN, at)
  return toFrame(2, payload)
}

it.each(['its own file, moved back', 'a new file'])(
  'adds what the earlier version wrote to %s when it was started again',
  async (to) => {
    const [header, [named, image, ...later]] = [file.subarray(0, 8), readFrames()]
    // The first slice of a minute: others may be a part of the bucket of the slice before.
    const half = later.findIndex(
      (frame, index) => index > later.length / 2 && frame.readUInt8(4) === 3 && frame.readUInt32LE(9) % 6 === 0,
    )
    const since = later[half]!.readUInt32LE(9) * 10_000 + 1
    const first = Buffer.concat([header, named!, image!, ...later.slice(0, half)])
    const second = to === 'a new file' ? Buffer.concat([header, named!, emptyImage(since), ...later.slice(half)]) : file
    writeFileSync(join(folder, name), first)
    await (await open()).close()
    // The files of other servers may be read before it, by a process that is then killed.
    writeFileSync(join(folder, 'other.history'), Buffer.concat([header, toFrame(1, Buffer.from('Other')), image!, ...later]))
    await (await open()).close()
    rmSync(join(folder, 'imported', 'other.history'))
    if (to !== 'a new file') rmSync(join(folder, 'imported', name))
    writeFileSync(join(folder, name), second)
    const opened = await open()
    await expectAnswers(opened)
    await opened.close()
    const kept = readdirSync(join(folder, 'imported'))
    expect(kept).toEqual(to === 'a new file' ? [name, expect.stringContaining(`${name}.`)] : [name])
    expect(readFileSync(join(folder, 'imported', name))).toEqual(to === 'a new file' ? first : file)
  },
)

it('waits for a locked database before anything is recorded in it', async () => {
  const [start, frames] = [file.subarray(0, 8), readFrames()]
  writeFileSync(join(folder, name), Buffer.concat([start, ...frames.slice(0, -2)]))
  await (await open()).close()
  // The earlier version was started again.
  writeFileSync(join(folder, name), file)
  const other = new Database(join(folder, 'history.db'))
  other.exec('BEGIN IMMEDIATE')
  const opened = await open()
  expect(opened.log.lines.at(-1)).toMatch(/another program has locked it; .* It is tried again once a minute$/)
  other.exec('COMMIT')
  other.close()
  await opened.clock.advance(60_000)
  await until(() => opened.log.lines.some((line) => line.includes('can be used again')))
  await opened.close()
  expect(opened.log.lines).toContainEqual(expect.stringContaining('took over histories: 1;'))
  expect(readdirSync(join(folder, 'imported'))).toHaveLength(2)
})

it.each([
  ['is damaged at its start', Buffer.concat([file.subarray(0, 20), Buffer.alloc(40, 7), file.subarray(60)])],
  ['is no history', Buffer.from('something else')],
  ['is empty', Buffer.alloc(0)],
])('leaves a file that %s where it is', async (_, content) => {
  writeFileSync(join(folder, 'other.history'), content)
  const opened = await open()
  await expectAnswers(opened)
  expect(opened.log.lines).toContainEqual(expect.stringMatching(/^warn: cannot take over .*other\.history: it is damaged/))
  await opened.close()
  expect(readFileSync(join(folder, 'other.history'))).toEqual(content)
})

it.each([1, 8, 50, 500, 5_000])('reads a file that lacks its last %i bytes', async (missing) => {
  writeFileSync(join(folder, name), file.subarray(0, -missing))
  const opened = await open()
  expect((await opened.history.uptime(server, 3)).record).toEqual(answers.uptime.record)
  await opened.close()
})

it('never fails on a damaged image, and takes over no wrong times', async () => {
  rmSync(join(folder, name))
  for (let part = 0; part < 60; part++) {
    const damaged = Buffer.from(file)
    damaged.fill(part % 2 === 0 ? 0xff : 0, 60 + part * 400, 68 + part * 400)
    writeFileSync(join(folder, `${part}.history`), damaged)
  }
  const opened = await open()
  const { since, record } = await opened.history.uptime(server, 3)
  for (const at of [since, record.at]) expect(() => new Date(at ?? 0).toISOString()).not.toThrow()
  await opened.close()
})

it('takes over the files of a folder beside the database', async () => {
  const data = mkdtempSync(join(tmpdir(), 'tickwarden-import-'))
  try {
    mkdirSync(join(data, 'history'))
    writeFileSync(join(data, 'history', name), file)
    const clock = manualClock(answers.wall - 1_700_000_000_000)
    const fleet = fakeFleet({ [server]: {} }, clock)
    const history = await openHistory({ fleet, clock, log: collectLog(), folder: data, oldFolder: join(data, 'history') })
    expect((await history.uptime(server, 3)).since).toBe(answers.uptime.since)
    fleet.close()
    await history.close()
    expect(readdirSync(data).toSorted()).toEqual(['history', 'history.db'])
  } finally {
    rmSync(data, { recursive: true })
  }
})
