import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Clock } from '../clock.ts'
import type { Config } from '../config.ts'
import { unavailable } from '../errors.ts'
import type { SnapshotFigures } from '../figures.ts'
import type { Log } from '../log.ts'
import { packageRoot } from '../package.ts'
import { comebackFormat } from './comeback.ts'
import { type ComebacksDatabase, comebacksBuilder } from './comebacks-database.ts'
import { fileOrigin } from './file-origin.ts'
import { type Keeper, keep, type SnapshotStatus } from './keeper.ts'
import type { DatabaseName } from './load.ts'
import type { Origin } from './origin.ts'
import { projectFormat } from './project.ts'
import { type ProjectsDatabase, projectsBuilder } from './projects-database.ts'
import { urlOrigin } from './url-origin.ts'

/** Both databases, each kept up to date with its snapshot on its own. */
export interface Store {
  /** @throws RequestError SNAPSHOT_UNAVAILABLE where there is no snapshot */
  projects(): ProjectsDatabase
  /** @throws RequestError SNAPSHOT_UNAVAILABLE where there is no snapshot */
  kcomebacks(): ComebacksDatabase
  status(): readonly SnapshotStatus[]
  /** One for each database, also without a snapshot. */
  snapshots(): readonly SnapshotFigures[]
  /** Done when the first look at where the snapshot is has ended, well or badly. Never rejects. */
  looked(database: DatabaseName): Promise<void>
  /** Looks at a snapshot now, for who has just written it. Never rejects. */
  refresh(database: DatabaseName): Promise<void>
  close(): Promise<void>
}

export interface StoreOptions {
  readonly config: Pick<Config, 'values'>
  readonly clock: Clock
  readonly log: Log
}

const samples = join(packageRoot, 'src', 'data', 'sample')

function originOf(database: DatabaseName, { config: { values }, log }: StoreOptions): Origin {
  const place = database === 'projects' ? values.projectsSnapshot : values.kcomebacksSnapshot
  const file = `${database}.json`
  if (place === undefined) {
    return values.dataDir === undefined ? fileOrigin(join(samples, file), 'sample') : fileOrigin(resolve(values.dataDir, file))
  }
  if (!place.includes('://')) return fileOrigin(resolve(place))
  // A folder that was chosen may well belong to another user, as a mounted volume does.
  const cache =
    values.dataDir === undefined
      ? { cacheDir: join(tmpdir(), `tickwarden-${process.getuid?.() ?? 'data'}`), distrusted: true }
      : { cacheDir: resolve(values.dataDir) }
  return urlOrigin({ database, url: place, interval: values.dataRefresh ?? 300_000, ...cache, log })
}

/** Opens both databases; files have been read when it returns. */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { clock, log } = options
  const [projects, kcomebacks] = await Promise.all([
    keep({ origin: originOf('projects', options), format: projectFormat, builder: projectsBuilder, clock, log }),
    keep({ origin: originOf('kcomebacks', options), format: comebackFormat, builder: comebacksBuilder, clock, log }),
  ])
  const keepers = { projects, kcomebacks }
  const both = Object.entries(keepers) as readonly [DatabaseName, (typeof keepers)[DatabaseName]][]
  return {
    projects: () => existing(projects),
    kcomebacks: () => existing(kcomebacks),
    status: () => both.map(([, keeper]) => keeper.status),
    snapshots: () =>
      both.map(([database, { current, rejected, status }]) => ({
        database,
        up: status.state === 'ready',
        ...(current && {
          entries: current.entries.count,
          rejected,
          ...(!current.sample && { lastUpdate: current.lastUpdate.time }),
        }),
      })),
    looked: (database) => keepers[database].looked,
    refresh: (database) => keepers[database].refresh(),
    async close() {
      await Promise.all([projects.close(), kcomebacks.close()])
    },
  }
}

function existing<D extends ProjectsDatabase | ComebacksDatabase>(keeper: Keeper<D>): D {
  const { current } = keeper
  if (current !== undefined) return current
  const { database, error = 'it is being loaded' } = keeper.status
  throw unavailable('SNAPSHOT_UNAVAILABLE', `There is no snapshot of ${database} to answer from: ${error}.`, 5)
}
