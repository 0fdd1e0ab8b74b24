/** Metrics that the event streams and the history provide to the exporter. */
export interface LiveMetrics {
  readonly events: () => { readonly clients: number; readonly dropped: number }
  /** Memory in use, bytes. */
  readonly historyBytes: () => number
}
