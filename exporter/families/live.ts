import type { LiveMetrics } from '../../src/live-metrics.ts'
import { type Family, single } from './family.ts'

export const live: readonly Family<LiveMetrics>[] = [
  {
    name: 'tickwarden_event_clients',
    type: 'gauge',
    help: 'Clients that follow the events, those of the status page included.',
    labels: [],
    read: ({ events }) => single(events().clients),
  },
  {
    name: 'tickwarden_event_clients_dropped_total',
    type: 'counter',
    help: 'Event clients dropped since the service started because they did not read what they were sent.',
    labels: [],
    read: ({ events }) => single(events().dropped),
  },
  {
    name: 'tickwarden_history_bytes',
    type: 'gauge',
    help: 'Memory that the history of all servers holds, bytes.',
    labels: [],
    read: ({ historyBytes }) => single(historyBytes()),
  },
]
