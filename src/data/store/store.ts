import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Clock } from '../../util/clock.ts'
import type { Log } from '../../util/log.ts'
import { packageRoot } from '../../util/package.ts'
import type { SnapshotMetrics } from '../../util/part-metrics.ts'
import { type DatabaseDefinition, placeOf } from '../databases/definition.ts'
import type { DatabaseStatus } from '../routes/schemas.ts'
import type { DataSettings } from '../settings.ts'
import { dayAt } from './dates.ts'
import { fileOrigin } from './file-origin.ts'
import type { Origin } from './origin.ts'
import { createSnapshotLoader } from './snapshot-loader.ts'
import { urlOrigin } from './url-origin.ts'

/** Every database, each kept up to date with its snapshot independently of the others. */
export type Store = Awaited<ReturnType<typeof openStore>>

interface StoreOptions {
  readonly databases: readonly DatabaseDefinition[]
  readonly settings: DataSettings
  readonly clock: Clock
  readonly log: Log
}

function originOf(definition: DatabaseDefinition, { settings, clock, log }: Omit<StoreOptions, 'databases'>): Origin {
  const { name } = definition
  const { dataDir } = settings
  const place = placeOf(definition, settings) ?? (dataDir && join(dataDir, `${name}.json`))
  if (place === undefined)
    return fileOrigin(join(packageRoot, 'src', 'data', 'sample', `${name}.json`), () => dayAt(clock.wall(), 2))
  if (!place.includes('://')) return fileOrigin(resolve(place))
  // A configured folder is trusted even if it belongs to another user, as mounted volumes often do.
  const cache =
    dataDir === undefined
      ? { cacheDir: join(tmpdir(), `tickwarden-${process.getuid?.() ?? 'data'}`), distrusted: true }
      : { cacheDir: resolve(dataDir) }
  return urlOrigin({ database: name, url: place, interval: settings.dataRefresh, ...cache, log })
}

/** Opens every database. Resolves when files have been read; URLs are read in the background. */
export async function openStore({ databases, ...options }: StoreOptions) {
  const opening = databases.map(async (definition) => {
    const origin = originOf(definition, options)
    return [definition.name, await createSnapshotLoader({ ...options, definition, origin })] as const
  })
  const byName = new Map(await Promise.all(opening))
  const loaders = [...byName.values()]
  const loaderOf = (database: string) => {
    const loader = byName.get(database)
    if (loader === undefined) throw new Error(`no database ${database}`)
    return loader
  }
  const status = (): readonly DatabaseStatus[] => loaders.map((loader) => loader.status)
  return {
    /**
     * The current state of a database; call it once per request.
     * @throws RequestError SNAPSHOT_UNAVAILABLE while no snapshot of it is loaded
     */
    current: (database: string) => loaderOf(database).current(),
    status,
    /** The status after the first read of each snapshot. */
    async firstStatus() {
      await Promise.all(loaders.map(({ firstRead }) => firstRead))
      return status()
    },
    /** One per database, even without a snapshot. */
    metrics: (): readonly SnapshotMetrics[] =>
      loaders.map(({ db, status: { database, state, sample } }) => ({
        database,
        up: state === 'ready',
        ...(db && {
          entries: db.entries.length,
          rejected: db.snapshot.rejected.length,
          ...(!sample && { lastUpdate: db.snapshot.lastUpdate }),
        }),
      })),
    /**
     * `last_update` of a database in Unix milliseconds; waits for the first read of its snapshot. 0 without a snapshot or for
     * the sample, undefined if a URL could not be read, so that its current state is unknown. Never rejects.
     */
    async lastUpdate(database: string): Promise<number | undefined> {
      const loader = loaderOf(database)
      await loader.firstRead
      const { db, status } = loader
      // The copy of an earlier download may be older than what the URL serves now.
      if (status.kind === 'url' && status.state !== 'ready') return undefined
      return db === undefined || status.sample ? 0 : db.snapshot.lastUpdate * 1000
    },
    /** Reads a snapshot now, because it has just been written. Never rejects. */
    refresh: (database: string) => loaderOf(database).refresh(),
    async close() {
      await Promise.all(loaders.map((loader) => loader.close()))
    },
  }
}
