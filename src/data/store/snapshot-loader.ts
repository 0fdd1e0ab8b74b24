import type { Clock } from '../../util/clock.ts'
import type { Log } from '../../util/log.ts'
import type { DatabaseDefinition } from '../databases/definition.ts'
import { Database } from './database.ts'
import { dayAt } from './dates.ts'
import type { Origin, SnapshotText } from './origin.ts'
import { type EntryNote, loadSnapshot } from './read-snapshot.ts'

export interface SnapshotStatus {
  readonly database: string
  readonly kind: Origin['kind']
  readonly source: string
  /** `failed`: the last read failed; the previous snapshot is still served. */
  readonly state: 'loading' | 'ready' | 'failed'
  readonly entries?: number
  readonly rejected?: number
  /** The first rejected entries. */
  readonly rejected_entries?: readonly EntryNote[]
  readonly warnings?: readonly EntryNote[]
  readonly last_update?: string
  readonly loaded_at?: string
  readonly sample?: boolean
  readonly error?: string
}

/** Keeps one database up to date with its snapshot. */
export interface SnapshotLoader {
  readonly current: Database | undefined
  /** Every rejected entry of the current snapshot. */
  readonly rejected: readonly EntryNote[]
  /** What is unusual about its other entries. */
  readonly warnings: readonly EntryNote[]
  readonly status: SnapshotStatus
  /** Resolves after the first read, successful or not. Never rejects. */
  readonly firstRead: Promise<void>
  /** Reads the snapshot now; resolves when it is served or has failed. Never rejects. */
  refresh(): Promise<void>
  close(): Promise<void>
}

export interface SnapshotLoaderOptions {
  readonly definition: DatabaseDefinition
  readonly origin: Origin
  readonly clock: Clock
  readonly log: Log
}

/** Milliseconds without events before a changed file is read: a write in place causes many events. */
const debounceMs = 20
/** Maximum time from a failure to the next attempt, milliseconds. */
const retryMs = 30_000
const maxShownNotes = 20

/** Loads a database and keeps it up to date. Resolves when a file has been read; a URL is read in the background. */
export async function createSnapshotLoader({ origin, definition, clock, log }: SnapshotLoaderOptions): Promise<SnapshotLoader> {
  const { name: database, format, isPlain } = definition
  let current: Database | undefined
  let rejected: readonly EntryNote[] = []
  let warnings: readonly EntryNote[] = []
  let loadedAt = 0
  let loadedDay = 0
  let state: SnapshotStatus['state'] = 'loading'
  let error: string | undefined
  let closed = false
  /** The last text was not a valid snapshot: the state stays `failed` until the text changes. */
  let broken = false

  async function load({ text, accept }: SnapshotText): Promise<void> {
    const day = dayAt(clock.wall(), 2)
    broken = true
    const now = Math.floor(clock.wall() / 1000)
    const snapshot = await loadSnapshot(text, format, { today: day, ...(isPlain && { plain: now }) })
    // Clients that have the previous content must not get a 304, even if `last_update` was not changed or is earlier.
    const modified = current === undefined ? 0 : Math.max(now, current.modified + 1)
    const next = new Database(snapshot, definition, modified)
    if (closed) return
    broken = false
    // New requests use the new database; requests in progress finish with the old one.
    current = next
    rejected = snapshot.rejected
    warnings = snapshot.warnings
    loadedAt = clock.wall()
    loadedDay = day
    state = 'ready'
    error = undefined
    // The packaged sample does not matter to users who only watch servers.
    const level = origin.kind === 'sample' ? 'debug' : 'info'
    log[level](
      { database, entries: next.accepted, rejected: rejected.length, lastUpdate: next.lastUpdate.text },
      'snapshot loaded',
    )
    const report = (notes: readonly EntryNote[], what: string, message: string) => {
      if (notes.length > 0) log.warn({ database, [what]: notes.length, first: notes.slice(0, maxShownNotes) }, message)
    }
    report(rejected, 'rejected', 'entries of the snapshot were rejected')
    report(warnings, 'warnings', 'entries of the snapshot have unknown properties or unusual values')
    await accept?.()
  }

  function failed(cause: unknown): void {
    if (closed) return
    const reason = (cause as Error).message
    state = 'failed'
    if (reason === error) return
    error = reason
    const consequence = current === undefined ? 'no snapshot is served' : 'the previous one is still served'
    log.warn({ database, source: origin.place, reason }, `snapshot not loaded; ${consequence}`)
  }

  async function read(): Promise<void> {
    try {
      // The dates of the sample are relative to today.
      const again = current?.sample === true && dayAt(clock.wall(), 2) !== loadedDay
      const found = await origin.read(again)
      if (found !== undefined) await load(found)
      else if (current !== undefined && !broken) {
        state = 'ready'
        error = undefined
      }
    } catch (cause) {
      failed(cause)
    }
  }

  let last: Promise<void> = Promise.resolve()
  let waiting: Promise<void> | undefined
  /** One read at a time; calls during a read share the next one. */
  function refresh(): Promise<void> {
    waiting ??= last.then(() => {
      waiting = undefined
      last = closed ? Promise.resolve() : read()
      return last
    })
    return waiting
  }

  let cancelPoll = () => {}
  const poll = () => {
    if (closed) return
    const pause = state === 'failed' ? Math.min(origin.interval, retryMs) : origin.interval
    cancelPoll = clock.after(pause, () => void refresh().then(poll))
  }
  let cancelDebounce = () => {}
  const stopWatching = origin.watch?.(() => {
    cancelDebounce()
    cancelDebounce = clock.after(debounceMs, () => void refresh())
  })

  const copy = await origin.restore?.()
  if (copy !== undefined) await load(copy).catch(failed)
  const firstRead = refresh().then(poll)
  if (origin.kind !== 'url') await firstRead

  return {
    firstRead,
    get current() {
      return current
    },
    get rejected() {
      return rejected
    },
    get warnings() {
      return warnings
    },
    get status() {
      return {
        database,
        kind: origin.kind,
        source: origin.name,
        state,
        ...(current && {
          entries: current.accepted,
          rejected: rejected.length,
          ...(rejected.length > 0 && { rejected_entries: rejected.slice(0, maxShownNotes) }),
          ...(warnings.length > 0 && { warnings: warnings.slice(0, maxShownNotes) }),
          last_update: current.lastUpdate.text,
          loaded_at: new Date(loadedAt).toISOString(),
          sample: current.sample,
        }),
        ...(error !== undefined && { error }),
      }
    },
    refresh,
    async close() {
      closed = true
      cancelPoll()
      cancelDebounce()
      stopWatching?.()
      await origin.close()
      await last
    },
  }
}
