/** One database as it is served now. */
export interface SnapshotState {
  readonly database: string
  readonly entries: number
  /** Entries of its file that did not fit. */
  readonly rejected: number
  /** Unix seconds, as the snapshot says itself. */
  readonly lastUpdate?: number
}

/** One update script since the service started. */
export interface ScriptState {
  readonly script: string
  readonly running: boolean
  /** Runs that have ended, by outcome, e.g. `succeeded`, `failed`. Counts only grow. */
  readonly runs: Readonly<Record<string, number>>
  /** Unix seconds. */
  readonly lastSuccess?: number
  /** Seconds that the last ended run took. */
  readonly duration?: number
}

/** What the exporter asks the data service on each scrape: values at hand, no work. */
export interface DataMetrics {
  readonly snapshots: () => readonly SnapshotState[]
  readonly scripts?: () => readonly ScriptState[]
}
