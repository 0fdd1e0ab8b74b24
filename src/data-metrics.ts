/**
 * What the data service hands to the exporter for each scrape: values at hand, without work. The two do not import each other;
 * this file gives both the same units and names.
 */
export interface DataMetrics {
  readonly snapshots: () => readonly SnapshotMetrics[]
  readonly scripts?: () => readonly ScriptMetrics[]
}

/** One database as it is served now. There is one for each database, with a snapshot or without. */
export interface SnapshotMetrics {
  readonly database: string
  /** Whether the last read found a valid snapshot. If not, the one loaded before stays in service. */
  readonly up: boolean
  /** Entries that are served, so without hidden ones; absent while there is no snapshot. */
  readonly entries?: number
  /** Rejected entries of the snapshot in service; absent while there is none. */
  readonly rejected?: number
  /** Unix seconds, as the snapshot says; absent for the packaged sample, which nothing updates. */
  readonly lastUpdate?: number
}

/** One update script since the service started. */
export interface ScriptMetrics {
  readonly script: string
  readonly running: boolean
  /**
   * Ended runs by outcome, such as `done` or `failed`. Counts only grow, and each outcome is present from the start as 0:
   * Prometheus does not see a counter rise that appears with its first event.
   */
  readonly runs: Readonly<Record<string, number>>
  /** Unix seconds, also of a run before the start or in another process. */
  readonly lastSuccess?: number
  /** Seconds that the last ended run took. */
  readonly duration?: number
  /** Unix seconds at which the access ends that a person gave the script; absent where that is unknown. */
  readonly authorisationExpires?: number
}
