import type { Comeback } from '../../databases/kcomebacks.ts'
import type { Named } from './compare.ts'
import { type Columns, readRow } from './entry.ts'
import { nothingAbove } from './moment.ts'
import { readTables } from './tables.ts'

interface RowReport {
  readonly line: number
  readonly reason: string
  readonly cancelled?: Named
}

/** Finds the columns by name, because their order and number vary. */
function readColumns(names: readonly string[]): Columns | undefined {
  const plain = names.map((name) => name.toLowerCase())
  const find = (...patterns: readonly RegExp[]): number | undefined =>
    patterns.map((pattern) => plain.findIndex((name) => pattern.test(name))).find((index) => index >= 0)
  const [day, artist] = [find(/^(day|date)\b/), find(/^artist/)]
  if (day === undefined || artist === undefined) return undefined
  return {
    day,
    time: find(/^time\b/),
    artist,
    title: find(/^album title/, /^(album|title|release)$/),
    type: find(/^album type/, /^(release )?type$/),
    track: find(/^title track/, /^(track|song)\b/),
    streaming: find(/^stream/, /^links?\b/),
    // Columns named "+" only collect cells beyond the last real one.
    count: names.filter((name) => name !== '+').length,
  }
}

/** Headings vary: `OSTs & Soundtracks`, `OST (February)`, `OST Albums`. */
const isSoundtracks = (heading: string): boolean => /(?<![\p{L}\p{N}])(?:osts?|soundtracks?)(?![\p{L}\p{N}])/iu.test(heading)

const barInLink = 'a "|" in the text of a link ends the cell; write it as "&#124;"'

/**
 * The entries of a month page in page order, and every other row with the reason. Never throws.
 * @param month `2024-02`
 */
export function readMonthPage(markdown: string, month: string) {
  const page = readTables(markdown)
  const entries: Comeback[] = []
  /** Rows that are not comebacks: songs of soundtracks. */
  const leftOut: RowReport[] = []
  /** Rows whose entry lacks a value that could not be parsed, in page order. */
  const notes: RowReport[] = []
  /** Rows that could not be parsed. Every row of the page is in one of these lists. */
  const reports: RowReport[] = page.stray.map((line) => ({ line, reason: 'it is not in a valid table' }))
  let hasTable = false
  for (const { heading, columns: names, rows } of page.tables) {
    const columns = readColumns(names)
    if (isSoundtracks(heading)) {
      leftOut.push(...rows.map(({ line }) => ({ line, reason: 'it is in the table of soundtracks' })))
      continue
    }
    if (columns === undefined) {
      reports.push(...rows.map(({ line }) => ({ line, reason: 'its table has no columns Day and Artist' })))
      continue
    }
    hasTable = true
    let above = nothingAbove
    for (const { line, cells, hasCutLink } of rows) {
      const read = readRow(cells, columns, above, month)
      above = read.above
      if (hasCutLink) reports.push({ line, reason: barInLink })
      else if ('entry' in read) {
        entries.push(read.entry)
        if (read.note !== undefined) notes.push({ line, reason: read.note })
      } else reports.push({ line, reason: read.problem, ...(read.cancelled && { cancelled: read.cancelled }) })
    }
  }
  return { entries, reports: reports.sort((a, b) => a.line - b.line), leftOut, notes, hasTable }
}
