import { expect, it } from 'vitest'
import { rangeParameter } from '../../../src/history/routes/register.ts'
import { chooseStep, type RangeValues } from '../../../src/history/values/range.ts'
import { columns, finerQuery, peakOf } from '../../../src/web/client/chart-data.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const now = Date.UTC(2026, 0, 1, 12, 34, 56, 789)

it.each([
  [20 * minute, 5 * minute, '60m', 10_000],
  [3 * hour, 5 * minute, '180m', minute],
  [23 * hour, 5 * minute, '1380m', 2 * minute],
  [day, 5 * minute, '1440m', 2 * minute],
  [30 * hour, 30 * minute, '1800m', 10 * minute],
  [7 * day, 30 * minute, '10080m', 20 * minute],
  [2 * day, day, '2880m', 10 * minute],
])('requests finer values of a period that began %i ms ago, shown in steps of %i ms', (ago, step, range, finer) => {
  const query = finerQuery(now - ago, step, now)
  expect(query?.range).toBe(range)
  // The route accepts the range, and answers with that step.
  const parsed = rangeParameter.parse(range)
  expect(parsed).toBeGreaterThanOrEqual(ago)
  expect(chooseStep(parsed ?? 0, query?.points ?? 0)).toBe(finer)
})

it('requests ranges that the route accepts, in finer steps only, for any period', () => {
  for (let ago = minute; ago < 9 * day; ago += 37 * minute + 1_234) {
    for (const step of [10_000, 5 * minute, 30 * minute, day]) {
      const query = finerQuery(now - ago, step, now)
      if (query === undefined) continue
      const parsed = rangeParameter.parse(query.range)
      expect(parsed, query.range).toBeGreaterThanOrEqual(ago)
      expect(chooseStep(parsed ?? 0, query.points), query.range).toBeLessThan(step)
    }
  }
})

it.each([
  [20 * minute, 10_000],
  [3 * hour, minute],
  [5 * day, 10 * minute],
  [8 * day, day],
  [300 * day, day],
])('requests nothing if the time %i ms ago is not stored in finer steps than %i ms', (ago, step) => {
  expect(finerQuery(now - ago, step, now)).toBeUndefined()
})

const reply = (from: number, step: number, players: (number | null)[]): RangeValues => ({
  from,
  step,
  to: from + step * players.length,
  series: { players: { min: players, mean: players, max: players } },
})

it('replaces the values by the finer ones of the same time, including gaps', () => {
  const whole = reply(0, 10_000, [1, 2, 3, 4])
  const finer = reply(20_000, 5_000, [5, null, 6, 7])
  expect(columns(whole, 'players')).toEqual([
    [5, 15, 25, 35],
    [1, 2, 3, 4],
  ])
  expect(columns(whole, 'players', finer)).toEqual([
    [5, 15, 22.5, 27.5, 32.5, 37.5],
    [1, 2, 5, null, 6, 7],
  ])
  // A series that is not recorded.
  expect(columns(whole, 'latency')).toEqual([
    [5, 15, 25, 35],
    [null, null, null, null],
  ])
})

it('finds the visible value that matters', () => {
  const data = columns(reply(0, 10_000, [9, 2, 3, null]), 'players')
  expect(peakOf('players', data, 0, 40)).toEqual({ at: 5, value: 9 })
  expect(peakOf('players', data, 10, 40)).toEqual({ at: 25, value: 3 })
  expect(peakOf('players', data, 30, 40)).toBeUndefined()
  // A tick rate is bad when it is low.
  expect(peakOf('tickRate', data, 0, 40)).toEqual({ at: 15, value: 2 })
})
