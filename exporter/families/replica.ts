import type { ReplicaMetrics } from '../../src/part-metrics.ts'
import { type Family, flag, single } from './family.ts'

export const replica: readonly Family<ReplicaMetrics>[] = [
  {
    name: 'tickwarden_replica_servers',
    type: 'gauge',
    help: 'Servers that this replica polls.',
    labels: [],
    read: ({ servers }) => single(servers),
  },
  {
    name: 'tickwarden_replica_unknown_servers',
    type: 'gauge',
    help: 'Servers that this replica does not poll and of which it has received no snapshot from another replica for STALE_AFTER, so that they are unknown.',
    labels: [],
    read: ({ unknown }) => single(unknown),
  },
  {
    name: 'tickwarden_replica_members',
    type: 'gauge',
    help: 'Live replicas, including this one; absent while the shared state (STATE_URL) is unavailable.',
    labels: [],
    read: ({ members }) => single(members),
  },
  {
    name: 'tickwarden_replica_differing_servers',
    type: 'gauge',
    help: 'Servers of this replica that another replica lists with different settings (settings) or does not list (missing).',
    labels: ['difference'],
    read: ({ differences = {} }) => Object.entries(differences).map(([kind, value]) => ({ labels: [kind], value })),
  },
  {
    name: 'tickwarden_replica_state_up',
    type: 'gauge',
    help: '1 if this replica can use the shared state (STATE_URL), 0 if not.',
    labels: [],
    read: ({ isStateUp }) => flag(isStateUp),
  },
]
