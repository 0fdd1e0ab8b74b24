import { describeSlowWork, measureWork } from '../../../util/slow-work.ts'
import type { Comeback } from '../../databases/kcomebacks.ts'
import type { RunContext } from '../script.ts'
import { minShare } from '../write-snapshot.ts'
import type { ArchivedMonth } from './archive.ts'
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
}

/** Maximum number of entries that a message names. */
const maxNamed = 10

/** Why the entries of a page must not replace the stored ones; undefined if they may. */
function objection(entries: readonly Comeback[], stored: readonly Comeback[]): string | undefined {
  if (entries.length >= minShare * stored.length) return undefined
  const present = new Set(entries.map((entry) => JSON.stringify(entry)))
  const lost = stored.filter((entry) => !present.has(JSON.stringify(entry)))
  const names = lost.slice(0, maxNamed).map(({ date, artist, title }) => `${date} ${artist} - ${title}`)
  const more = lost.length > maxNamed ? ` and ${lost.length - maxNamed} more` : ''
  return `the page has ${entries.length} entries, but ${stored.length} are stored; missing: ${names.join(', ')}${more}; --force accepts it`
}

/**
 * Reads one month page; `unchanged` if its stored entries are still current.
 * @throws UpstreamError | Error if it cannot be read, or has lost many of its entries
 */
export async function readMonth(
  wiki: Wiki,
  { key, page, year, month }: ArchivedMonth,
  stored: readonly Comeback[],
  state: MonthState | undefined,
  { log, clock, force }: RunContext,
): Promise<MonthNow | 'unchanged'> {
  const found = await wiki.read(page, state?.etag)
  if (found === 'unchanged') return 'unchanged'
  if (state?.revision !== undefined && state.revision === found.revision) return 'unchanged'
  const read = () => readMonthPage(found.markdown, { year, month })
  const { entries, reports, leftOut, notes } = measureWork('scripts', read, (took) =>
    log.warn({ month: key, took }, describeSlowWork(`kcomebacks: reading ${page}`, took)),
  )
  const objected = force ? undefined : objection(entries, stored)
  if (objected !== undefined) throw new Error(objected)
  for (const { line, reason } of reports) {
    log.warn({ month: key, line }, `kcomebacks: ${page}, line ${line}: ${reason}; the row is left out`)
  }
  for (const { line, reason } of notes) log.warn({ month: key, line }, `kcomebacks: ${page}, line ${line}: ${reason}`)
  if (leftOut.length > 0) {
    const rows = leftOut.length === 1 ? '1 row' : `${leftOut.length} rows`
    log.info({ month: key, rows: leftOut.length }, `kcomebacks: ${page}: ${rows} of soundtracks left out`)
  }
  return {
    entries,
    rejected: reports.length + leftOut.length,
    reports: [...reports, ...notes].map(({ line, reason }) => `${page}, line ${line}: ${reason}`),
    state: {
      read: clock.wall(),
      digest: digestOf(entries),
      ...(found.revision !== undefined && { revision: found.revision }),
      ...(found.etag !== undefined && { etag: found.etag }),
    },
  }
}
