import { parseUrl } from '../../../util/parse-url.ts'
import type { Comeback } from '../../databases/kcomebacks.ts'
import { type Cell, emptyCell } from './cell.ts'
import type { Named } from './compare.ts'
import { type Above, clip, isVagueDay, nothingAbove, readMoment, readTime } from './moment.ts'

/** Index of each column in a table; undefined if the table does not have it. */
export interface Columns extends Readonly<Record<'time' | 'title' | 'type' | 'track' | 'streaming', number | undefined>> {
  readonly day: number
  readonly artist: number
  readonly count: number
}

type RowRead =
  /** `note`: what is missing from the entry because it could not be parsed. */
  | { readonly entry: Comeback; readonly above: Above; readonly note?: string }
  /** Why the row has no entry; the rows below still inherit its day and time. `cancelled`: what is struck out. */
  | { readonly problem: string; readonly above: Above; readonly cancelled?: Named }

/** In the order that an entry has them. */
const types = (
  'anniversary, debut, comeback, pre-release, collab, album, single, full-length, mini, repackage, remix, ' +
  'solo, japanese, chinese, english, digital, remake, mixtape, unit debut, live, cover, holiday'
).split(', ')

/** Text in the Album Type column for types that are written differently there. */
const writtenAs: Readonly<Record<string, string>> = { 'full-length': 'full-length album', mini: 'mini album' }

function readTypes(albumType: string): string[] {
  const text = albumType.toLowerCase()
  return types.filter((type) => text.includes(writtenAs[type] ?? type))
}

/** An absolute http(s) link; undefined if it is not one. */
function readLink(link: string): string | undefined {
  const absolute = link.startsWith('//') ? `https:${link}` : link.startsWith('/') ? `https://www.reddit.com${link}` : link
  return /^https?:\/\/[^\s]+$/i.test(absolute) && parseUrl(absolute) !== undefined ? absolute : undefined
}

/** Notes on the links of a row that are not in its entry. */
function noteOnLinks(linked: readonly Cell[], others: readonly Cell[]): string[] {
  const invalid = linked.flatMap(({ links }) => links.filter((link) => readLink(link) === undefined))
  return [
    ...invalid.map((link) => `"${clip(link)}" is not a link; it is left out`),
    ...others
      .flatMap(({ links }) => links)
      .map((link) => `the link "${clip(link)}" is in a column without links; it is left out`),
  ]
}

/** Whether the artist is what another column has: the row has one cell too many. */
const isOtherCell = (artist: string): boolean => /^(?:\d{1,2}[:.]\d{2}|\?+|\d{1,2}(?:st|nd|rd|th))$/i.test(artist)

const shifted = (column: string, text: string): string => `its columns are shifted: its ${column} is "${clip(text)}"`

const readLinks = (cell: Cell): string[] => cell.links.map(readLink).filter((link) => link !== undefined)

const isSeparator = (cells: readonly Cell[]): boolean =>
  cells.some(({ text }) => text !== '') && cells.every(({ text }) => text === '' || /^:?-+:?$/.test(text))

/** @param own whether the time is in the row itself, not inherited from a row above */
const noteOnTime = (time: string, own: boolean): string =>
  `${own ? `"${time}"` : `the time above it, "${time}",`} is not a time of day; the entry has no time`

/**
 * One row of a month page.
 * @param above the `above` of the row before, {@link nothingAbove} for the first row of a table
 * @param month `2024-02`
 */
export function readRow(cells: readonly Cell[], columns: Columns, above: Above, month: string): RowRead {
  const cell = (index: number | undefined): Cell => (index === undefined ? emptyCell : (cells[index] ?? emptyCell))
  if (cells.every(({ text, links }) => text === '' && links.length === 0)) return { problem: 'it is empty', above }
  if (isSeparator(cells)) return { problem: 'it is a separator line', above }
  const [day, artist] = [cell(columns.day).text, cell(columns.artist).text]
  if (/^(day|date)$/i.test(day) && /^artist/i.test(artist)) return { problem: 'it is a header', above: nothingAbove }

  const extra = cells.slice(columns.count).filter(({ text }) => text !== '')
  // A row may have a streaming cell although the table has no such column; any other extra cell means shifted columns.
  const streaming = columns.streaming === undefined && extra[0] === cells[columns.count] ? extra[0] : undefined
  const isStreaming = streaming !== undefined && readLinks(streaming).length > 0
  // The row lacks its first cell.
  if (readTime(day) !== undefined) return { problem: shifted('day', day), above: nothingAbove }
  const moment = readMoment(day, cell(columns.time).text, above, month)
  if (typeof moment === 'string') return { problem: moment, above: nothingAbove }
  if (extra.length > 1) {
    const problem = `it has more cells than the table has columns (${columns.count}); write a "|" in a text as "&#124;"`
    return { problem, above: moment }
  }
  if (artist === '') return { problem: 'it has no artist', above: moment }
  const track = cell(columns.track)
  const title = cell(columns.title)
  // A title alone may be struck out because it has changed.
  if (cell(columns.artist).isStruck || (title.isStruck && /\b(?:cancel|postpone|delay)/i.test(title.text))) {
    const cancelled = { artist, title: title.text || track.text }
    return { problem: 'it is struck out', above: moment, cancelled }
  }
  if (isOtherCell(artist)) return { problem: shifted('artist', artist), above: moment }
  const time = cell(columns.time).text
  const isShort = cells.length < columns.count
  // It lacks its first cell and has no time: the artist is in its place, and the title track in that of the type.
  if (isShort && time !== '' && moment.unparsed !== undefined && cell(columns.type).links.length > 0)
    return { problem: shifted('time', time), above: moment }
  const links = isStreaming ? streaming : cell(columns.streaming)
  const notes = [
    // Reddit does not display it either.
    ...(extra.length === 1 && !isStreaming
      ? [`its cell beyond the last column is ignored: "${clip(extra[0]?.text ?? '')}"`]
      : []),
    ...(day !== '' && isVagueDay(moment.day ?? '')
      ? [`"${clip(day)}" is not a single day; the date contains it as written`]
      : []),
    ...noteOnLinks([links, track], [cell(columns.day), cell(columns.time), cell(columns.type)]),
    ...(moment.unparsed !== undefined ? [noteOnTime(moment.unparsed, time !== '')] : []),
  ]
  return {
    above: moment,
    ...(notes.length > 0 && { note: notes.join('; ') }),
    entry: {
      date: `${month}-${moment.day}`,
      time: moment.time,
      artist,
      title: title.text || track.text,
      types: readTypes(cell(columns.type).text),
      links: [...readLinks(links), ...readLinks(track)],
    },
  }
}
