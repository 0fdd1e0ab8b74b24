import type { LiveMetrics } from '../../src/util/part-metrics.ts'
import type { Family } from './family.ts'

export const live: readonly Family<LiveMetrics>[] = [
  {
    name: 'tickwarden_event_clients',
    type: 'gauge',
    help: 'Clients connected to the event stream, including those of the status page.',
    labels: [],
    read: ({ events }, add) => add(events().clients),
  },
  {
    name: 'tickwarden_event_clients_dropped_total',
    type: 'counter',
    help: 'Event clients dropped since the service started because they read too slowly.',
    labels: [],
    read: ({ events }, add) => add(events().dropped),
  },
  {
    name: 'tickwarden_history_bytes',
    type: 'gauge',
    help: 'Memory used by the history of all servers, in bytes.',
    labels: [],
    read: ({ historyBytes }, add) => add(historyBytes()),
  },
]
