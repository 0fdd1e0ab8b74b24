import { type Cell, renderCells } from './cell.ts'

interface TableRow {
  /** Line of the page, from 1. */
  readonly line: number
  readonly cells: readonly Cell[]
  /** Whether a `|` in the text of a link ended the cell: `[a|b](/c)`. */
  readonly hasCutLink: boolean
}

interface Table {
  /** The heading above it, without markup; `''` if there is none. */
  readonly heading: string
  readonly columns: readonly string[]
  readonly rows: readonly TableRow[]
}

const delimiterCell = /^[ \t]*:?-+:?[ \t]*$/
const isDelimiter = (line: string): boolean => line.includes('|') && splitRow(line).every((cell) => delimiterCell.test(cell))
const isHeader = (line: string): boolean => /artist/i.test(line) && /day|date|title|album/i.test(line)
const isUnderline = (line: string): boolean => /^(?:=+|-+)[ \t]*$/.test(line)
/** With an optional title. Another line would be rendered as text, once with each row. */
const definition = /^ {0,3}\[[^\]]+\]:\s*\S+(?:\s+(?:"[^"]*"|'[^']*'|\([^)]*\)))?$/

/** More columns than any table has; further cells are ignored. */
const maxColumns = 40
/** Longer lines, or lines with more markup, are not treated as rows: the renderer's time grows with their square. */
const maxLineLength = 4000
const maxMarkup = 400
const maxDefinitions = 20
const maxDefinitionLength = 300
const isOversized = (line: string): boolean => line.length > maxLineLength || (line.match(/[*_[`^<]/g)?.length ?? 0) > maxMarkup

/** Removes white space before the first `|`, including characters that JavaScript does not treat as white space. */
const tidy = (line: string): string => line.replace(/^[\s\u0085\u200b-\u200f\u2060\ufeff]+(?=\|)/, '').trimEnd()

/** The cells of a tidy line. Every `|` ends a cell, even after a backslash. */
const splitRow = (line: string): readonly string[] => line.replace(/^\|/, '').replace(/\|$/, '').split('|')

const cutLink = /\[[^[\]|]*\|[^[\]]*\]\(/

/**
 * Every row of every table of a wiki page, and every line that looks like one. Accepts more tables than Reddit does (directly
 * below a text or another table, or with a delimiter that is too short), because their rows are comebacks too.
 */
export function readTables(source: string) {
  const lines = source.split(/\r\n|\r|\n/).map(tidy)
  const definitions = lines.filter((line) => line.length <= maxDefinitionLength && definition.test(line)).slice(0, maxDefinitions)
  const render = (line: string) => renderCells(splitRow(line).slice(0, maxColumns), definitions)
  const tables: Table[] = []
  /** Lines that start like a row but are not in a valid table. */
  const stray: number[] = []
  const textOf = (line: string) =>
    render(line.replace(/^#{1,6}|(?<!#)#+$/g, ''))
      .map(({ text }) => text)
      .join('|')
  let headingLine = ''
  /** That of the line, rendered once for all tables below it: a page may have one long heading and thousands of small tables. */
  let heading: string | undefined
  let rows: TableRow[] | undefined
  for (let index = 0; index < lines.length; index++) {
    const [line = '', next = ''] = [lines[index], lines[index + 1]]
    if (isOversized(line)) {
      if (line.startsWith('|')) stray.push(index + 1)
      continue
    }
    if (!line.includes('|')) rows = undefined
    if (line.includes('|') && !isDelimiter(line) && isDelimiter(next) && (rows === undefined || isHeader(line))) {
      rows = []
      heading ??= textOf(headingLine)
      tables.push({ heading, columns: render(line).map(({ text }) => text), rows })
      index++
    } else if (rows !== undefined) {
      rows.push({ line: index + 1, cells: render(line), hasCutLink: cutLink.test(line) })
    } else if (line.startsWith('|')) {
      if (!isDelimiter(line)) stray.push(index + 1)
    } else if (line.startsWith('#') || (line !== '' && isUnderline(next))) {
      headingLine = line
      heading = undefined
    }
  }
  return { tables, stray }
}
