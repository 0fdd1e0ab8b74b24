import { expect, it } from 'vitest'
import { readTables } from '../../../../src/data/scripts/kcomebacks/tables.ts'

it.each([
  ['|--|--|', true],
  ['--|--', true],
  [' :-: | -', true],
  ['-|', true],
  ['|-', true],
  ['--', false],
  ['|', false],
  ['||', false],
  ['-||-', false],
  ['- -|-', false],
  ['-|x', false],
  ['-|:', false],
])('treats %j below a row as a delimiter: %s', (line, isDelimiter) => {
  expect(readTables(`a|b\n${line}\n1|2`).tables).toHaveLength(isDelimiter ? 1 : 0)
})

/** The headings of the tables below these lines, and the texts of their rows. */
const tablesOf = (...lines: readonly string[]) =>
  readTables(lines.join('\n')).tables.map(({ heading, columns, rows }) => [
    heading,
    columns.join(),
    ...rows.map(({ line, cells }) => `${line}: ${cells.map(({ text }) => text).join()}`),
  ])
const table = ['|a|b|', '|-|-|', '|1|2|']

it.each<[heading: string, lines: readonly string[]]>([
  ['', []],
  ['', ['Text']],
  ['', ['']],
  ['Text', ['# Text']],
  ['Text', ['###Text']],
  ['Text', ['###### Text']],
  ['# Text', ['####### Text']],
  ['Text', ['## Text ##']],
  ['Text # 1', ['## Text # 1 #']],
  ['Text', ['## *Text*']],
  ['', ['Text # 1']],
  ['Text', ['Text', '=']],
  ['Text', ['Text', '====']],
  ['Text', ['Text', '-']],
  ['Text', ['Text', '---- \t']],
  ['', ['Text', '--- x']],
  ['', ['Text', 'x ---']],
  ['', ['Text', '=-=']],
  ['One', ['# One', '', '---', '']],
  ['Two', ['# One', '# Two']],
])('has the heading %j below %j', (heading, lines) => {
  expect(tablesOf(...lines, ...table)).toEqual([[heading, 'a,b', `${lines.length + 3}: 1,2`]])
})

it('keeps a bar in a heading', () => {
  expect(tablesOf('## A|B', '', ...table)).toEqual([['A|B', 'a,b', '5: 1,2']])
})

it('ends a table at a line without a bar, or at the header of another table', () => {
  const other = ['|Artist|Title|', '|-|-|', '|3|4|']
  expect(tablesOf(...table, ...other)).toEqual([
    ['', 'a,b', '3: 1,2'],
    ['', 'Artist,Title', '6: 3,4'],
  ])
  for (const header of ['|Day|ARTIST|', '|artist|Date|', '|Artist|ALBUM|']) {
    expect(tablesOf(...table, header, '|-|-|')).toHaveLength(2)
  }
  for (const row of ['|Artist|x|', '|Day|x|', '|x|y|']) {
    expect(tablesOf(...table, row, '|-|-|', '|5|6|')).toEqual([
      ['', 'a,b', '3: 1,2', `4: ${row.slice(1, -1).replace('|', ',')}`, '5: -,-', '6: 5,6'],
    ])
  }
  expect(tablesOf(...table, '', ...table)).toHaveLength(2)
  expect(tablesOf('|-|-|', '|-|-|', ...table)).toEqual([['', 'a,b', '5: 1,2']])
  expect(tablesOf('Text', '|-|-|')).toEqual([])
  expect(tablesOf('|a|b|')).toEqual([])
})

it('finds lines that start like a row of no table', () => {
  expect(readTables('|a|b|\n\na|b|\n|-|-|x\n|c').stray).toEqual([1, 4, 5])
  expect(readTables('|-|-|\n\n|-|').stray).toEqual([])
  expect(readTables('').stray).toEqual([])
})

it('treats no line as a row that is too long, or has too much markup', () => {
  const row = (length: number) => `|${'x'.repeat(length - 1)}`
  expect(tablesOf('|a|', '|-|', row(4000))[0]).toHaveLength(3)
  expect(readTables(`|a|\n|-|\n${row(4001)}\n|1|\n${row(4001).slice(1)}|`)).toMatchObject({
    tables: [{ rows: [{ line: 4 }] }],
    stray: [3],
  })
  for (const character of '*_[`^<') {
    expect(readTables(`|a|\n|-|\n|${character.repeat(400)}`).stray).toEqual([])
    expect(readTables(`|a|\n|-|\n|${character.repeat(401)}`).stray).toEqual([3])
  }
  expect(readTables(`${'x'.repeat(4001)}|\n`).stray).toEqual([])
})

it('ignores white space at the ends of a line, of any kind', () => {
  expect(tablesOf(' \u200b|a|b|', '\u0085\u2060|-|-|', '\ufeff|1|2| \t')).toEqual([['', 'a,b', '3: 1,2']])
  expect(tablesOf('a b |c', '-|-', '1 |2')).toEqual([['', 'a b,c', '3: 1,2']])
  expect(tablesOf('|a|b', '|-|-', '|1| |')).toEqual([['', 'a,b', '3: 1,']])
})

it('reads all kinds of line ends', () => {
  expect(readTables('|a|\r\n|-|\r|1|\n|2|').tables).toMatchObject([{ rows: [{ line: 3 }, { line: 4 }] }])
})

it('reads no more columns than a table has', () => {
  const bars = (count: number) => `|${'x|'.repeat(count)}`
  const [found] = readTables(`${bars(50)}\n|-|\n${bars(40)}\n${bars(41)}`).tables
  expect(found?.columns).toHaveLength(40)
  expect(found?.rows.map(({ cells }) => cells.length)).toEqual([40, 40])
})

it('says whether a bar in the text of a link ended a cell', () => {
  const isCut = (row: string) => readTables(`|a|b|\n|-|-|\n${row}`).tables[0]?.rows[0]?.hasCutLink
  for (const row of ['|[a|b](/c)|', '|[|](/c)|', 'x|[a|b|c](/d)']) expect(isCut(row)).toBe(true)
  for (const row of ['|[a](/b)|[c](/d)|', '|[a|b]|(/c)', '|[a|b]', '|a|b](/c)', '|[a]|b](/c)']) expect(isCut(row)).toBe(false)
})

it('resolves the first 20 links that the page defines', () => {
  const define = (number: number) => `   [n${number}]: /${number}`
  const definitions = Array.from({ length: 21 }, (_, index) => define(index + 1)).join('\n')
  const links = (row: string) => readTables(`|a|\n|-|\n${row}\n\n${definitions}`).tables[0]?.rows[0]?.cells[0]?.links
  expect(links('|[a][n1]')).toEqual(['/1'])
  expect(links('|[a][n20]')).toEqual(['/20'])
  expect(links('|[a][n21]')).toEqual([])
  const oversized = `[n0]: /${'x'.repeat(4000)}\n`
  expect(readTables(`|a|\n|-|\n|[b][n0]\n\n${oversized}`).tables[0]?.rows[0]?.cells[0]?.links).toEqual([])
})
