import type { Comeback } from '../../comeback.ts'
import { type Cell, emptyCell } from './cell.ts'

/** The month that a page is about. */
export interface Month {
  readonly year: number
  /** 1 to 12. */
  readonly month: number
}

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

/** What the rows above a row say for it. */
export interface Above {
  readonly day: string | undefined
  readonly time: string
}

export const nothingAbove: Above = { day: undefined, time: '--:--' }

export type RowRead =
  | { readonly entry: Comeback; readonly above: Above }
  /** Why there is no entry; what the row says for those below stands all the same. */
  | { readonly problem: string; readonly above: Above }

const unknownTime = '--:--'

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

export function readTypes(albumType: string): string[] {
  const text = albumType.toLowerCase()
  return types.filter((type) => text.includes(writtenAs[type] ?? type))
}

export const monthKey = ({ year, month }: Month): string => `${year}-${String(month).padStart(2, '0')}`

const daysOf = ({ year, month }: Month): number => new Date(Date.UTC(year, month, 0)).getUTCDate()

/** The day as written, without the ordinal suffix: `1st` is `1`, `TBA` stays. Undefined where it is no day of the month. */
function readDay(text: string, month: Month): string | undefined {
  const bare = text.replace(/(\d)\s*(?:st|nd|rd|th)\b/gi, '$1').trim()
  if (/^\d+$/.test(bare)) {
    const day = Number(bare)
    return day >= 1 && day <= daysOf(month) ? bare : undefined
  }
  return bare.length <= 20 ? bare : undefined
}

const isCalendarDay = (day: string): boolean => /^\d+$/.test(day)

/** `HH:MM`; undefined where it is no time of day. */
function readTime(text: string): string | undefined {
  const match = /^(\d{1,2})(?:\s*[:.]\s*(\d{2}))?\s*(am|pm)?\.?(?:\s*kst)?$/i.exec(text)
  if (match === null || (match[2] === undefined && match[3] === undefined)) return undefined
  const half = match[3]?.toLowerCase()
  let hours = Number(match[1])
  if (half !== undefined) {
    if (hours < 1 || hours > 12) return undefined
    hours = (hours % 12) + (half === 'pm' ? 12 : 0)
  }
  const minutes = Number(match[2] ?? 0)
  return hours <= 23 && minutes <= 59 ? `${String(hours).padStart(2, '0')}:${String(minutes).padStart(2, '0')}` : undefined
}

/** An absolute http(s) link; undefined for what is none. */
export function readLink(link: string): string | undefined {
  const absolute = link.startsWith('//') ? `https:${link}` : link.startsWith('/') ? `https://www.reddit.com${link}` : link
  return /^https?:\/\/[^\s]+$/i.test(absolute) && URL.canParse(absolute) ? absolute : undefined
}

const readLinks = (cell: Cell): string[] => cell.links.map(readLink).filter((link) => link !== undefined)

const isSeparator = (cells: readonly Cell[]): boolean =>
  cells.some(({ text }) => text !== '') && cells.every(({ text }) => text === '' || /^:?-+:?$/.test(text))

/** What the row says of day and time, for itself and for the rows below. */
function readMoment(day: string, time: string, above: Above, month: Month): Above | string {
  const given = day === '' ? above.day : readDay(day, month)
  if (given === undefined) return day === '' ? 'it has no day, nor has a row above it' : `"${clip(day)}" is no day of the month`
  // A day that is not known has no time to share with the day above it.
  const inherited = day === '' || isCalendarDay(given) ? above.time : unknownTime
  return { day: given, time: time === '' ? inherited : (readTime(time) ?? unknownTime) }
}

const clip = (text: string): string => (text.length > 40 ? `${text.slice(0, 40)}...` : text)

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
  if (extra.length > 0 && (streaming === undefined || readLinks(streaming).length === 0)) {
    return { problem: `it has more cells than the table has columns (${columns.count}); a "|" in a text is written "\\|"`, above }
  }
  const moment = readMoment(day, cell(columns.time).text, above, month)
  if (typeof moment === 'string') return { problem: moment, above: day === '' ? above : nothingAbove }
  if (artist === '') return { problem: 'it has no artist', above: moment }
  const track = cell(columns.track)
  return {
    above: moment,
    entry: {
      date: `${monthKey(month)}-${moment.day}`,
      time: moment.time,
      artist,
      title: cell(columns.title).text || track.text,
      types: readTypes(cell(columns.type).text),
      links: [...readLinks(streaming ?? cell(columns.streaming)), ...readLinks(track)],
    },
  }
}
