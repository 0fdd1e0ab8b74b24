import { isDeepStrictEqual } from 'node:util'
import { type Comeback, comebacksDatabase } from '../../databases/kcomebacks.ts'
import type { RunContext, RunResult } from '../script.ts'
import { isTransient, UpstreamError } from '../upstream-error.ts'
import { weeklyMs } from '../waits.ts'
import { snapshotPath, writeSnapshot } from '../write-snapshot.ts'
import { type ArchivedMonth, archivePage, readArchive } from './archive.ts'
import { compare, nameOf } from './compare.ts'
import { type MonthNow, type Objection, objectionTo, readMonth } from './month.ts'
import { digestOf, type MonthState, readStates, readStored, writeStates } from './stored.ts'
import { openWiki } from './wiki.ts'

/** After this many consecutive transient failures, older months are not read and keep their stored entries. */
const maxConsecutiveFailures = 3

/** The previous month in Korea, `2024-01`: pages of earlier months rarely change. */
function previousMonth(wall: number): string {
  const korea = new Date(wall + 9 * 3_600_000)
  return new Date(Date.UTC(korea.getUTCFullYear(), korea.getUTCMonth() - 1, 1)).toISOString().slice(0, 7)
}

/** A page that has lost entries is believed if it was read the same so many times in a row. */
const believedTimes = 3

type Months = ReadonlyMap<string, readonly Comeback[]>

/** Names of the entries of all months but one. */
const namesElsewhere = (key: string, months: Months): ReadonlySet<string> =>
  new Set([...months].flatMap(([other, entries]) => (other === key ? [] : entries.map(nameOf))))

