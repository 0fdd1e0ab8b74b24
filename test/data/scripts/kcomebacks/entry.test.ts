import { describe, expect, it } from 'vitest'
import { type Columns, readRow } from '../../../../src/data/scripts/kcomebacks/entry.ts'
import { nothingAbove } from '../../../../src/data/scripts/kcomebacks/moment.ts'

const month = '2024-02'
const columns: Columns = { day: 0, time: 1, artist: 2, title: 3, type: 4, track: 5, streaming: 6, count: 7 }
const above = { day: '9', time: '12:00' }

/** A cell: a text, or a text and its links. Of what is between `~` all is struck out. */
const cell = (given: string | readonly string[]) => {
  const [text = '', ...links] = typeof given === 'string' ? [given] : given
  const isStruck = text.startsWith('~')
  return { text: text.replaceAll('~', ''), links, ...(isStruck && { isStruck: true as const }) }
}
type Cells = readonly (string | readonly string[])[]
const read = (cells: Cells, own: Partial<Columns> = {}) => readRow(cells.map(cell), { ...columns, ...own }, above, month)

const moment = { day: '1', time: '18:00' }
const entry = { date: '2024-02-1', time: '18:00', artist: 'IU', title: 'Love', types: ['single'], links: [] }

describe('the links of a row', () => {
  it.each<[cells: Cells, links: readonly string[], note?: string]>([
    [
      ['1st', '18:00', 'IU', 'Love', 'Single', ['Track', '/d1'], ['Stream', '//s.example/1']],
      ['https://s.example/1', 'https://www.reddit.com/d1'],
    ],
    [
      ['1st', '18:00', 'IU', 'Love', 'Single', '', ['a b', 'http://a.example', 'HTTPS://b.example/x']],
      ['http://a.example', 'HTTPS://b.example/x'],
    ],
    [
      ['1st', '18:00', 'IU', 'Love', 'Single', '', ['a', 'javascript:alert(1)']],
      [],
      '"javascript:alert(1)" is not a link; it is left out',
    ],
    [
      ['1st', '18:00', 'IU', 'Love', 'Single', '', ['a', 'x:https://a.example']],
      [],
      '"x:https://a.example" is not a link; it is left out',
    ],
    [
      ['1st', '18:00', 'IU', 'Love', 'Single', '', ['a', 'https://a.example/b c']],
      [],
      '"https://a.example/b c" is not a link; it is left out',
    ],
    [['1st', '18:00', 'IU', 'Love', 'Single', '', ['a', 'https://[']], [], '"https://[" is not a link; it is left out'],
    [
      [['1st', '/d'], ['18:00', '/t'], 'IU', 'Love', ['Single', `/${'x'.repeat(50)}`], ['T', 'mailto:x'], ''],
      [],
      '"mailto:x" is not a link; it is left out; the link "/d" is in a column without links; it is left out; ' +
        'the link "/t" is in a column without links; it is left out; ' +
        `the link "/${'x'.repeat(39)}..." is in a column without links; it is left out`,
    ],
  ])('%j', (cells, links, note) => {
    expect(read(cells)).toStrictEqual({ above: moment, ...(note !== undefined && { note }), entry: { ...entry, links } })
  })
})

