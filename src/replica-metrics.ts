/** What a replica hands to the exporter. */
export interface ReplicaMetrics {
  /** Servers that this replica polls. */
  readonly servers: number
  /** Living replicas; absent while the shared state cannot be used. */
  readonly members?: number
  /** Whether the shared state can be used. */
  readonly isStateUp: boolean
}
