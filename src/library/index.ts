/** The library entry of the package: `import { readStatus, watch } from 'tickwarden'`. */
export { SourceError, type SourceErrorCode } from '../game/errors.ts'
export type { Dimension, FieldName, Fields, Player, PlayerList, TickCount } from '../game/fields.ts'
export type { KnownField, KnownFields, ServerSnapshot, SourceState } from '../game/snapshot.ts'
export type { SourceName } from '../game/sources/names.ts'
export { type ReadStatusOptions, readStatus, type ServerStatus } from './read-status.ts'
export { type ServerWatcher, type WatchOptions, watch } from './watch.ts'
