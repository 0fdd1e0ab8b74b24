/** Metrics that a replica provides to the exporter. */
export interface ReplicaMetrics {
  /** Servers that this replica polls. */
  readonly servers: number
  /** Number of live replicas; absent while the shared state is unavailable. */
  readonly members?: number
  /** Whether the shared state is available. */
  readonly isStateUp: boolean
}
