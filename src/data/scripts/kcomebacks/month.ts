import { describeSlowWork, measureWork } from '../../../util/slow-work.ts'
import type { Comeback } from '../../databases/kcomebacks.ts'
import { parseDay } from '../../store/dates.ts'
import type { RunContext } from '../script.ts'
import { UpstreamError } from '../upstream-error.ts'
import { minShare } from '../write-snapshot.ts'
import type { ArchivedMonth } from './archive.ts'
import { Bag, type Named, nameOf } from './compare.ts'
import { readMonthPage } from './page.ts'
import { digestOf, type MonthState } from './stored.ts'
import type { Wiki } from './wiki.ts'

export interface MonthNow {
  readonly entries: readonly Comeback[]
  /** Number of rows without an entry. */
  readonly rejected: number
  /** Rows and values that could not be parsed, with page and line. */
  readonly reports: readonly string[]
  readonly state: MonthState
  readonly cancelled: readonly Named[]
  /** Whether the page has a table that may have comebacks. */
  readonly hasTable: boolean
  /** The page. */
  readonly markdown: string
}

export interface Objection {
  readonly reason: string
  /**
   * Whether the missing entries may really be gone. Without a table, with the entries of another month, or if it still names half of
   * them, the page has another form instead.
   */
  readonly isGone: boolean
}

/** Maximum number of entries that a message names. */
const maxNamed = 10
/** Maximum number of missing entries that are looked for elsewhere on the page. */
const maxSought = 100
/** A page may lose so many entries, whatever its length. */
const minLoss = 1
/** Reddit limits pages to 512 KiB. */
const maxLength = 512 * 1024
/** Far more than any page has: each row takes some 0.2 ms. */
const maxLines = 10_000

/**
 * Why the entries of a page must not replace the stored ones; undefined if they may. Not lost are entries that are struck out or
 * turn up in another month, and announced ones without a day, unless the page has no table any more.
 * @param elsewhere names of the entries of the other months, as their pages are now
 * @param before names of the entries that all months had before
 */
export function objectionTo(
  { entries, cancelled, hasTable, markdown }: Pick<MonthNow, 'entries' | 'cancelled' | 'hasTable' | 'markdown'>,
  stored: readonly Comeback[],
  elsewhere: ReadonlySet<string>,
  before: ReadonlySet<string>,
): Objection | undefined {
  const known = new Set(stored.map(nameOf))
  const isCopied = (entry: Comeback) => !known.has(nameOf(entry)) && before.has(nameOf(entry))
  const present = new Bag([...entries, ...cancelled].map(nameOf))
  const isLost = (entry: Comeback) => (!hasTable || parseDay(entry.date) !== undefined) && !elsewhere.has(nameOf(entry))
  const lost = stored.filter((entry) => !present.take(nameOf(entry)) && isLost(entry))
  // A changed title is a lost entry and a new one, which no other month had: else this may be the page of that month.
  const copied = entries.filter(isCopied).length
  const replaced = entries.length - copied - (stored.length - lost.length)
  const missing = lost.length - Math.max(0, replaced)
  const isEmptied = entries.length === 0 && missing > 0
  const isLarge = missing > minLoss && stored.length - missing < minShare * stored.length
  if (!isEmptied && !isLarge) return undefined
  const names = lost.slice(0, maxNamed).map(({ date, artist, title }) => `${date} ${artist} - ${title}`)
  const more = lost.length > maxNamed ? ` and ${lost.length - maxNamed} more` : ''
  return {
    reason: `the page has ${entries.length} entries, but ${stored.length} are stored; missing: ${names.join(', ')}${more}`,
    // Read only when the same page has been refused some times.
    get isGone() {
      return hasTable && copied <= minLoss && !stillNames(markdown, lost.slice(0, maxSought))
    },
  }
}

/** The words of a text, with a space around each. */
const wordsOf = (text: string): string => ` ${text} `.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, ' ')

/** Whether a page has the artist and title of at least half of the entries, each in one line of whatever form. */
function stillNames(markdown: string, entries: readonly Named[]): boolean {
  const lines = markdown.split(/\r\n?|\n/).map(wordsOf)
  const isNamed = ({ artist, title }: Named) => {
    const [ofArtist, ofTitle] = [wordsOf(artist), wordsOf(title)]
    return lines.some((line) => line.includes(ofArtist) && line.includes(ofTitle))
  }
  return 2 * entries.filter(isNamed).length >= entries.length
}

/**
 * Reads one month page; `unchanged` if its stored entries are still current.
 * @throws UpstreamError if it cannot be read
 */
export async function readMonth(
  wiki: Wiki,
  { key, page, year, month }: ArchivedMonth,
  state: MonthState | undefined,
  { log, clock }: RunContext,
): Promise<MonthNow | 'unchanged'> {
  const found = await wiki.read(page)
  if (state?.revision !== undefined && state.revision === found.revision) return 'unchanged'
  if (found.markdown.length > maxLength || found.markdown.split(/\r\n?|\n/, maxLines + 1).length > maxLines) {
    const reason = `/wiki/${page} has more than ${maxLength} characters or ${maxLines} lines`
    throw new UpstreamError('malformed', `Reddit: ${reason}`)
  }
  const read = () => readMonthPage(found.markdown, { year, month })
  const { entries, reports, leftOut, notes, hasTable } = measureWork('scripts', read, (took) =>
    log.warn({ month: key, took }, describeSlowWork(`kcomebacks: reading ${page}`, took)),
  )
  for (const { line, reason } of reports) {
    log.warn({ month: key, line }, `kcomebacks: ${page}, line ${line}: ${reason}; the row is left out`)
  }
  for (const { line, reason } of notes) log.warn({ month: key, line }, `kcomebacks: ${page}, line ${line}: ${reason}`)
  if (leftOut.length > 0) {
    const rows = leftOut.length === 1 ? '1 row' : `${leftOut.length} rows`
    log.info({ month: key, rows: leftOut.length }, `kcomebacks: ${page}: ${rows} of soundtracks left out`)
  }
  const cancelled = reports.flatMap((report) => report.cancelled ?? [])
  return {
    ...{ entries, cancelled, hasTable, markdown: found.markdown },
    rejected: reports.length + leftOut.length,
    reports: [...reports, ...notes].map(({ line, reason }) => `${page}, line ${line}: ${reason}`),
    state: {
      read: clock.wall(),
      digest: digestOf(entries),
      ...(found.revision !== undefined && { revision: found.revision }),
    },
  }
}
