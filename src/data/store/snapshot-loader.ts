import type { Clock } from '../../util/clock.ts'
import type { Log } from '../../util/log.ts'
import type { DatabaseDefinition } from '../database-definition.ts'
import type { Database } from './database.ts'
import { dayAt } from './dates.ts'
import type { Origin, SnapshotText } from './origin.ts'
import { readSnapshot } from './read-snapshot.ts'

export interface SnapshotStatus {
  readonly database: string
  readonly kind: Origin['kind']
  readonly source: string
  /** `failed`: the last read failed; the previous snapshot is still served. */
  readonly state: 'loading' | 'ready' | 'failed'
  readonly entries?: number
  readonly rejected?: number
  readonly last_update?: string
  readonly loaded_at?: string
  readonly sample?: boolean
  readonly error?: string
}

/** Keeps one database up to date with its snapshot. */
export interface SnapshotLoader<D extends Database> {
  readonly current: D | undefined
  readonly rejected: number
  readonly status: SnapshotStatus
  /** Resolves after the first read, successful or not. Never rejects. */
  readonly firstRead: Promise<void>
  /** Reads the snapshot now; resolves when it is served or has failed. Never rejects. */
  refresh(): Promise<void>
  close(): Promise<void>
}

export interface SnapshotLoaderOptions<Entry extends object, D extends Database> {
  readonly definition: Pick<DatabaseDefinition<Entry, D>, 'name' | 'format' | 'builder'>
  readonly origin: Origin
  readonly clock: Clock
  readonly log: Log
}

/** Milliseconds without events before a changed file is read: a write in place causes many events. */
const debounceMs = 20
/** Maximum time from a failure to the next attempt, milliseconds. */
const retryMs = 30_000
const maxLoggedReasons = 20

/** Loads a database and keeps it up to date. Resolves when a file has been read; a URL is read in the background. */
export async function createSnapshotLoader<Entry extends object, D extends Database>(
  options: SnapshotLoaderOptions<Entry, D>,
): Promise<SnapshotLoader<D>> {
  const { origin, definition, clock, log } = options
  const { name: database } = definition
  const format: typeof definition.format = {
    ...definition.format,
    read: (element, today) => definition.format.read(element, today, origin.kind === 'sample'),
  }
  let current: D | undefined
  let rejected = 0
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
    const { add, finish } = definition.builder()
    const snapshot = await readSnapshot(text, format, add, day)
    const next = finish(snapshot)
    if (closed) return
    broken = false
    // New requests use the new database; requests in progress finish with the old one.
    current = next
    rejected = snapshot.rejected.length
    loadedAt = clock.wall()
    loadedDay = day
    state = 'ready'
    error = undefined
    // The packaged sample does not matter to users who only watch servers.
    const level = origin.kind === 'sample' ? 'debug' : 'info'
    log[level]({ database, entries: next.accepted, rejected, lastUpdate: next.lastUpdate.text }, 'snapshot loaded')
    if (rejected > 0) {
      log.warn(
        { database, rejected, first: snapshot.rejected.slice(0, maxLoggedReasons) },
        'entries of the snapshot were rejected',
      )
    }
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
    get status() {
      return {
        database,
        kind: origin.kind,
        source: origin.name,
        state,
        ...(current && {
          entries: current.accepted,
          rejected,
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
