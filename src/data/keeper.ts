import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'
import type { Builder, Database } from './database.ts'
import { dayAt } from './dates.ts'
import { readSnapshot, type SnapshotFormat } from './load.ts'
import type { Origin, SnapshotText } from './origin.ts'

export interface SnapshotStatus {
  readonly database: string
  readonly kind: Origin['kind']
  readonly source: string
  /** `failed`: the last look found no snapshot; what was loaded before stays in service. */
  readonly state: 'loading' | 'ready' | 'failed'
  readonly entries?: number
  readonly rejected?: number
  readonly last_update?: string
  readonly loaded_at?: string
  readonly sample?: boolean
  readonly error?: string
}

/** Keeps one database up to date with its snapshot. */
export interface Keeper<D extends Database> {
  readonly current: D | undefined
  readonly rejected: number
  readonly status: SnapshotStatus
  /** Done when the first look at the origin is over, whatever it found. Never rejects. */
  readonly looked: Promise<void>
  /** Looks at the snapshot now; done when what is there is in service, or has failed. Never rejects. */
  refresh(): Promise<void>
  close(): Promise<void>
}

export interface KeeperOptions<Entry, D extends Database> {
  readonly origin: Origin
  readonly format: SnapshotFormat<Entry>
  readonly builder: () => Builder<Entry, D>
  readonly clock: Clock
  readonly log: Log
}

/** A file that is written in place makes many events. */
const settleTime = 20
/** After a failure the next look is not put off longer than this. */
const retryInterval = 30_000
const shownReasons = 20

/** Begins to keep a database. The first look has been made when it returns; at a URL it goes on in the background. */
export async function keep<Entry, D extends Database>(options: KeeperOptions<Entry, D>): Promise<Keeper<D>> {
  const { origin, format, builder, clock, log } = options
  const database = format.database
  let current: D | undefined
  let rejected = 0
  let loadedAt = 0
  let loadedDay = 0
  let state: SnapshotStatus['state'] = 'loading'
  let error: string | undefined
  let closed = false
  /** The text read last was no snapshot: as long as it stays as it is, so does the failure. */
  let broken = false

  async function load({ text, accept }: SnapshotText): Promise<void> {
    const day = dayAt(clock.wall(), 2)
    broken = true
    const { add, finish } = builder()
    const snapshot = await readSnapshot(text, format, add, day)
    const next = finish(snapshot)
    if (closed) return
    broken = false
    // From here on every request is answered from the new one; those under way finish with the old one.
    current = next
    rejected = snapshot.rejected.length
    loadedAt = clock.wall()
    loadedDay = day
    state = 'ready'
    error = undefined
    log.info({ database, entries: next.accepted, rejected, lastUpdate: next.lastUpdate.text }, 'snapshot loaded')
    if (rejected > 0) {
      log.warn({ database, rejected, first: snapshot.rejected.slice(0, shownReasons) }, 'entries of the snapshot do not fit')
    }
    await accept?.()
  }

  function failed(cause: unknown): void {
    if (closed) return
    const reason = (cause as Error).message
    state = 'failed'
    if (reason === error) return
    error = reason
    const kept = current === undefined ? 'there is no snapshot to serve' : 'the one before stays in service'
    log.warn({ database, source: origin.place, reason }, `snapshot not loaded; ${kept}`)
  }

  async function look(): Promise<void> {
    try {
      // The sample's dates count from today.
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
  /** One look at a time; calls while one waits for its turn share it. */
  function refresh(): Promise<void> {
    waiting ??= last.then(() => {
      waiting = undefined
      last = closed ? Promise.resolve() : look()
      return last
    })
    return waiting
  }

  let cancelPoll = () => {}
  const poll = () => {
    if (closed) return
    const pause = state === 'failed' ? Math.min(origin.interval, retryInterval) : origin.interval
    cancelPoll = clock.after(pause, () => void refresh().then(poll))
  }
  let cancelSettle = () => {}
  const stopWatching = origin.watch?.(() => {
    cancelSettle()
    cancelSettle = clock.after(settleTime, () => void refresh())
  })

  const kept = await origin.restore?.()
  if (kept !== undefined) await load(kept).catch(failed)
  const looked = refresh().then(poll)
  if (origin.kind !== 'url') await looked

  return {
    looked,
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
      cancelSettle()
      stopWatching?.()
      await origin.close()
      await last
    },
  }
}
