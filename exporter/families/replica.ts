import type { ReplicaMetrics } from '../../src/util/part-metrics.ts'
import { counter, type Family, gauge } from './family.ts'

export const replica: readonly Family<ReplicaMetrics>[] = [
  gauge('tickwarden_replica_servers', 'Servers that this replica polls.', ({ servers }, add) => add(servers)),
  gauge(
    'tickwarden_replica_unknown_servers',
    'Servers that this replica does not poll and of which it has received no snapshot from another replica for STALE_AFTER, so that they are unknown.',
    ({ unknown }, add) => add(unknown),
  ),
  gauge(
    'tickwarden_replica_members',
    'Live replicas, including this one; absent while the shared state (STATE_URL) is unavailable.',
    ({ members }, add) => add(members),
  ),
  gauge(
    'tickwarden_replica_fallback_servers',
    'Servers that this replica polls although another one should, which does not report them, for example while the shared state is unavailable.',
    ({ fallback }, add) => add(fallback),
  ),
  counter(
    'tickwarden_replica_invalid_values_total',
    'Snapshots of other replicas, and values in them, that this replica ignored because they are not valid.',
    ({ invalid = 0 }, add) => add(invalid),
  ),
  gauge(
    'tickwarden_replica_state_up',
    '1 if this replica can use the shared state (STATE_URL), 0 if not.',
    ({ isStateUp }, add) => add(isStateUp),
  ),
]
