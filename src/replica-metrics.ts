/** Metrics that a replica provides to the exporter. */
export interface ReplicaMetrics {
  /** Servers that this replica polls. */
  readonly servers: number
  /** Number of live replicas; absent while the shared state is unavailable. */
  readonly members?: number
  /** Servers of this replica that other replicas list with other settings, or not at all; absent like `members`. */
  readonly differences?: { readonly settings: number; readonly missing: number }
  /** Whether the shared state is available. */
  readonly isStateUp: boolean
}
