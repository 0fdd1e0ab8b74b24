import { expect, it } from 'vitest'
import { HistoryStore } from '../../../src/history/store/store.ts'
import { overviewParts } from '../../../src/history/values/overview.ts'
import { Slices } from '../../../src/history/values/slices.ts'

const minute = 60_000
const day = 86_400_000
const part = day / overviewParts.up
/** The start of a UTC day. */
const start = 19_676 * day

/** A server that was up, then down, for this many minutes each, from `start` on. */
function record(...parts: readonly (readonly [up: boolean, minutes: number])[]) {
  const store = new HistoryStore({})
  const [{ id } = { id: -1 }] = store.servers(['Server'])
  let at = start
  const add = (up: boolean, minutes: number) => {
    const slices = new Slices()
    slices.add({ up, values: [up ? 3 : Number.NaN] }, at, minutes * minute)
    at += minutes * minute
    store.write({ slices: slices.take(id), sessions: [], events: [], incidents: [] })
  }
  for (const [up, minutes] of parts) add(up, minutes)
  const read = (now: number) => store.overview.of(id, now)
  return { read, store, id }
}

it('is unknown for parts without data, also of a server without any', () => {
  const { read } = record()
  const { from, to, up, players, days } = read(start)
  expect(to - from).toBe(day)
  expect([up, players]).toEqual([overviewParts.up, overviewParts.players].map((length) => Array.from({ length }, () => null)))
  expect(days).toHaveLength(overviewParts.days)
  expect(days.at(-1)).toEqual({ date: '2023-11-15', up: null, known: 0 })
})

it('ends with the current ten minutes', () => {
  const { read } = record([true, 40])
  expect(read(start + 29 * minute)).toMatchObject({ from: start + part - day, to: start + part })
  expect(read(start + 29 * minute).up.at(-1)).toBe(1)
  expect(read(start + 29 * minute).players.slice(-2)).toEqual([3, 3])
  // The start of the next ones.
  expect(read(start + part).up.slice(-2)).toEqual([1, 1])
  expect(read(start + 2 * part + 10 * minute).up.slice(-2)).toEqual([1, null])
})

it('divides by the known time only', () => {
  const { read } = record([true, 12], [false, 18], [true, 30])
  expect(read(start + 59 * minute).up.slice(-3)).toEqual([null, 0.4, 1])
  const { read: partly } = record([true, 3], [false, 1])
  expect(partly(start + 29 * minute).up.at(-1)).toBe(0.75)
  expect(partly(start + 29 * minute).days.at(-1)).toEqual({ date: '2023-11-15', up: 0.75, known: 0.002778 })
})

it('counts no players of a server whose state is not known', () => {
  const { read, store, id } = record([true, 20])
  const [{ id: other } = { id: -1 }] = store.servers(['other'])
  const slices = new Slices()
  // It has just been read, and nothing has been since.
  slices.add({ up: true, values: [9] }, start, 0)
  store.write({ slices: slices.take(other), sessions: [], events: [], incidents: [] })
  expect(read(start).players.at(-1)).toBe(3)
  const { total, servers } = store.overview.playerCounts([id, other], 2, start)
  expect(total.at(-1)).toBe(3)
  expect(servers.map(({ players }) => players.at(-1))).toEqual([3, null])
  expect(store.overview.playerCounts([other], 2, start).total.at(-1)).toBeNull()
})

it('has the last 24 hours', () => {
  const { read } = record([false, 30], [true, 30])
  expect(read(start + day - 1).up.slice(0, 2)).toEqual([0, 1])
  expect(read(start + day + 29 * minute).up.slice(0, 2)).toEqual([1, null])
  expect(read(start + day).days.slice(-2)).toMatchObject([{ up: 0.5 }, { up: null }])
})

it('is known since the first record of these 24 hours, not since the part in which that is', () => {
  expect(record().read(start).since).toBeNull()
  const { read } = record([true, 34])
  expect(read(start + 34 * minute).since).toBe(start)
  expect(read(start + day + 3 * minute).since).toBe(start + 10 * minute)
  expect(read(start + 2 * day).since).toBeNull()
  // The known part of ten minutes is taken as the last one of them.
  expect(record([true, 4]).read(start + 30 * minute).since).toBe(start + 6 * minute)
  // Those that are not over end now.
  expect(record([true, 3]).read(start + 3 * minute).since).toBe(start)
})
