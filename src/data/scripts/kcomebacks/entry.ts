import type { Comeback } from '../../comeback-format.ts'
import { type Cell, emptyCell } from './cell.ts'
import { type Above, clip, isVagueDay, type Month, monthKey, nothingAbove, readMoment } from './moment.ts'

/** Where the columns stand in a table; undefined: it has none of that kind. */
export interface Columns {
  readonly day: number
  readonly time: number | undefined
  readonly artist: number
  readonly title: number | undefined
  readonly type: number | undefined
  readonly track: number | undefined
  readonly streaming: number | undefined
  readonly count: number
}

export type RowRead =
  /** `note`: what the entry lacks because it cannot be read. */
  | { readonly entry: Comeback; readonly above: Above; readonly note?: string }
  /** Why there is no entry; what the row says for those below stands all the same. */
  | { readonly problem: string; readonly above: Above }

/** In the order that an entry has them. */
const types: readonly string[] = [
  ...[
    'anniversary',
    'debut',
    'comeback',
    'pre-release',
    'collab',
    'album',
    'single',
    'full-length',
    'mini',
    'repackage',
    'remix',
  ],
  ...['solo', 'japanese', 'chinese', 'english', 'digital', 'remake', 'mixtape', 'unit debut', 'live', 'cover', 'holiday'],
]

/** What stands in the Album Type where it is not the type itself. */
const writtenAs: Readonly<Record<string, string>> = { 'full-length': 'full-length album', mini: 'mini album' }

function readTypes(albumType: string): string[] {
  const text = albumType.toLowerCase()
  return types.filter((type) => text.includes(writtenAs[type] ?? type))
}

/** An absolute http(s) link; undefined for what is none. */
function readLink(link: string): string | undefined {
  const absolute = link.startsWith('//') ? `https:${link}` : link.startsWith('/') ? `https://www.reddit.com${link}` : link
  return /^https?:\/\/[^\s]+$/i.test(absolute) && URL.canParse(absolute) ? absolute : undefined
}

const readLinks = (cell: Cell): string[] => cell.links.map(readLink).filter((link) => link !== undefined)

const isSeparator = (cells: readonly Cell[]): boolean =>
  cells.some(({ text }) => text !== '') && cells.every(({ text }) => text === '' || /^:?-+:?$/.test(text))

/** @param own it stands in the row itself, not above it */
const noteOnTime = (time: string, own: boolean): string =>
  `${own ? `"${time}"` : `the time above it, "${time}",`} is no time of day; its time is left open`

/**
 * One row of a month page.
 * @param above what the row before it left, {@link nothingAbove} for the first of a table
 */
export function readRow(cells: readonly Cell[], columns: Columns, above: Above, month: Month): RowRead {
  const cell = (index: number | undefined): Cell => (index === undefined ? emptyCell : (cells[index] ?? emptyCell))
  if (cells.every(({ text, links }) => text === '' && links.length === 0)) return { problem: 'it is empty', above }
  if (isSeparator(cells)) return { problem: 'it is a line between rows', above }
  const [day, artist] = [cell(columns.day).text, cell(columns.artist).text]
  if (/^(day|date)$/i.test(day) && /^artist/i.test(artist)) return { problem: 'it is a header', above: nothingAbove }

  const extra = cells.slice(columns.count).filter(({ text }) => text !== '')
  // Rows of a table without a Streaming column may have its cell all the same; anything else has slipped sideways.
  const streaming =
    columns.streaming === undefined && extra.length === 1 && extra[0] === cells[columns.count] ? extra[0] : undefined
  const isStreaming = streaming !== undefined && readLinks(streaming).length > 0
  const moment = readMoment(day, cell(columns.time).text, above, month)
  if (typeof moment === 'string') return { problem: moment, above: day === '' ? above : nothingAbove }
  if (extra.length > 1) {
    const problem = `it has more cells than the table has columns (${columns.count}); a "|" in a text is written "&#124;"`
    return { problem, above: moment }
  }
  if (artist === '') return { problem: 'it has no artist', above: moment }
  const track = cell(columns.track)
  const notes = [
    // The site does not show it either.
    ...(extra.length === 1 && !isStreaming
      ? [`its cell beyond the last column is ignored: "${clip(extra[0]?.text ?? '')}"`]
      : []),
    ...(day !== '' && isVagueDay(moment.day ?? '') ? [`"${clip(day)}" is no single day; its date has it as written`] : []),
    ...(moment.unread !== undefined ? [noteOnTime(moment.unread, cell(columns.time).text !== '')] : []),
  ]
  return {
    above: moment,
    ...(notes.length > 0 && { note: notes.join('; ') }),
    entry: {
      date: `${monthKey(month)}-${moment.day}`,
      time: moment.time,
      artist,
      title: cell(columns.title).text || track.text,
      types: readTypes(cell(columns.type).text),
      links: [...readLinks(isStreaming ? streaming : cell(columns.streaming)), ...readLinks(track)],
    },
  }
}
