import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Clock } from '../../util/clock.ts'
import { unavailable } from '../../util/errors.ts'
import type { Log } from '../../util/log.ts'
import type { SnapshotMetrics } from '../../util/part-metrics.ts'
import type { DatabaseDefinition } from '../databases/definition.ts'
import { registerDatabase } from '../routes/register.ts'
import type { DatabaseStatus } from '../routes/schemas.ts'
import type { DataSettings } from '../settings.ts'
import type { Database } from './database.ts'
import { fileOrigin } from './file-origin.ts'
import type { Origin } from './origin.ts'
import { createSnapshotLoader, type SnapshotLoader } from './snapshot-loader.ts'
import { urlOrigin } from './url-origin.ts'

/** Every database, each kept up to date with its snapshot independently of the others. */
export type Store = Awaited<ReturnType<typeof openStore>>

interface StoreOptions {
  readonly databases: readonly DatabaseDefinition[]
  readonly settings: DataSettings
  readonly clock: Clock
  readonly log: Log
}

function originOf({ name, file, sample, setting, place: given }: DatabaseDefinition, settings: DataSettings, log: Log): Origin {
  const place = given ?? (setting && settings[setting])
  const { dataDir } = settings
  if (place === undefined) {
    return dataDir === undefined && sample !== undefined ? fileOrigin(sample, 'sample') : fileOrigin(resolve(dataDir ?? '', file))
  }
  if (!place.includes('://')) return fileOrigin(resolve(place))
  // A configured folder is trusted even if it belongs to another user, as mounted volumes often do.
  const cache =
    dataDir === undefined
      ? { cacheDir: join(tmpdir(), `tickwarden-${process.getuid?.() ?? 'data'}`), distrusted: true }
      : { cacheDir: resolve(dataDir) }
  return urlOrigin({ database: name, url: place, interval: settings.dataRefresh, ...cache, log })
}

/** Opens every database. Resolves when files have been read; URLs are read in the background. */
export async function openStore({ databases, settings, clock, log }: StoreOptions) {
  const opened = await Promise.all(
    databases.map(async (definition) => {
      const origin = originOf(definition, settings, log)
      return { definition, loader: await createSnapshotLoader({ definition, origin, clock, log }) }
    }),
  )
  const loaderOf = (database: string): SnapshotLoader => {
    const found = opened.find(({ definition }) => definition.name === database)
    if (found === undefined) throw new Error(`no database ${database}`)
    return found.loader
  }
  return {
    /** @throws RequestError SNAPSHOT_UNAVAILABLE while no snapshot of it is loaded */
    current: (database: string) => currentOf(loaderOf(database)),
    /** Registers the routes of every database. */
    registerRoutes(app: FastifyInstance) {
      for (const { definition, loader } of opened) registerDatabase({ app, current: () => currentOf(loader), definition, clock })
    },
    status: () => opened.map(({ loader }) => loader.status),
    /** The status after the first read of each snapshot. */
    async firstStatus(): Promise<readonly DatabaseStatus[]> {
      await Promise.all(opened.map(({ loader }) => loader.firstRead))
      return opened.map(({ loader }) => loader.status)
    },
    /** One per database, even without a snapshot. */
    metrics: (): readonly SnapshotMetrics[] =>
      opened.map(({ definition: { name }, loader: { current, status } }) => ({
        database: name,
        up: status.state === 'ready',
        ...(current && {
          entries: current.entries.length,
          rejected: current.snapshot.rejected.length,
          ...(!current.snapshot.sample && { lastUpdate: current.snapshot.lastUpdate.time }),
        }),
      })),
    /**
     * `last_update` of a database in Unix milliseconds; waits for the first read of its snapshot. 0 without a snapshot or for
     * the sample, undefined if a URL could not be read, so that its current state is unknown. Never rejects.
     */
    async lastUpdate(database: string): Promise<number | undefined> {
      const loader = loaderOf(database)
      await loader.firstRead
      const { current, status } = loader
      // The copy of an earlier download may be older than what the URL serves now.
      if (status.kind === 'url' && status.state !== 'ready') return undefined
      return current === undefined || current.snapshot.sample ? 0 : current.snapshot.lastUpdate.time * 1000
    },
    /** Reads a snapshot now, because it has just been written. Never rejects. */
    refresh: (database: string) => loaderOf(database).refresh(),
    async close() {
      await Promise.all(opened.map(({ loader }) => loader.close()))
    },
  }
}

/** @throws RequestError SNAPSHOT_UNAVAILABLE while no snapshot is loaded */
function currentOf({ current, status }: SnapshotLoader): Database {
  if (current !== undefined) return current
  const { database, error = 'it is being loaded' } = status
  throw unavailable('SNAPSHOT_UNAVAILABLE', `No snapshot of ${database} is available: ${error}.`, 5)
}
