import { lexer, type Tokens } from 'marked'
import { type Cell, readCell } from './cell.ts'

/** A row of a table of the page. */
export interface TableRow {
  /** Line of the page, from 1. */
  readonly line: number
  readonly cells: readonly Cell[]
}

export interface Table {
  /** The heading above it, without markup; `''` where there is none. */
  readonly heading: string
  readonly columns: readonly string[]
  readonly rows: readonly TableRow[]
}

export interface Page {
  readonly tables: readonly Table[]
  /** Lines that start like a row but are in no table that can be read. */
  readonly stray: readonly number[]
}

const delimiterLine = /^[ \t]*\|?[ \t]*:?-+:?[ \t]*(\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/
const isDelimiter = (line: string): boolean => line.includes('|') && delimiterLine.test(line)
const startsRow = (line: string): boolean => line.startsWith('|')
const looksLikeHeader = (line: string): boolean => /\|/.test(line) && /artist/i.test(line) && /day|date|title|album/i.test(line)

/** More cells than any table has; those beyond are not looked at. */
const mostColumns = 40
/** Beyond these a line is no row but an accident, and costs the parser time that grows with its square. */
const longestLine = 4000
const mostEmphasis = 400
const isAccident = (line: string): boolean => line.length > longestLine || (line.match(/[*_]/g)?.length ?? 0) > mostEmphasis

/** Cells of a line: only counted here, their text is read by the parser. */
function countCells(line: string): number {
  const inner = line.trim().replace(/\\\|/g, '').replace(/^\|/, '').replace(/\|$/, '')
  return inner.split('|').length
}

/** A header and its delimiter with as many columns as the widest row has, so that the parser drops no cell. */
function widen(header: string, width: number): [header: string, delimiter: string] {
  const text = header.trim().replace(/(^|[^\\])\|$/, '$1')
  const more = Math.max(0, width - countCells(header))
  return [`${text}|${'+|'.repeat(more)}`, `|${'-|'.repeat(countCells(header) + more)}`]
}

interface Prepared {
  readonly text: string
  /** Line of the page that a line of the text was, from 1. */
  readonly lines: readonly number[]
  readonly accidents: readonly number[]
}

/** Bars and headings where a strict parser expects them: `###Scheduled` is a heading for the site. */
const tidyLine = (line: string): string => {
  const bare = line.trim()
  if (bare === '' || bare.startsWith('|')) return bare
  return line.replace(/^(#{1,6})(?=[^#\s])/, '$1 ')
}

/**
 * Makes tables that the site shows, but a strict parser would not, tables: a delimiter of another width than the header,
 * a table right below another one.
 */
function prepare(source: string): Prepared {
  const given = source.split(/\r\n|\r|\n/).map(tidyLine)
  const text: string[] = []
  const lines: number[] = []
  const accidents: number[] = []
  const put = (line: string, number: number) => {
    text.push(line)
    lines.push(number)
  }
  let inTable = false
  for (let index = 0; index < given.length; index++) {
    const line = given[index] ?? ''
    const next = given[index + 1] ?? ''
    if (isAccident(line)) {
      if (startsRow(line)) accidents.push(index + 1)
      continue
    }
    if (line === '') inTable = false
    const starts = line.includes('|') && !isDelimiter(line) && isDelimiter(next) && (!inTable || looksLikeHeader(line))
    if (!starts) {
      put(line, index + 1)
      continue
    }
    if (inTable) put('', index + 1)
    inTable = true
    let width = countCells(line)
    for (let row = index + 2; row < given.length && given[row] !== ''; row++) {
      width = Math.max(width, Math.min(mostColumns, countCells(given[row] ?? '')))
    }
    const [header, delimiter] = widen(line, width)
    put(header, index + 1)
    put(delimiter, index + 2)
    index++
  }
  return { text: text.join('\n'), lines, accidents }
}

const countLines = (text: string): number => text.split('\n').length - 1

/** Every row of every table of a Markdown page, and every line that looks like one. */
export function readTables(source: string): Page {
  const { text, lines, accidents } = prepare(source)
  const tables: Table[] = []
  const stray: number[] = [...accidents]
  let heading = ''
  let [offset, first] = [0, 0]
  const goTo = (position: number) => {
    first += countLines(text.slice(offset, position))
    offset = position
  }
  const lineOf = (below: number): number => lines[first + below] ?? 0
  for (const token of lexer(text, { gfm: true })) {
    goTo(Math.max(offset, text.indexOf(token.raw, offset)))
    if (token.type === 'heading') heading = readCell(token.tokens ?? []).text
    if (token.type === 'table') {
      const { header, rows } = token as Tokens.Table
      tables.push({
        heading,
        columns: header.map(({ tokens }) => readCell(tokens).text),
        rows: rows.map((cells, row) => ({ line: lineOf(2 + row), cells: cells.map(({ tokens }) => readCell(tokens)) })),
      })
    } else {
      token.raw.split('\n').forEach((line, below) => {
        if (startsRow(line) && !isDelimiter(line)) stray.push(lineOf(below))
      })
    }
    goTo(offset + token.raw.length)
  }
  return { tables, stray: stray.sort((a, b) => a - b) }
}
