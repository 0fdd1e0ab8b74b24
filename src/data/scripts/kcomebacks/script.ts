import { isDeepStrictEqual } from 'node:util'
import { comebacksDatabase } from '../../databases/kcomebacks.ts'
import type { RunContext, RunResult } from '../script.ts'
import { isTransient, UpstreamError } from '../upstream-error.ts'
import { weeklyMs } from '../waits.ts'
import { snapshotPath, writeSnapshot } from '../write-snapshot.ts'
import { archivePage, readArchive } from './archive.ts'
import { compare } from './compare.ts'
import { judge } from './judge.ts'
import { type MonthNow, readMonth } from './month.ts'
import { digestOf, readStates, readStored, writeStates } from './stored.ts'
import { openWiki } from './wiki.ts'

/** After this many consecutive transient failures, older months are not read and keep their stored entries. */
const maxConsecutiveFailures = 3

/** The previous month in Korea, `2024-01`: pages of earlier months rarely change. */
function previousMonth(wall: number): string {
  const korea = new Date(wall + 9 * 3_600_000)
  return new Date(Date.UTC(korea.getUTCFullYear(), korea.getUTCMonth() - 1, 1)).toISOString().slice(0, 7)
}

/** A page with an objection is believed if it was read the same so many times in a row. */
const believedTimes = 3

/** Music comebacks from the wiki of r/kpop. Rows that cannot be parsed are reported and do not fail the run. */
export async function runKcomebacks(context: RunContext): Promise<RunResult> {
  const wiki = openWiki(context)
  const { values, dataDir, signal, log, clock, progress, counts, full, dryRun, force } = context
  const path = snapshotPath(comebacksDatabase, values, dataDir)
  const stored = await readStored(path, log)
  const states = await readStates(dataDir)
  const months = new Map(stored.months)
  /** The pages that were read and have changed, newest first. */
  const pages = new Map<string, MonthNow>()
  const failures: string[] = []
  const reports: string[] = []
  let limited: UpstreamError | undefined

  const { pages: listed, unknown } = readArchive((await wiki.read(archivePage)).markdown)
  if (listed.size === 0) throw new Error(`/wiki/${archivePage} links to no month`)
  const fail = (failure: string) => {
    failures.push(failure)
    log.warn(`kcomebacks: ${failure}`)
  }
  for (const page of unknown) fail(`${page} is not the page of a month`)

  const fresh = previousMonth(clock.wall())
  const lost = [...stored.months].filter(([key]) => /^\d{4}-\d\d$/.test(key) && key >= fresh && !listed.has(key))
  for (const [key, { length }] of lost) fail(`${archivePage} does not link to ${key}; its stored entries (${length}) are kept`)
  const entriesOf = (key: string) => stored.months.get(key) ?? []
  const kept = (key: string) => `its stored entries (${entriesOf(key).length}) are kept`
  /** The stored state of a past month; undefined if it does not belong to the stored entries. */
  const stateOf = (key: string) => {
    const state = states.get(key)
    return full || key >= fresh || state?.digest !== digestOf(entriesOf(key)) ? undefined : state
  }
  // Past months are read weekly: each costs a request, because Reddit sends no ETag.
  const isDue = (key: string): boolean => {
    const age = clock.wall() - (stateOf(key)?.read ?? Number.NEGATIVE_INFINITY)
    return age < 0 || age >= weeklyMs
  }
  const due = [...listed].filter(([key]) => isDue(key))
  progress.total(due.length)
  let [inARow, unread, freshRead] = [0, 0, false]
  /** Counts the rows of a page. @param sign -1: they count no longer, because it is refused */
  const count = (key: string, { entries, rejected }: MonthNow, sign: 1 | -1) => {
    const compared = { read: entries.length + rejected, rejected, ...compare(entriesOf(key), entries) }
    for (const name of ['read', 'rejected', 'added', 'changed', 'unchanged'] as const) counts[name] += sign * compared[name]
  }
  // Newest first: they matter most if the run is cut short.
  for (const month of due.toReversed()) {
    signal.throwIfAborted()
    const [key, page] = month
    const state = stateOf(key)
    const down = inARow >= maxConsecutiveFailures && key < fresh ? new Error('not read: Reddit is down') : undefined
    const skip = limited ?? down
    try {
      if (skip !== undefined) throw skip
      const now = await readMonth(wiki, month, state, context)
      inARow = 0
      if (now !== 'unchanged') {
        pages.set(key, now)
        count(key, now, 1)
      } else if (state !== undefined) {
        const { refused: _, ...accepted } = state
        states.set(key, { ...accepted, read: clock.wall() })
      }
    } catch (error) {
      signal.throwIfAborted()
      if (error !== skip) inARow = isTransient(error) ? inARow + 1 : 0
      unread++
      if (error instanceof UpstreamError && error.kind === 'rate_limited') limited = error
      const reason = error instanceof Error ? error.message : String(error)
      fail(`${page}: ${reason}; ${kept(key)}`)
    }
    progress.step(key)
  }

  const timesRefused = (key: string, { state: { digest } }: MonthNow): number => {
    const before = states.get(key)?.refused
    return before?.digest === digest ? before.times + 1 : 1
  }
  const { objections, refused } = judge({
    ...{ stored: stored.months, pages, pageOf: (key) => listed.get(key) },
    isAccepted: (key, objection) =>
      force === key || (timesRefused(key, pages.get(key) as MonthNow) >= believedTimes && objection.isPlausible),
  })
  const isOnly = refused.size === 1
  /** Whether the whole may shrink, because a page was accepted in spite of an objection. */
  let mayShrink = force === true
  for (const [key, now] of pages) {
    const [page, times] = [listed.get(key), timesRefused(key, now)]
    const objection = objections.get(key)
    if (objection !== undefined && refused.has(key) && !(force === true && isOnly)) {
      count(key, now, -1)
      unread++
      states.set(key, { read: 0, digest: '', ...states.get(key), refused: { digest: now.state.digest, times } })
      fail(`${page}: ${objection.reason}; ${isOnly ? '--force' : `--force=${key}`} accepts it; ${kept(key)}`)
      continue
    }
    if (objection !== undefined) {
      mayShrink = true
      log.warn({ month: key, times }, `kcomebacks: ${page}: ${objection.reason}; it replaces the stored entries`)
    }
    reports.push(...now.reports)
    months.set(key, now.entries)
    states.set(key, now.state)
    freshRead ||= key >= fresh
  }

  const errors = [...failures, ...reports]
  const nothing = due.length > 0 && unread === due.length
  if (!nothing) {
    const entries = [...months].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([, list]) => list)
    // If the newest months could not be read, the data must not be dated today.
    const stale = !freshRead && (lost.length > 0 || [...listed.keys()].some((key) => key >= fresh))
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
