import { expect, it } from 'vitest'
import type { KnownFields } from '../../../src/game/snapshot.ts'
import { MeasuredTicks } from '../../../src/game/watcher/measured-ticks.ts'

const field = <T>(value: T, source: 'rcon' | 'status' | 'directory' = 'rcon') => ({ value, source })
const counted = (ticks: number, seconds: number, more: KnownFields = {}): KnownFields => ({
  ...{ tickCount: field({ ticks, at: seconds * 1_000 }), playersOnline: field(3) },
  ...more,
})
const running = (tickRate: number) => ({ source: 'rcon', fields: { tickRate, tickPaused: false } })
const nothing = { source: 'rcon', fields: {} }

it('measures a counter once, however often it is given', () => {
  const ticks = new MeasuredTicks()
  expect(ticks.measure(counted(100, 1))).toEqual(nothing)
  const second = counted(200, 6)
  expect(ticks.measure(second)).toEqual(running(20))
  expect(ticks.measure({ ...second, latency: field(0.1, 'status') })).toEqual(running(20))
  expect(ticks.measure(counted(300, 11))).toEqual(running(20))
})

it('knows nothing without a counter, and nothing of the time in between', () => {
  const ticks = new MeasuredTicks()
  expect(ticks.measure({})).toBeUndefined()
  ticks.measure(counted(100, 1))
  ticks.measure(counted(200, 6))
  expect(ticks.measure({ playersOnline: field(3) })).toBeUndefined()
  expect(ticks.measure(counted(300, 11))).toEqual(nothing)
  expect(ticks.measure(counted(350, 16))).toEqual(running(10))
})

it('measures with what is known of the server', () => {
  const ticks = new MeasuredTicks()
  const rates = (more: KnownFields) =>
    [0, 1, 2].map((index) => ticks.measure(counted(index * 1_000, 100 + 5 * index, more))?.fields.tickRate)
  // Faster than any server ticks of which nothing else is known.
  expect(rates({})).toEqual([undefined, undefined, undefined])
  expect(rates({ tickRateTarget: field(200) })).toEqual([undefined, 200, 200])
  expect(rates({ tickSprinting: field(true) })).toEqual([undefined, 200, 200])
  expect(new MeasuredTicks().measure(counted(1, 1, { tickFrozen: field(true) }))).toEqual(nothing)
  const frozen = new MeasuredTicks()
  frozen.measure(counted(1, 1, { tickFrozen: field(true) }))
  expect(frozen.measure(counted(1, 6, { tickFrozen: field(true) }))).toEqual({ source: 'rcon', fields: { tickPaused: false } })
  const empty = new MeasuredTicks()
  empty.measure(counted(1, 1, { playersOnline: field(0) }))
  expect(empty.measure(counted(1, 6, { playersOnline: field(0) }))).toEqual({ source: 'rcon', fields: { tickPaused: true } })
})

it.each<[string, (ticks: MeasuredTicks) => void, boolean]>([
  ['an interruption', (ticks) => ticks.interrupt(), true],
  ['another connection', (ticks) => ticks.readOver({}), true],
  ['a counter over no connection', (ticks) => ticks.readOver(undefined), true],
  ['the same connection', (ticks) => ticks.readOver(connection), false],
  ['a clearing', (ticks) => ticks.clear(), true],
])('compares counters before and after %s: %#', (_, change, isInterrupted) => {
  const ticks = new MeasuredTicks()
  ticks.readOver(connection)
  ticks.measure(counted(100, 1))
  ticks.readOver(connection)
  expect(ticks.measure(counted(200, 6))).toEqual(running(20))
  change(ticks)
  expect(ticks.measure(counted(300, 11))).toEqual(isInterrupted ? nothing : running(20))
})
const connection = {}

it('keeps what was measured when it is interrupted, and drops it when it is cleared', () => {
  const ticks = new MeasuredTicks()
  // Before the first counter.
  ticks.interrupt()
  ticks.measure(counted(100, 1))
  const last = counted(200, 6)
  ticks.measure(last)
  ticks.interrupt()
  expect(ticks.measure(last)).toEqual(running(20))
  ticks.clear()
  expect(ticks.measure(last)).toBeUndefined()
})

it.each<[string, KnownFields, KnownFields, boolean]>([
  ['another version', { version: field('1.21') }, { version: field('1.22') }, true],
  ['another start', { startupDuration: field(12, 'directory') }, { startupDuration: field(13, 'directory') }, true],
  [
    'the same version and start',
    { version: field('1.21'), startupDuration: field(12) },
    { version: field('1.21'), startupDuration: field(12) },
    false,
  ],
  ['the version of another source', { version: field('1.21', 'status') }, { version: field('1.22') }, false],
  ['a version that was not known', {}, { version: field('1.21') }, false],
  ['a version that is not known any more', { version: field('1.21') }, {}, false],
])('compares the counter with that of %s', (_, before, after, isOther) => {
  const ticks = new MeasuredTicks()
  ticks.measure(counted(100, 1, before))
  ticks.measure(counted(200, 6, before))
  expect(ticks.measure(counted(300, 11, after))).toEqual(isOther ? nothing : running(20))
})

it('remembers the version over readings without it', () => {
  const ticks = new MeasuredTicks()
  ticks.measure(counted(100, 1, { version: field('1.21'), startupDuration: field(12) }))
  ticks.measure(counted(200, 6))
  expect(ticks.measure(counted(300, 11, { version: field('1.22') }))).toEqual(nothing)
  expect(ticks.measure(counted(400, 16, { startupDuration: field(13) }))).toEqual(nothing)
})
