/**
 * What the data service tells the exporter on each scrape: values at hand, no work. Between the two, which know nothing of each
 * other, there is this file, so that both mean the same unit by the same name.
 */
export interface DataFigures {
  readonly snapshots: () => readonly SnapshotFigures[]
  readonly scripts?: () => readonly ScriptFigures[]
}

/** One database as it is served now; each that the service has is told of, with a snapshot or without. */
export interface SnapshotFigures {
  readonly database: string
  /** Whether the last look found a snapshot that could be read. If not, what was loaded before stays in service. */
  readonly up: boolean
  /** Entries that are served, so without hidden ones; absent while there is no snapshot to serve. */
  readonly entries?: number
  /** Entries of the snapshot in service that did not fit; absent while there is none. */
  readonly rejected?: number
  /** Unix seconds, as the snapshot says itself; absent for the packaged sample, which nothing updates. */
  readonly lastUpdate?: number
}

/** One update script since the service started. */
export interface ScriptFigures {
  readonly script: string
  readonly running: boolean
  /**
   * Runs that have ended, by outcome, `done` or `failed` among them. Counts only grow, and each is there from the start as 0: a
   * counter that begins with its first event has not risen, for who asks Prometheus.
   */
  readonly runs: Readonly<Record<string, number>>
  /** Unix seconds, also of a run before the start or in another process. */
  readonly lastSuccess?: number
  /** Seconds that the last ended run took. */
  readonly duration?: number
}

/** What the event streams and the history tell the exporter. */
export interface LiveFigures {
  readonly events: () => { readonly clients: number; readonly dropped: number }
  /** Memory held, in bytes. */
  readonly historyBytes: () => number
}
