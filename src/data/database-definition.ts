import type { FastifyInstance } from 'fastify'
import type { Clock } from '../util/clock.ts'
import type { DataSettings } from './settings.ts'
import type { Builder, Database } from './store/database.ts'
import type { SnapshotFormat } from './store/snapshot-format.ts'

/** Options for registering the routes of a database. */
export interface DatabaseRoutes<D extends Database> {
  readonly app: FastifyInstance
  /**
   * Returns the current database; call it once per request.
   * @throws RequestError SNAPSHOT_UNAVAILABLE while no snapshot is loaded
   */
  readonly current: () => D
  /** OpenAPI tag. */
  readonly tag: string
  readonly clock: Clock
}

/**
 * One database of the data service. The store, loader, scripts, metrics and documentation are created from the
 * list of databases. Functions are declared as methods, so that databases with different entry types fit into one list.
 */
export interface DatabaseDefinition<Entry extends object = object, D extends Database = Database> {
  /** Used in paths, metrics, the log and `/v1/status`. */
  readonly name: string
  /** Name of the snapshot in DATA_DIR. */
  readonly file: string
  /** The setting that names another file or a URL; absent: the snapshot is always in DATA_DIR. */
  readonly setting?: Extract<keyof DataSettings, `${string}Snapshot`>
  readonly format: SnapshotFormat<Entry>
  builder(): Builder<Entry, D>
  /** OpenAPI tag of its routes. */
  readonly tag: { readonly name: string; readonly description: string }
  registerRoutes(routes: DatabaseRoutes<D>): void
  /** Path of the sample that is served without DATA_DIR. */
  readonly sample: string
}
