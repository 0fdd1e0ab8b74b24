import type { Comeback } from '../../comeback.ts'
import { keptErrors, noCounts, type RunContext, type RunResult, type Script } from '../script.ts'
import { UpstreamError } from '../upstream.ts'
import { snapshotPath, writeSnapshot } from '../write-snapshot.ts'
import { type ArchivedMonth, archivePage, readArchive } from './archive.ts'
import { compare } from './compare.ts'
import { readMonthPage } from './page.ts'
import { digestOf, type MonthState, readStates, readStored, writeStates } from './stored.ts'
import { openWiki, type Wiki } from './wiki.ts'

/** After this many months in a row that could not be read the upstream is down; the rest keeps what it has. */
const mostFailuresInARow = 3

/** The month before this one in Korea: pages up to here are past changing, as a rule. */
function previousMonth(wall: number): string {
  const korea = new Date(wall + 9 * 3_600_000)
  return new Date(Date.UTC(korea.getUTCFullYear(), korea.getUTCMonth() - 1, 1)).toISOString().slice(0, 7)
}

interface MonthNow {
  readonly entries: readonly Comeback[]
  readonly state: MonthState
}

/** One month page as it is now; `unchanged` where its stored entries are still right. */
async function readMonth(
  wiki: Wiki,
  { key, page, year, month }: ArchivedMonth,
  stored: readonly Comeback[],
  state: MonthState | undefined,
  { log, force }: RunContext,
  report: (line: number, reason: string) => void,
): Promise<MonthNow | 'unchanged'> {
  const found = await wiki.read(page, state?.etag)
  if (found === 'unchanged') return 'unchanged'
  if (state?.revision !== undefined && state.revision === found.revision) return 'unchanged'
  const { entries, reports, leftOut } = readMonthPage(found.markdown, { year, month })
  if (entries.length === 0 && stored.length > 0 && !force) {
    throw new Error(`the page has no entries any more, where there were ${stored.length}`)
  }
  for (const { line, reason } of reports) {
    log.warn({ month: key, line }, `kcomebacks: ${page}, line ${line}: ${reason}; the row is left out`)
    report(line, reason)
  }
  if (leftOut.length > 0) log.debug({ month: key, rows: leftOut.length }, 'kcomebacks: rows of soundtracks are left out')
  return {
    entries,
    state: {
      digest: digestOf(entries),
      ...(found.revision !== undefined && { revision: found.revision }),
      ...(found.etag !== undefined && { etag: found.etag }),
    },
  }
}

async function update(context: RunContext, wiki: Wiki): Promise<RunResult> {
  const { values, dataDir, signal, log, clock, progress, full, dryRun, force } = context
  const path = snapshotPath('kcomebacks', values, dataDir)
  const { months: stored } = await readStored(path, log)
  const states = new Map(await readStates(dataDir))
  const months = new Map(stored)
  const failures: string[] = []
  const reports: string[] = []
  const counts = { ...noCounts }
  let limited: UpstreamError | undefined

  const index = await wiki.read(archivePage)
  const archive = readArchive(index === 'unchanged' ? '' : index.markdown)
  if (archive.months.length === 0) throw new Error(`/wiki/${archivePage} links to no month`)
  for (const page of archive.unknown) failures.push(`${page} is the page of no month`)

  const fresh = previousMonth(clock.wall())
  progress.total(archive.months.length)
  let [inARow, unread, changed] = [0, 0, false]
  for (const month of archive.months) {
    signal.throwIfAborted()
    const { key } = month
    const before = stored.get(key) ?? []
    const state = states.get(key)
    // What is remembered counts only for the entries that it was remembered with.
    const known = full || key >= fresh || state?.digest !== digestOf(before) ? undefined : state
    try {
      if (limited !== undefined) throw limited
      if (inARow >= mostFailuresInARow) throw new Error('not asked: the months before it could not be read either')
      const reported: string[] = []
      const now = await readMonth(wiki, month, before, known, context, (line, reason) => {
        reported.push(`${month.page}, line ${line}: ${reason}`)
      })
      inARow = 0
      if (now !== 'unchanged') {
        const { added, changed: other, unchanged } = compare(before, now.entries)
        counts.read += now.entries.length + reported.length
        counts.rejected += reported.length
        counts.added += added
        counts.changed += other
        counts.unchanged += unchanged
        reports.push(...reported)
        months.set(key, now.entries)
        states.set(key, now.state)
        changed = true
      }
    } catch (error) {
      signal.throwIfAborted()
      inARow++
      unread++
      if (error instanceof UpstreamError && error.kind === 'rate_limited') limited = error
      const reason = error instanceof Error ? error.message : String(error)
      failures.push(`${month.page}: ${reason}; its stored entries (${before.length}) are kept`)
      log.warn({ month: key }, `kcomebacks: ${failures.at(-1)}`)
    }
    progress.step(key)
  }

  const errors = [...failures, ...reports].slice(0, keptErrors)
  const nothing = unread === archive.months.length
  if (!nothing && !dryRun) {
    const entries = [...months].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([, list]) => list)
    const written = await writeSnapshot({ database: 'kcomebacks', path, entries, wall: clock.wall(), force, log })
    if (!written.written) return { outcome: 'failed', counts, errors: [written.reason, ...errors].slice(0, keptErrors) }
    if (changed) await writeStates(dataDir, states)
  }
  if (limited?.retryAt !== undefined) return { outcome: 'rate_limited', counts, errors, retryAt: limited.retryAt }
  return { outcome: failures.length === 0 ? 'done' : nothing ? 'failed' : 'partly', counts, errors }
}

/** Music comebacks from the wiki of r/kpop. Rows that cannot be read are reported and do not make a run fail. */
export const kcomebacksScript: Script = {
  name: 'kcomebacks',
  parts: 'months',
  // Without credentials the public pages are tried; one without the other is an oversight.
  missingSettings({ redditClientId, redditClientSecret }) {
    if (redditClientId !== undefined && redditClientSecret === undefined) return ['redditClientSecret']
    if (redditClientId === undefined && redditClientSecret !== undefined) return ['redditClientId']
    return []
  },
  async run(context) {
    const wiki = openWiki(context)
    try {
      return await update(context, wiki)
    } finally {
      wiki.close()
    }
  },
}