describe('a row without an entry', () => {
  it.each<[cells: Cells, problem: string, above: object, cancelled?: object]>([
    [['', '', ''], 'it is empty', above],
    [['', '', ['', '/a']], 'it has no artist', { day: '9', time: '12:00' }],
    [['--', ':-:', '', '-:'], 'it is a separator line', above],
    [['x-', '', ''], 'it has no artist', { day: 'x-', time: '--:--' }],
    [['-x', '', ''], 'it has no artist', { day: '-x', time: '--:--' }],
    [['DAY', 'Time', 'Artist(s)', 'Title'], 'it is a header', nothingAbove],
    [['Date', 'Time', 'artist'], 'it is a header', nothingAbove],
    [['30th', '', 'IU'], '"30th" is not a day of the month', nothingAbove],
    [['1st', '18:00', ''], 'it has no artist', moment],
    [['1st', '18:00', '~IU~', 'Love'], 'it is struck out', moment, { artist: 'IU', title: 'Love' }],
    [['1st', '18:00', '~IU~', '', '', 'Track'], 'it is struck out', moment, { artist: 'IU', title: 'Track' }],
    [
      ['1st', '18:00', 'IU', '~Love (postponed)~', '', 'Track'],
      'it is struck out',
      moment,
      { artist: 'IU', title: 'Love (postponed)' },
    ],
    ...['18:00', '7.30', '?', '???', '1st', '22ND', '13th'].map((artist): [Cells, string, object] => [
      ['1st', '18:00', artist, 'Love'],
      `its columns are shifted: its artist is "${artist}"`,
      moment,
    ]),
    ...['18:00', '9.30', '6 pm'].map((day): [Cells, string, object] => [
      [day, 'IU', 'Love', 'Single'],
      `its columns are shifted: its day is "${day}"`,
      nothingAbove,
    ]),
    [
      ['?', 'IU', 'Love', 'Single', ['Track', '/d1'], ''],
      'its columns are shifted: its time is "IU"',
      { day: '?', time: '--:--', unparsed: 'IU' },
    ],
    [
      ['1st', '18:00', 'IU', 'a', 'b', 'c', 'd', 'e', 'f'],
      'it has more cells than the table has columns (7); write a "|" in a text as "&#124;"',
      moment,
    ],
  ])('%j', (cells, problem, at, cancelled) => {
    expect(read(cells)).toStrictEqual({ problem, above: at, ...(cancelled && { cancelled }) })
  })

  it.each([
    '18:00 pm',
    '118:00',
    'x18:00',
    '18:000',
    '18-00',
    '1:5',
    'a?',
    '?a',
    '1sts',
    'a1st',
    '111st',
    'xst',
    'Day6',
    '4th Impact',
    '2NE1',
  ])('is not one with the artist %j', (artist) => {
    expect(read(['1st', '18:00', artist, 'Love', 'Single'])).toStrictEqual({ above: moment, entry: { ...entry, artist } })
  })

  it.each<Cells>([
    ['1st', '18:00', 'Artist', 'Love', 'Single'],
    ['1st', '18:00', 'IU', '~Old~', 'Single'],
  ])('is not one with %j, %j, %j, %j', (...cells) => {
    expect(read(cells)).toMatchObject({ above: moment, entry: { artist: cells[2], title: String(cells[3]).replaceAll('~', '') } })
  })

  it.each<Cells>([
    ['1st', 'noon', 'IU', 'Love', 'Single', ['Track', '/d1']],
    ['1st', '', 'IU', 'Love', ['Single', '/d1']],
    ['1st', '18:00', 'IU', 'Love', ['Single', '/d1']],
    ['1st', 'noon', 'IU', 'Love', ['Single', '/d1'], ['Track', '/d2'], ''],
  ])('is not one with a time that is not valid or a link in the column of types alone: %j, %j', (...cells) => {
    expect(read(cells)).toMatchObject({ entry: { artist: 'IU', title: 'Love', types: ['single'] } })
  })

  it.each(['Days', 'Today', 'Dated'])('is no header with %j for a day', (day) => {
    expect(read([day, '18:00', 'Artist'])).toMatchObject({ entry: { date: `2024-02-${day}`, artist: 'Artist' } })
  })

  it('inherits from the rows above if it has no day', () => {
    expect(readRow(['', '', 'IU'].map(cell), columns, nothingAbove, month)).toStrictEqual({
      problem: 'neither it nor a row above it has a day',
      above: nothingAbove,
    })
    expect(read(['Day', '', 'The Artists'])).toMatchObject({ entry: { date: '2024-02-Day', artist: 'The Artists' } })
  })
})

describe('a cell beyond the last column', () => {
  const ordinary = ['1st', '18:00', 'IU', 'Love', 'Single', '']
  const narrow = { streaming: undefined, count: 6 }
  it.each<[cells: Cells, own: Partial<Columns>, links: readonly string[], note?: string]>([
    [[...ordinary, ['Spotify', '//s.example/1']], narrow, ['https://s.example/1']],
    [[...ordinary, ['Spotify', '//s.example/1'], ''], narrow, ['https://s.example/1']],
    [[...ordinary, 'Spotify'], narrow, [], 'its cell beyond the last column is ignored: "Spotify"'],
    [[...ordinary, '', ['Spotify', '//s.example/1']], narrow, [], 'its cell beyond the last column is ignored: "Spotify"'],
    [[...ordinary, '', ['Spotify', '//s.example/1']], {}, [], 'its cell beyond the last column is ignored: "Spotify"'],
    [[...ordinary, '', ''], {}, []],
  ])('%j', (cells, own, links, note) => {
    expect(read(cells, own)).toStrictEqual({ above: moment, ...(note !== undefined && { note }), entry: { ...entry, links } })
  })
})

it('notes what of the day and the time it could not read', () => {
  expect(read(['1/2', '', 'IU', 'Love', 'Single'])).toMatchObject({
    note: '"1/2" is not a single day; the date contains it as written',
    entry: { date: '2024-02-1/2', time: '--:--' },
  })
  const vague = { day: '1/2', time: '--:--' }
  expect(readRow(['', '', 'IU'].map(cell), columns, vague, month)).not.toHaveProperty('note')
  expect(read(['1st', 'noon', 'IU'])).toMatchObject({ note: '"noon" is not a time of day; the entry has no time' })
  const unparsed = { day: '1', time: '--:--', unparsed: 'noon' }
  for (const cells of [['IU'], ['IU', 'Love', ['Single', '/d1']]])
    expect(readRow(['', '', ...cells].map(cell), columns, unparsed, month)).toMatchObject({
      note: expect.stringContaining('the time above it, "noon", is not a time of day; the entry has no time'),
    })
  expect(read(['1/2', 'noon', 'IU'])).toMatchObject({
    note: '"1/2" is not a single day; the date contains it as written; "noon" is not a time of day; the entry has no time',
  })
})

it('reads rows of tables without some columns', () => {
  const none = { time: undefined, title: undefined, type: undefined, track: undefined, streaming: undefined, count: 3 }
  expect(read(['1st', '', 'IU'], none)).toStrictEqual({
    above: { day: '1', time: '12:00' },
    entry: { ...entry, time: '12:00', title: '', types: [] },
  })
})
