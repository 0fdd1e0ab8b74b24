import { type Cell, renderCells } from './cell.ts'

/** A row of a table of the page. */
export interface TableRow {
  /** Line of the page, from 1. */
  readonly line: number
  readonly cells: readonly Cell[]
  /** A link's text holds a bar, which ends the cell: `[a|b](/c)`. */
  readonly hasCutLink: boolean
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
const looksLikeHeader = (line: string): boolean =>
  line.includes('|') && /artist/i.test(line) && /day|date|title|album/i.test(line)
const isUnderline = (line: string): boolean => /^(?:=+|-+)[ \t]*$/.test(line)
const definition = /^ {0,3}\[[^\]]+\]:\s*\S/

/** More columns than any table has; cells beyond are ignored. */
const maxColumns = 40
/** Longer lines, or lines with more markup, are no rows: the renderer's time grows with their square. */
const maxLineLength = 4000
const maxMarkup = 400
const maxDefinitions = 20
const isAccident = (line: string): boolean => line.length > maxLineLength || (line.match(/[*_[`^<]/g)?.length ?? 0) > maxMarkup

/** Without the white space before the first bar, also that which JavaScript does not count as such. */
const tidy = (line: string): string => line.replace(/^[\s\u0085\u200b-\u200f\u2060\ufeff]+(?=\|)/, '').trimEnd()

/** The cells of a line: every bar ends one, a backslash before it or not. */
const splitRow = (line: string): readonly string[] => line.replace(/^\|/, '').replace(/\|$/, '').split('|').slice(0, maxColumns)

const cutLink = /\[[^[\]]*\|[^[\]]*\]\(/

/**
 * Every row of every table of a wiki page, and every line that looks like one. More is a table here than on Reddit (one
 * right below a text or another table, one whose delimiter is too short): its rows are comebacks all the same.
 */
export function readTables(source: string): Page {
  const lines = source.split(/\r\n|\r|\n/).map(tidy)
  const definitions = lines.filter((line) => definition.test(line) && !isAccident(line)).slice(0, maxDefinitions)
  const render = (line: string) => renderCells(splitRow(line), definitions)
  const tables: Table[] = []
  const stray: number[] = []
  let heading = ''
  let rows: TableRow[] | undefined
  for (let index = 0; index < lines.length; index++) {
    const [line = '', next = ''] = [lines[index], lines[index + 1]]
    if (isAccident(line)) {
      if (line.startsWith('|')) stray.push(index + 1)
      continue
    }
    if (!line.includes('|')) rows = undefined
    if (line.includes('|') && !isDelimiter(line) && isDelimiter(next) && (rows === undefined || looksLikeHeader(line))) {
      rows = []
      tables.push({ heading, columns: render(line).map(({ text }) => text), rows })
      index++
    } else if (rows !== undefined) {
      rows.push({ line: index + 1, cells: render(line), hasCutLink: cutLink.test(line) })
    } else if (line.startsWith('|')) {
      if (!isDelimiter(line)) stray.push(index + 1)
    } else if (/^#{1,6}/.test(line) || (line !== '' && isUnderline(next))) {
      heading = render(line.replace(/^#{1,6}|#*$/g, ''))
        .map(({ text }) => text)
        .join('|')
    }
  }
  return { tables, stray }
}
