import { expect, it } from 'vitest'
import { dayAt, formatDay, formatLastUpdate, parseDay, parseLastUpdate } from '../../../src/data/store/dates.ts'

it.each([
  ['1970-01-01', 0],
  ['1970-1-2', 1],
  ['1969-12-31', -1],
  ['2000-02-29', 11_016],
  ['2024-12-31', 20_088],
  ['0001-01-01', -719_162],
  ['0099-12-31', -683_004],
  ['9999-12-31', 2_932_896],
])('reads %s as day %i', (text, day) => {
  expect(parseDay(text)).toBe(day)
  const padded = text.replace(/-(\d)(?=-|$)/g, '-0$1')
  expect(formatDay(day)).toBe(padded)
})

it.each([
  ...['0000-01-01', '2023-02-29', '1900-02-29', '2024-04-31', '2024-13-01', '2024-00-10', '2024-01-00', '2024-01-32', '2024-01'],
  ...['x2024-01-01', '2024-01-01x', '12024-01-01', '2024-001-01', '2024-01-001', 'TBA', ''],
])('reads %j as no day', (text) => expect(parseDay(text)).toBeUndefined())

it('knows the day of a time in a time zone', () => {
  const noon = Date.UTC(1970, 0, 2, 12)
  expect(dayAt(noon, 0)).toBe(1)
  expect(dayAt(noon, 11)).toBe(1)
  expect(dayAt(noon, 12)).toBe(2)
  expect(dayAt(noon, -13)).toBe(0)
  expect(dayAt(-1, 0)).toBe(-1)
})

it.each([
  ['1970-01-01 00:00:00 UTC', 0],
  ['1970-01-02 00:00:00 UTC', 86_400],
  ['1970-01-01 23:59:59 UTC', 86_399],
  ['1970-01-01 19:05:07 UTC', 68_707],
  ['2024-02-03 04:05:06 UTC', 1_706_933_106],
  ['0001-01-01 00:00:00 UTC', -62_135_596_800],
])('reads the time %s as %i, and writes it so', (text, time) => {
  expect(parseLastUpdate(text)).toBe(time)
  expect(formatLastUpdate(time)).toBe(text)
})

it.each([
  ...['2024-02-30 00:00:00 UTC', '2024-2-3 00:00:00 UTC', '2024-02-03 24:00:00 UTC', '2024-02-03 30:00:00 UTC'],
  ...['2024-02-03 00:60:00 UTC', '2024-02-03 00:00:60 UTC', '2024-02-03 00:00:00', '2024-02-03', ''],
  ...['x2024-02-03 00:00:00 UTC', '2024-02-03 00:00:00 UTC x', '2024-02-03 0:00:00 UTC', '2024-02-03T00:00:00 UTC'],
])('reads %j as no time', (text) => expect(parseLastUpdate(text)).toBeUndefined())
