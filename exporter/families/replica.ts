import { counter, gauge, type PartFamily } from './family.ts'

export const replica: readonly PartFamily[] = [
  gauge('tickwarden_replica_servers', 'Servers that this replica polls.', ({ replica }, add) => add(replica?.servers)),
  gauge(
    'tickwarden_replica_unknown_servers',
    'Servers whose state is unknown to this replica: it does not poll them and has received no snapshot for STALE_AFTER, or their newest values are older than that.',
    ({ replica }, add) => add(replica?.unknown),
  ),
  gauge(
    'tickwarden_replica_members',
    'Live replicas, including this one; absent while the shared state (STATE_URL) is unavailable.',
    ({ replica }, add) => add(replica?.members),
  ),
  gauge(
    'tickwarden_replica_fallback_servers',
    'Servers that this replica polls although another one should, which does not report them, for example while the shared state is unavailable.',
    ({ replica }, add) => add(replica?.fallback),
  ),
  counter(
    'tickwarden_replica_invalid_values_total',
    'Snapshots of other replicas, and values in them, that this replica ignored because they are not valid.',
    ({ replica }, add) => add(replica && (replica.invalid ?? 0)),
  ),
  gauge('tickwarden_replica_state_up', '1 if this replica can use the shared state (STATE_URL), 0 if not.', ({ replica }, add) =>
    add(replica?.isStateUp),
  ),
]
