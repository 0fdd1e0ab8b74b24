import { expect, it } from 'vitest'
import { createServerHistory, quarterMs } from '../../src/history/server-history.ts'
import { readRecentUptime } from '../../src/history/uptime.ts'

const minute = 60_000
const day = 86_400_000
/** The start of a quarter of an hour. */
const start = Math.ceil(1_700_000_000_000 / quarterMs) * quarterMs

/** A server that was up, then down, for this many minutes each, from `start` on. */
function record(...parts: readonly (readonly [up: boolean, minutes: number])[]) {
  const history = createServerHistory()
  let at = start
  for (const [up, minutes] of parts) {
    history.add({ up, values: [] }, at, minutes * minute)
    at += minutes * minute
  }
  return { history, end: at }
}

it('is unknown for quarters of an hour without data', () => {
  const { from, to, up } = readRecentUptime(createServerHistory(), start)
  expect(to - from).toBe(day)
  expect(up).toEqual(Array.from({ length: 96 }, () => null))
})

it('ends with the current quarter of an hour', () => {
  const { history } = record([true, 1])
  expect(readRecentUptime(history, start + minute)).toMatchObject({ from: start + quarterMs - day, to: start + quarterMs })
  expect(readRecentUptime(history, start + minute).up.at(-1)).toBe(1)
  // The start of the next one.
  expect(readRecentUptime(history, start + quarterMs).up.slice(-2)).toEqual([1, null])
})

it('divides by the known time only', () => {
  const { history, end } = record([true, 6], [false, 3], [false, 6], [true, 15])
  expect(readRecentUptime(history, end - 1).up.slice(-3)).toEqual([null, 0.4, 1])
  const { history: partly } = record([true, 3], [false, 1])
  expect(readRecentUptime(partly, start + 14 * minute).up.at(-1)).toBe(0.75)
})

it('drops data older than a day', () => {
  const { history } = record([false, 15], [true, 15])
  expect(readRecentUptime(history, start + day - 1).up.slice(0, 2)).toEqual([0, 1])
  expect(readRecentUptime(history, start + day).up.slice(0, 2)).toEqual([1, null])
  history.add({ up: true, values: [] }, start + day, minute)
  expect(readRecentUptime(history, start + day).up).toHaveLength(96)
  expect(readRecentUptime(history, start + day).up.at(-1)).toBe(1)
})
