import { expect, it } from 'vitest'
import { createQuietCheck, parseTimeOfDay } from '../../src/notify/quiet-hours.ts'

it.each([
  ['00:00', 0],
  ['0:05', 5],
  ['7:30', 450],
  ['09:59', 599],
  ['19:00', 1_140],
  ['23:59', 1_439],
  ['24:00', undefined],
  ['12:60', undefined],
  ['123:00', undefined],
  ['12:000', undefined],
  ['-1:00', undefined],
  ['12', undefined],
  ['', undefined],
])('%j is the minute %s', (text, minute) => expect(parseTimeOfDay(text)).toBe(minute))

const check = (from: string, to: string, timezone = 'UTC') => {
  const isQuiet = createQuietCheck({ from: parseTimeOfDay(from)!, to: parseTimeOfDay(to)!, timezone, except: [] })
  return (time: string) => isQuiet(Date.parse(`2026-01-15T${time}Z`))
}

it.each([
  ['01:00', '07:00', ['01:00:00', '06:59:59'], ['00:59:59', '07:00:00', '23:00:00']],
  ['23:00', '07:00', ['23:00:00', '00:00:00', '06:59:59'], ['07:00:00', '22:59:59', '12:00:00']],
])('from %s to %s it is quiet at %j, and not at %j', (from, to, quiet, loud) => {
  const isQuiet = check(from, to)
  expect(quiet.map(isQuiet)).toEqual(quiet.map(() => true))
  expect(loud.map(isQuiet)).toEqual(loud.map(() => false))
})

it('has the time of its zone', () => {
  const isQuiet = check('23:00', '07:00', 'America/New_York')
  expect(['03:59:59', '04:00:00', '11:59:59', '12:00:00'].map(isQuiet)).toEqual([false, true, true, false])
})
