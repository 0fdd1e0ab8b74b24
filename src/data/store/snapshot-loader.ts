import type { Clock } from '../../util/clock.ts'
import { unavailable } from '../../util/errors.ts'
import type { Log } from '../../util/log.ts'
import { oneAtATime } from '../../util/one-at-a-time.ts'
import type { DatabaseDefinition } from '../databases/definition.ts'
import type { DatabaseStatus, EntryNote } from '../routes/schemas.ts'
import { Database } from './database.ts'
import { formatLastUpdate } from './dates.ts'
import type { Origin } from './origin.ts'
import { loadSnapshot } from './read-snapshot.ts'

interface SnapshotLoaderOptions {
  readonly definition: DatabaseDefinition
  readonly origin: Origin
  readonly clock: Clock
  readonly log: Log
}

interface Loaded {
  readonly db: Database
  /** When loading began, Unix milliseconds. */
  readonly at: number
}

/** Maximum time from a failure to the next attempt, milliseconds. */
const retryMs = 30_000
const maxShownNotes = 20

function describe({ db: { snapshot }, at }: Loaded) {
  const { entries, rejected, warnings, lastUpdate } = snapshot
  return {
    entries: entries.length,
    rejected: rejected.length,
    ...(rejected.length > 0 && { rejected_entries: rejected.slice(0, maxShownNotes) }),
    ...(warnings.length > 0 && { warnings: warnings.slice(0, maxShownNotes) }),
    last_update: formatLastUpdate(lastUpdate),
    loaded_at: new Date(at).toISOString(),
  }
}

/** Loads a database and keeps it up to date. Resolves when a file has been read; a URL is read in the background. */
export async function createSnapshotLoader({ origin, definition, clock, log }: SnapshotLoaderOptions) {
  const { name: database, format, isPlain } = definition
  let loaded: Loaded | undefined
  /** Why the last attempt to load it failed. */
  let error: string | undefined
  /** Of the text that was read last. */
  let version: string | undefined
  /** Why that is not a valid snapshot: the state stays `failed` until the text changes. */
  let invalid: string | undefined
  let closed = false

  async function load(text: string): Promise<void> {
    const at = clock.wall()
    const snapshot = await loadSnapshot(text, format, isPlain && at).catch((cause: Error) => {
      invalid = cause.message
      throw cause
    })
    const { entries, rejected, warnings, lastUpdate } = snapshot
    const now = Math.floor(at / 1000)
    // Clients that have the previous content must not get a 304, even if `last_update` was not changed or is earlier. A date in the future
    // is not allowed (RFC 9110, section 8.8.2.1).
    const modified = loaded === undefined ? Math.min(lastUpdate, now) : Math.max(now, loaded.db.modified + 1)
    const db = new Database(snapshot, definition, modified)
    if (closed) return
    // New requests use the new database; requests in progress finish with the old one.
    loaded = { db, at }
    error = invalid = undefined
    // The packaged sample does not matter to users who only watch servers.
    const level = origin.kind === 'sample' ? 'debug' : 'info'
    log[level](
      { database, entries: entries.length, rejected: rejected.length, lastUpdate: formatLastUpdate(lastUpdate) },
      'snapshot loaded',
    )
    const report = (notes: readonly EntryNote[], what: string, message: string) => {
      if (notes.length > 0) log.warn({ database, [what]: notes.length, first: notes.slice(0, maxShownNotes) }, message)
    }
    report(rejected, 'rejected', 'entries of the snapshot were rejected')
    report(warnings, 'warnings', 'entries of the snapshot have unknown properties or unusual values')
  }

  function failed(cause: unknown): void {
    const reason = (cause as Error).message
    if (closed || reason === error) return
    error = reason
    const consequence = loaded === undefined ? 'no snapshot is served' : 'the previous one is still served'
    log.warn({ database, source: origin.place, reason }, `snapshot not loaded; ${consequence}`)
  }

  const refresh = oneAtATime(async () => {
    if (closed) return
    try {
      const found = await origin.read(version)
      if (found === undefined) error = invalid
      else {
        // Also that of a text that is not valid: fetching the same text again is useless.
        version = found.version
        await load(found.text)
        if (!closed) await origin.keep?.(found)
      }
    } catch (cause) {
      failed(cause)
    }
  })

  let cancelPoll = () => {}
  const poll = () => {
    if (closed) return
    const pause = error === undefined ? origin.interval : Math.min(origin.interval, retryMs)
    cancelPoll = clock.after(pause, () => void refresh().then(poll))
  }

  const copy = await origin.restore?.()
  if (copy !== undefined) {
    await load(copy.text).then(() => {
      version = copy.version
    }, failed)
  }
  const firstRead = refresh().then(poll)
  if (origin.kind !== 'url') await firstRead

  return {
    /** Resolves after the first read, successful or not. Never rejects. */
    firstRead,
    /** What is served; undefined while nothing is loaded. */
    get db(): Database | undefined {
      return loaded?.db
    },
    /** @throws RequestError SNAPSHOT_UNAVAILABLE while nothing is loaded */
    current(): Database {
      if (loaded !== undefined) return loaded.db
      const reason = error ?? 'it is being loaded'
      throw unavailable('SNAPSHOT_UNAVAILABLE', `No snapshot of ${database} is available: ${reason}.`, 5)
    },
    get status(): DatabaseStatus {
      const state = error !== undefined ? 'failed' : loaded === undefined ? 'loading' : 'ready'
      const { kind, name: source } = origin
      return {
        ...{ database, kind, source, state },
        ...(loaded && { ...describe(loaded), sample: kind === 'sample' }),
        ...(error !== undefined && { error }),
      }
    },
    /** Reads the snapshot now; resolves when it is served or has failed. Never rejects. */
    refresh,
    async close() {
      closed = true
      cancelPoll()
      await origin.close?.()
      await refresh()
    },
  }
}
