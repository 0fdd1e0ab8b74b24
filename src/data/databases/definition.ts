import type { PreparedReply } from '../../http/replies/reply.ts'
import type { HeaderDocs } from '../../http/replies/responses.ts'
import type { TSchema } from '../../util/schema.ts'
import type { FilterRoute, RouteDocs } from '../routes/filter.ts'
import type { DataSettings } from '../settings.ts'
import type { Content, Database } from '../store/database.ts'
import type { SnapshotFormat } from '../store/fields.ts'

/** A route without parameters. */
export interface ReplyRoute extends RouteDocs {
  readonly schema: TSchema
  readonly headers?: HeaderDocs
  /** Whether the reply depends on the day too, not only on the snapshot. */
  readonly isDaily?: true
  /** @param today the day at UTC+02:00, since 1970-01-01 */
  make(db: Database, today: number): PreparedReply
}

/**
 * One database of the data service. The store, routes, scripts, metrics and documentation are created from the list of
 * databases.
 */
export interface DatabaseDefinition<Entry extends object = object> extends Content<Entry> {
  /** Used in paths, metrics, the log, `/v1/status` and the names of files: `kcomebacks.json` in DATA_DIR, and its sample. */
  readonly name: string
  /** What it has, in the plural: `comebacks`. */
  readonly noun: string
  /** The file or URL of the snapshot; absent: `setting` names it. */
  readonly place?: string
  /** The setting that names another file or a URL; absent: the snapshot is always in DATA_DIR. */
  readonly setting?: Extract<keyof DataSettings, `${string}Snapshot`>
  /** Whether its snapshot may also be a plain list of entries, or have them in `entries`. */
  readonly isPlain?: true
  readonly format: SnapshotFormat<Entry>
  readonly tag: { readonly name: string; readonly description: string }
  readonly filters: readonly FilterRoute[]
  readonly replies: readonly ReplyRoute[]
}

/** The file or URL that is set for the snapshot of a database; undefined: it is in DATA_DIR. */
export const placeOf = ({ place, setting }: Pick<DatabaseDefinition, 'place' | 'setting'>, settings: DataSettings) =>
  place ?? (setting && settings[setting])
