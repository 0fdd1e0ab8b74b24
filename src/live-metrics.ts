/** What the event streams and the history hand to the exporter. */
export interface LiveMetrics {
  readonly events: () => { readonly clients: number; readonly dropped: number }
  /** Memory held, in bytes. */
  readonly historyBytes: () => number
}