/** Music comebacks from the wiki of r/kpop. Rows that cannot be parsed are reported and do not fail the run. */
export async function runKcomebacks(context: RunContext): Promise<RunResult> {
  const wiki = openWiki(context)
  const { values, dataDir, signal, log, clock, progress, counts, full, dryRun, force } = context
  const path = snapshotPath(comebacksDatabase, values, dataDir)
  const stored = await readStored(path, log)
  const states = await readStates(dataDir)
  /** The entries to publish, and those of the pages as they are now, accepted or not. */
  const [months, current] = [new Map(stored.months), new Map(stored.months)]
  const failures: string[] = []
  const reports: string[] = []
  let limited: UpstreamError | undefined

  const archive = readArchive((await wiki.read(archivePage)).markdown)
  if (archive.months.length === 0) throw new Error(`/wiki/${archivePage} links to no month`)
  const fail = (failure: string) => {
    failures.push(failure)
    log.warn(`kcomebacks: ${failure}`)
  }
  for (const page of archive.unknown) fail(`${page} is not the page of a month`)

  const fresh = previousMonth(clock.wall())
  const listed = new Set(archive.months.map(({ key }) => key))
  const lost = [...stored.months].filter(([key]) => /^\d{4}-\d\d$/.test(key) && key >= fresh && !listed.has(key))
  for (const [key, { length }] of lost) fail(`${archivePage} does not link to ${key}; its stored entries (${length}) are kept`)
  const entriesOf = (key: string) => stored.months.get(key) ?? []
  const namesBefore = new Set([...stored.months.values()].flat().map(nameOf))
  const kept = (key: string) => `its stored entries (${entriesOf(key).length}) are kept`
  /** The stored state of a past month; undefined if it does not belong to the stored entries. */
  const stateOf = (key: string) => {
    const state = states.get(key)
    return full || key >= fresh || state?.digest !== digestOf(entriesOf(key)) ? undefined : state
  }
  // Past months are read weekly: each costs a request, because Reddit sends no ETag.
  const isDue = ({ key }: ArchivedMonth): boolean => {
    const age = clock.wall() - (stateOf(key)?.read ?? Number.NEGATIVE_INFINITY)
    return age < 0 || age >= weeklyMs
  }
  const due = archive.months.filter(isDue)
  progress.total(due.length)
  let [inARow, unread, freshRead] = [0, 0, false]
  const accept = (key: string, now: MonthNow) => {
    const { added, changed, unchanged } = compare(entriesOf(key), now.entries)
    counts.read += now.entries.length + now.rejected
    counts.rejected += now.rejected
    counts.added += added
    counts.changed += changed
    counts.unchanged += unchanged
    reports.push(...now.reports)
    months.set(key, now.entries)
    states.set(key, now.state)
    freshRead ||= key >= fresh
  }
  /** Accepts a page unless it has lost entries. @returns why it has not accepted it */
  const judge = (key: string, now: MonthNow): Objection | undefined => {
    const objection = objectionTo(now, entriesOf(key), namesElsewhere(key, current), namesBefore)
    if (objection === undefined) accept(key, now)
    return objection
  }
  /** The pages that have lost entries, which may have moved to a month that is read later. */
  const doubtful: { readonly month: ArchivedMonth; readonly now: MonthNow }[] = []
  // Newest first: they matter most if the run is cut short.
  for (const month of due.toReversed()) {
    signal.throwIfAborted()
    const { key } = month
    const state = stateOf(key)
    const down = inARow >= maxConsecutiveFailures && key < fresh ? new Error('not read: Reddit is down') : undefined
    const skip = limited ?? down
    try {
      if (skip !== undefined) throw skip
      const now = await readMonth(wiki, month, state, context)
      inARow = 0
      if (now === 'unchanged') {
        if (state !== undefined) states.set(key, { ...state, read: clock.wall() })
      } else {
        current.set(key, now.entries)
        if (judge(key, now) !== undefined) doubtful.push({ month, now })
      }
    } catch (error) {
      signal.throwIfAborted()
      if (error !== skip) inARow = isTransient(error) ? inARow + 1 : 0
      unread++
      if (error instanceof UpstreamError && error.kind === 'rate_limited') limited = error
      const reason = error instanceof Error ? error.message : String(error)
      fail(`${month.page}: ${reason}; ${kept(key)}`)
    }
    progress.step(key)
  }

  // Once all pages are read, because entries may have moved to a month that was read later.
  const lossy = doubtful.flatMap(({ month, now }) => {
    const objection = judge(month.key, now)
    return objection === undefined ? [] : [{ month, now, objection }]
  })
  const isOnly = lossy.length === 1
  /** Whether the whole may shrink, because a page that has lost entries was accepted. */
  let mayShrink = force === true
  for (const { month, now, objection } of lossy) {
    const { key, page } = month
    const { digest } = now.state
    const before: MonthState = states.get(key) ?? { read: 0, digest: '' }
    const times = before.refused?.digest === digest ? before.refused.times + 1 : 1
    if (!(times >= believedTimes && objection.isGone) && force !== key && !(force === true && isOnly)) {
      unread++
      states.set(key, { ...before, refused: { digest, times } })
      fail(`${page}: ${objection.reason}; ${isOnly ? '--force' : `--force=${key}`} accepts it; ${kept(key)}`)
      continue
    }
    mayShrink = true
    log.warn({ month: key, times }, `kcomebacks: ${page}: ${objection.reason}; it replaces the stored entries`)
    accept(key, now)
  }

  const errors = [...failures, ...reports]
  const nothing = due.length > 0 && unread === due.length
  if (!nothing) {
    const entries = [...months].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([, list]) => list)
    // If the newest months could not be read, the data must not be dated today.
    const stale = !freshRead && (lost.length > 0 || archive.months.some(({ key }) => key >= fresh))
    // Changed data needs another date, which clients send as If-Modified-Since: one second later.
    const last = stored.lastUpdate && stored.lastUpdate + (isDeepStrictEqual(months, stored.months) ? 0 : 1000)
    const wall = stale ? (last ?? Date.parse(fresh)) : clock.wall()
    const written = await writeSnapshot({ ...context, database: comebacksDatabase, path, entries, wall, force: mayShrink })
    if (!written.written) return { outcome: 'failed', errors: [written.reason, ...errors] }
  }
  if (!dryRun) await writeStates(dataDir, states)
  if (limited?.retryAt !== undefined) return { outcome: 'rate_limited', errors, retryAt: limited.retryAt }
  return { outcome: failures.length === 0 ? 'done' : nothing ? 'failed' : 'partly', errors }
}
