import type { LiveMetrics } from '../../src/util/part-metrics.ts'
import { counter, type Family, gauge } from './family.ts'

export const live: readonly Family<LiveMetrics>[] = [
  gauge(
    'tickwarden_event_clients',
    'Clients connected to the event stream, including those of the status page.',
    ({ events }, add) => add(events().clients),
  ),
  counter(
    'tickwarden_event_clients_dropped_total',
    'Event clients dropped since the service started because they read too slowly.',
    ({ events }, add) => add(events().dropped),
  ),
  gauge('tickwarden_history_bytes', 'Memory used by the history of all servers, in bytes.', ({ historyBytes }, add) =>
    add(historyBytes()),
  ),
]
