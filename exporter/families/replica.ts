import type { ReplicaMetrics } from '../../src/util/part-metrics.ts'
import type { Family } from './family.ts'

export const replica: readonly Family<ReplicaMetrics>[] = [
  {
    name: 'tickwarden_replica_servers',
    type: 'gauge',
    help: 'Servers that this replica polls.',
    labels: [],
    read: ({ servers }, add) => add(servers),
  },
  {
    name: 'tickwarden_replica_unknown_servers',
    type: 'gauge',
    help: 'Servers that this replica does not poll and of which it has received no snapshot from another replica for STALE_AFTER, so that they are unknown.',
    labels: [],
    read: ({ unknown }, add) => add(unknown),
  },
  {
    name: 'tickwarden_replica_members',
    type: 'gauge',
    help: 'Live replicas, including this one; absent while the shared state (STATE_URL) is unavailable.',
    labels: [],
    read: ({ members }, add) => add(members),
  },
  {
    name: 'tickwarden_replica_fallback_servers',
    type: 'gauge',
    help: 'Servers that this replica also polls because the replica that should poll them is silent, for example while the shared state is unavailable.',
    labels: [],
    read: ({ fallback }, add) => add(fallback),
  },
  {
    name: 'tickwarden_replica_invalid_values_total',
    type: 'counter',
    help: 'Snapshots of other replicas, and values in them, that this replica ignored because they are not valid.',
    labels: [],
    read: ({ invalid = 0 }, add) => add(invalid),
  },
  {
    name: 'tickwarden_replica_state_up',
    type: 'gauge',
    help: '1 if this replica can use the shared state (STATE_URL), 0 if not.',
    labels: [],
    read: ({ isStateUp }, add) => add(isStateUp),
  },
]
