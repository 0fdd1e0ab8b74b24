import { expect, it } from 'vitest'
import type { ServerSnapshot } from '../../../src/game/snapshot.ts'
import { Recorder } from '../../../src/history/recording/recorder.ts'
import { HistoryStore } from '../../../src/history/store/store.ts'
import { layout, sliceSize } from '../../../src/history/values/slices.ts'
import { testPoll } from '../../helpers/fake-fleet.ts'

const hour = 3_600_000
const start = 1_700_000_000_000
/** How long a server that is down stays known. */
const downMs = 8 * testPoll.interval + testPoll.timeout + testPoll.staleAfter

/** A recorder with a wall clock that the test sets. */
function record(maintainedSince?: () => number | undefined) {
  let [wall, now] = [start, 0]
  const clock = { wall: () => wall, now: () => now, after: () => () => {} }
  const recorder = new Recorder(clock, maintainedSince)
  const store = new HistoryStore({})
  const { id = -1 } = store.servers(['Server'])[0] ?? {}
  const write = () => {
    store.write({ slices: recorder.take(id), sessions: [], events: [], incidents: [] })
  }
  const poll = (players: number): void => {
    const field = { value: players, source: 'status' as const, at: now }
    const snapshot: ServerSnapshot = {
      ...{ server: 'Server', at: now, up: true, sources: [], polls: {} },
      ...{ fields: { playersOnline: field }, knownUntil: now + testPoll.staleAfter },
    }
    recorder.observe(snapshot)
  }
  return {
    jump(milliseconds: number) {
      wall += milliseconds
    },
    run(milliseconds: number, players: number) {
      for (let passed = 0; passed < milliseconds; passed += 5_000) {
        poll(players)
        wall += 5_000
        now += 5_000
      }
      write()
    },
    /** A poll that does not reach the server. */
    fail() {
      const knownUntil = now + downMs
      recorder.observe({ ...{ server: 'Server', at: now, up: false, knownUntil, sources: [], polls: {} }, fields: {} })
    },
    pause(milliseconds: number) {
      wall += milliseconds
      now += milliseconds
      write()
    },
    values() {
      write()
      const { series } = store.buckets.range(id, { names: ['players'], range: hour, points: 1000 }, wall)
      return series.players?.mean.map((value) => value ?? '.').join('')
    },
    today() {
      write()
      return store.buckets.uptime(id, 1, wall).days[0]
    },
  }
}

it('records nothing from the begin of a maintenance on, although the next poll is later', () => {
  let since: number | undefined
  const recorder = record(() => since)
  recorder.run(60_000, 4)
  since = start + 63_000
  recorder.pause(8_000)
  expect(recorder.today()).toMatchObject({ up: 1, known: Number((63 / 86_400).toFixed(6)) })
})

it('keeps its data when the clock jumps back and forth', () => {
  const { run, jump, values, today } = record()
  run(600_000, 1)
  const [before, day] = [values(), today()]
  for (const jumped of [10 * 366 * 24 * hour, -30 * 366 * 24 * hour, -40 * 24 * hour, 5 * hour]) {
    jump(jumped)
    run(60_000, 2)
    jump(-jumped - 60_000)
    // Back to the correct time.
    expect(values()?.replaceAll('2', '.')).toContain(before?.match(/1+/)?.[0].slice(7))
    expect(today()?.known).toBeGreaterThanOrEqual(day?.known ?? 1)
  }
  run(60_000, 3)
  expect(values()).toMatch(/3{6,7}\.?$/)
})

it('has a gap for the time in which the machine was suspended', () => {
  const { run, jump, values, today } = record()
  run(300_000, 1)
  jump(20 * 60_000)
  run(300_000, 2)
  expect(values()).toMatch(/1{30,31}\.{118,120}2{30,31}\.?$/)
  expect((today()?.known ?? 0) * 24 * 3600).toBeCloseTo(600, -1)
})

it('counts each part of a bucket once if the clock is set back a little', () => {
  const { run, jump, today } = record()
  run(60_000, 1)
  jump(-30_000)
  run(60_000, 5)
  expect(today()?.known).toBeLessThanOrEqual(125 / 86_400)
  expect(today()?.players).toMatchObject({ max: 5 })
})

it('records nothing for the time after which the values are stale, even without a snapshot that shows it', () => {
  const { run, pause, values, today } = record()
  run(60_000, 1)
  // The process is stopped: neither the poll nor the timer that makes values stale runs.
  pause(600_000)
  const knownSeconds = () => Math.round((today()?.known ?? 0) * 86_400)
  // The last poll was after 55 s.
  expect(knownSeconds()).toBe(70)
  run(60_000, 2)
  expect(knownSeconds()).toBe(130)
  expect(values()).toMatch(/1{7,8}\.{58,60}2{6,7}\.?$/)
})

it('has no gaps between the polls of a server that is down, although they are rare', () => {
  const { fail, pause, today } = record()
  for (const intervals of [1, 1, 2, 4, 8, 8]) {
    fail()
    // The last part of the pause is the poll.
    pause(intervals * testPoll.interval + testPoll.timeout)
  }
  expect(today()?.known).toBeCloseTo((24 * testPoll.interval + 6 * testPoll.timeout) / 86_400_000, 6)
  expect(today()?.up).toBe(0)
})

it('does not record a server as down for the time in which the process was stopped', () => {
  const { fail, pause, today } = record()
  fail()
  pause(1_800_000)
  expect(today()?.known).toBeCloseTo(downMs / 86_400_000, 6)
})

it('records whole milliseconds, also by a clock with fractions, and none twice', () => {
  let now = 0.4
  const recorder = new Recorder({ wall: () => Math.floor(start + now), now: () => now, after: () => () => {} })
  const players = { value: 3, source: 'status' as const, at: 0 }
  for (let poll = 0; poll <= 12; poll++) {
    const snapshot = { ...{ server: 'Server', at: now, up: true, sources: [], polls: {} }, fields: { playersOnline: players } }
    recorder.observe({ ...snapshot, knownUntil: now + testPoll.staleAfter })
    now += 5_000.3
  }
  const places: readonly number[] = [layout.knownMs, layout.upMs]
  const times = Array.from(recorder.take(1)).filter((_, index) => places.includes(index % sliceSize))
  expect(times.filter((time) => !Number.isInteger(time))).toEqual([])
  expect(times.reduce((sum, time) => sum + time, 0)).toBe(2 * Math.round(13 * 5_000.3))
})
