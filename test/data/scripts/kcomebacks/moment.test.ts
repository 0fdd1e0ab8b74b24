import { expect, it } from 'vitest'
import { clip, isVagueDay, nothingAbove, readMoment } from '../../../../src/data/scripts/kcomebacks/moment.ts'

const february = '2023-02'
const above = { day: '7', time: '12:00' }

it('clips a text after 40 characters', () => {
  expect(clip('x'.repeat(40))).toBe('x'.repeat(40))
  expect(clip('x'.repeat(41))).toBe(`${'x'.repeat(40)}...`)
})

it.each([
  ['1', false],
  ['12', false],
  ['TBA', false],
  ['', false],
  ['1/2', true],
  ['~5', true],
  ['5 or so', true],
  ['x5', true],
])('says whether %j has digits but is no single day: %s', (day, isVague) => expect(isVagueDay(day)).toBe(isVague))

it.each([
  ['1st', '1'],
  ['2ND', '2'],
  ['3 rd', '3'],
  ['4^th', '4'],
  ['4^(th)', '4'],
  ['4  ^(th)', '4'],
  ['10th', '10'],
  ['05', '05'],
  ['1st (Mon)', '1'],
  ['1st(Tue.)', '1'],
  ['1st Wednesday', '1'],
  ['1st, Thurs', '1'],
  ['12 Fri', '12'],
  ['28', '28'],
  ['1st,2nd', '1,2'],
  ['x 1st Mon', 'x 1 Mon'],
  ['1st Mon x', '1 Mon x'],
  ['TBA', 'TBA'],
  ['x'.repeat(20), 'x'.repeat(20)],
])('reads the day %j as %s', (text, day) => {
  expect(readMoment(text, '1:00', nothingAbove, february)).toEqual({ day, time: '01:00' })
})

it.each(['0', '29', '30th', 'x'.repeat(21)])('has no day %j', (text) => {
  expect(readMoment(text, '1:00', above, february)).toBe(`"${text}" is not a day of the month`)
})

it.each([
  ['0:00', '00:00'],
  ['23:59', '23:59'],
  ['6.05', '06:05'],
  ['6 : 05', '06:05'],
  ['6pm', '18:00'],
  ['12 AM', '00:00'],
  ['12 PM', '12:00'],
  ['1am', '01:00'],
  ['12:30 am.', '00:30'],
  ['18:00 KST', '18:00'],
  ['18:00(kst)', '18:00'],
  ['18:00  (KST)', '18:00'],
  ['?', '--:--'],
  ['???', '--:--'],
  ['TBA', '--:--'],
  ['tbc', '--:--'],
  ['TBD', '--:--'],
  ['-', '--:--'],
  ['---', '--:--'],
  ['--:--', '--:--'],
])('reads the time %j as %s', (text, time) => expect(readMoment('1', text, above, february)).toEqual({ day: '1', time }))

it.each([
  '24:00',
  '23:60',
  '0 am',
  '13pm',
  '6',
  '6:5',
  '123:00',
  'x6:00',
  '6:00 x',
  '18:00 KST x',
  'x?',
  '?x',
  'x tba',
  '18:000',
])('has no time %j', (text) =>
  expect(readMoment('1', text, above, february)).toEqual({ day: '1', time: '--:--', unparsed: text }),
)

it('clips a time that is not one', () => {
  expect(readMoment('1', 'x'.repeat(50), above, february)).toMatchObject({ unparsed: `${'x'.repeat(40)}...` })
})

it('inherits what is blank from the row above', () => {
  expect(readMoment('', '', above, february)).toEqual(above)
  expect(readMoment('', '13:00', above, february)).toEqual({ day: '7', time: '13:00' })
  expect(readMoment('8', '', above, february)).toEqual({ day: '8', time: '12:00' })
  expect(readMoment('', '13:00', nothingAbove, february)).toBe('neither it nor a row above it has a day')
})

it('inherits that the time above could not be parsed', () => {
  const unparsed = { ...above, time: '--:--', unparsed: '~5' }
  expect(readMoment('8', '', unparsed, february)).toEqual({ ...unparsed, day: '8' })
  expect(readMoment('8', '13:00', unparsed, february)).toEqual({ day: '8', time: '13:00' })
})

it('inherits no time for another day that is not known', () => {
  expect(readMoment('TBA', '', above, february)).toEqual({ day: 'TBA', time: '--:--' })
  expect(readMoment('', '', { day: 'TBA', time: '12:00' }, february)).toEqual({ day: 'TBA', time: '12:00' })
})
