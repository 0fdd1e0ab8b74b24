import { describeSlowWork, measureWork } from '../../../util/slow-work.ts'
import type { Comeback } from '../../databases/kcomebacks.ts'
import type { RunContext } from '../script.ts'
import { UpstreamError } from '../upstream-error.ts'
import type { Named } from './compare.ts'
import { readMonthPage } from './page.ts'
import { digestOf, type MonthState } from './stored.ts'
import type { Wiki } from './wiki.ts'

export interface MonthNow {
  readonly entries: readonly Comeback[]
  readonly rejected: number
  /** Rows and values that could not be parsed, with page and line. */
  readonly reports: readonly string[]
  readonly state: MonthState
  readonly cancelled: readonly Named[]
  /** Whether the page has a table that may have comebacks. */
  readonly hasTable: boolean
  readonly markdown: string
}

/** Reddit limits pages to 512 KiB. */
const maxLength = 512 * 1024
/** Far more than any page has: each row takes some 0.2 ms. */
const maxLines = 10_000

/**
 * Reads the page of one month (`2024-02`); `unchanged` if its stored entries are still current.
 * @throws UpstreamError if it cannot be read
 */
export async function readMonth(
  wiki: Wiki,
  [month, page]: readonly [month: string, page: string],
  state: MonthState | undefined,
  { log, clock }: RunContext,
): Promise<MonthNow | 'unchanged'> {
  const found = await wiki.read(page)
  if (state?.revision !== undefined && state.revision === found.revision) return 'unchanged'
  if (found.markdown.length > maxLength || found.markdown.split(/\r\n?|\n/, maxLines + 1).length > maxLines) {
    const reason = `/wiki/${page} has more than ${maxLength} characters or ${maxLines} lines`
    throw new UpstreamError('malformed', `Reddit: ${reason}`)
  }
  const read = () => readMonthPage(found.markdown, month)
  const { entries, reports, leftOut, notes, hasTable } = measureWork('scripts', read, (took) =>
    log.warn({ month, took }, describeSlowWork(`kcomebacks: reading ${page}`, took)),
  )
  for (const { line, reason } of reports) {
    log.warn({ month, line }, `kcomebacks: ${page}, line ${line}: ${reason}; the row is left out`)
  }
  for (const { line, reason } of notes) log.warn({ month, line }, `kcomebacks: ${page}, line ${line}: ${reason}`)
  if (leftOut.length > 0) {
    const rows = leftOut.length === 1 ? '1 row' : `${leftOut.length} rows`
    log.info({ month, rows: leftOut.length }, `kcomebacks: ${page}: ${rows} of soundtracks left out`)
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
