import { counter, gauge, type PartFamily } from './family.ts'

export const live: readonly PartFamily[] = [
  gauge(
    'tickwarden_event_clients',
    'Clients connected to the event stream, including those of the status page.',
    ({ live }, add) => add(live?.events().clients),
  ),
  counter(
    'tickwarden_event_clients_dropped_total',
    'Event clients dropped since the service started because they read too slowly.',
    ({ live }, add) => add(live?.events().dropped),
  ),
  gauge('tickwarden_history_bytes', 'Memory used by the history of all servers, in bytes.', ({ live }, add) =>
    add(live?.historyBytes()),
  ),
]
