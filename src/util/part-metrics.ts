// Metrics that the parts of the service provide to the exporter, without I/O. The parts and the exporter do not import each other;
// this file defines names and units for both.

/** The data service. */
export interface DataMetrics {
  readonly snapshots: () => readonly SnapshotMetrics[]
  readonly scripts?: () => readonly ScriptMetrics[]
}

/** The current state of one database, with or without a snapshot. */
export interface SnapshotMetrics {
  readonly database: string
  /** Whether the last read found a valid snapshot. If not, the previous one is still served. */
  readonly up: boolean
  /** Served entries, without hidden ones; absent without a snapshot. */
  readonly entries?: number
  /** Rejected entries of the current snapshot; absent without a snapshot. */
  readonly rejected?: number
  /** `last_update` of the snapshot, Unix seconds; absent for the packaged sample, which is never updated. */
  readonly lastUpdate?: number
}

/** One update script since the service started. */
export interface ScriptMetrics {
  readonly script: string
  readonly running: boolean
  /**
   * Ended runs by outcome, such as `done` or `failed`. Counts only increase, and each outcome is present from the start as 0:
   * rate() in Prometheus misses the first increase of a counter that appears with it.
   */
  readonly runs: Readonly<Record<string, number>>
  /** Unix seconds; includes runs before the start and in other processes. */
  readonly lastSuccess?: number
  /** Duration of the last ended run, seconds. */
  readonly duration?: number
  /** When the user's authorisation of the script expires, Unix seconds; absent if unknown. */
  readonly authorisationExpires?: number
}

/** The event streams and the history. */
export interface LiveMetrics {
  readonly events: () => { readonly clients: number; readonly dropped: number }
  /** Memory in use, bytes. */
  readonly historyBytes: () => number
}

/** A notification channel. */
export interface ChannelMetrics {
  readonly channel: string
  /** Notifications since the start: delivered, given up, and dropped because too many waited. */
  readonly sent: number
  readonly failed: number
  readonly dropped: number
  /** Notifications that wait. */
  readonly waiting: number
  /** Why the last attempt failed; absent if it did not. */
  readonly problem?: string
}

/** The maintenance that a server is in. */
export interface MaintenanceState {
  readonly reason: string
  /** Unix milliseconds. */
  readonly until: number
}

/** Returns the maintenance that a server is in; null if it is in none. */
export type MaintenanceOf = (server: string) => MaintenanceState | null

/** A replica. */
export interface ReplicaMetrics {
  /** Servers that this replica polls. */
  readonly servers: number
  /** Servers whose state is unknown here, although a source connects to them: this replica has received nothing, or only old values. */
  readonly unknown: number
  /** Number of live replicas; absent while the shared state is unavailable. */
  readonly members?: number
  /** Servers that this replica polls because the one that should is silent. */
  readonly fallback: number
  /** Parts of the shared state that were ignored because they are not valid, since the start; default 0. */
  readonly invalid?: number
  /** Whether the shared state is available. */
  readonly isStateUp: boolean
}

/** Values that all replicas share, by name. */
export interface SharedValues {
  /** @throws Error if they are not available */
  all(): Promise<Readonly<Record<string, string>>>
  /** @throws Error if they are not available */
  put(name: string, value: string): Promise<void>
}

/** A queue that all replicas share, with values that are changed together with it. Every method throws an Error if it is not available. */
export interface SharedQueue {
  value(field: string): Promise<string | undefined>
  /**
   * Replaces a value and adds items, in one step.
   * @returns how many items there was no room for; undefined if the value is not `before` (empty: none) and nothing has changed
   */
  commit(change: {
    readonly field: string
    readonly before: string
    readonly after: string
    readonly items: readonly string[]
    readonly maxItems: number
  }): Promise<number | undefined>
  oldest(count: number): Promise<readonly string[]>
  length(): Promise<number>
  remove(items: readonly string[]): Promise<void>
}

/** A lock that one of the replicas has. */
export interface SharedLock {
  readonly lost: AbortSignal
  /** Checks whether the lock is still held. To be called before each side effect. */
  isHeld(): Promise<boolean>
  release(): Promise<void>
}

/** What replicas share for a part of the service, besides snapshots. */
export interface SharedState {
  values(part: string): SharedValues
  queue(name: string): SharedQueue
  readonly locks: { take(name: string): Promise<SharedLock | undefined> }
}

/** The order in which all replicas apply snapshots, by positions that increase. Events of the same position are the same on all of them. */
export interface SnapshotOrder {
  /** That of the snapshot that is being applied; undefined if its events may differ from those of other replicas. */
  position(): number | undefined
  /** That of the last snapshot that was applied. */
  last(): number
  /** The first one from which this replica has applied all that others have. */
  completeFrom(): number
  /** Whether any replica has event clients, or had some a while ago. */
  isWatched(): boolean
  /** Makes all replicas record events for so many milliseconds from now on. */
  watchFor(ms: number): void
}
