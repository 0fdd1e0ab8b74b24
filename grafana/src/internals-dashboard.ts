import { dashboard, row } from './dashboard.ts'
import { valueMap } from './panels/panel.ts'
import { stat } from './panels/stat.ts'
import { table } from './panels/table.ts'
import { timeline } from './panels/timeline.ts'
import { timeseries } from './panels/timeseries.ts'

const day = 86_400

/** Other exporters have metrics of the same names. */
const ours = 'and on (job, instance) tickwarden_build_info'

/** The 99th percentile of a histogram. @param by labels of the lines */
const p99 = (histogram: string, by: string, filter = '') =>
  `histogram_quantile(0.99, sum by (${['le', by].join(', ')}) (rate(${histogram}_bucket[$__rate_interval])${filter}))`

/** Tickwarden itself, each of its replicas, and its data service. */
export const internals = () =>
  dashboard({
    uid: 'tickwarden-internals',
    title: 'Tickwarden / Internals',
    description: 'Tickwarden itself: its requests, polls, memory, replicas, lists of servers, and its data service.',
    panels: [
      stat(
        'Version',
        'Version of each Tickwarden that is running.',
        { '{{version}}': 'tickwarden_build_info' },
        { showName: true },
      ),
      stat(
        'Memory',
        'Resident memory of each Tickwarden process.',
        { '{{instance}}': `process_resident_memory_bytes ${ours}` },
        { unit: 'bytes' },
      ),
      stat('Replicas', 'Replicas that share their state, as each of them counts them. No data without STATE_URL.', {
        replicas: 'max(tickwarden_replica_members)',
      }),
      stat(
        'Servers unknown to a replica',
        'Servers whose newest values at a replica are older than STALE_AFTER.',
        { unknown: 'max(tickwarden_replica_unknown_servers)' },
        { thresholds: [{ colour: 'green' }, { from: 1, colour: 'red' }] },
      ),
      stat(
        'Server lists failing',
        'Lists of servers that cannot be read. Servers from the last successful read are still watched.',
        { failing: 'count(min by (job, provider) (tickwarden_discovery_up) == 0) or 0 * count(tickwarden_discovery_up)' },
        { thresholds: [{ colour: 'green' }, { from: 1, colour: 'orange' }] },
      ),
      stat('Event clients', 'Clients connected to the event streams, including those of the status page.', {
        clients: 'sum(tickwarden_event_clients)',
      }),
      row('Requests'),
      timeseries(
        'Requests',
        'HTTP requests answered per second, by route.',
        { '{{route}}': `sum by (route) (rate(http_request_duration_seconds_count[$__rate_interval]) ${ours})` },
        { unit: 'reqps', width: 8 },
      ),
      timeseries(
        'Failed requests',
        'Requests per second answered with an error, by status class and route.',
        {
          '{{status_class}} {{route}}': `sum by (status_class, route) (rate(http_request_duration_seconds_count{status_class=~"4xx|5xx"}[$__rate_interval]) ${ours})`,
        },
        { unit: 'reqps', width: 8 },
      ),
      timeseries(
        'Request time, p99',
        '99th percentile of the request duration, by route.',
        { '{{route}}': p99('http_request_duration_seconds', 'route', ` ${ours}`) },
        { unit: 's', width: 8 },
      ),
      row('Polling'),
      timeseries(
        'Delay of polls, p99',
        'How late polls start: seconds if the process or its machine is overloaded.',
        { '{{instance}}': p99('tickwarden_poll_delay_seconds', 'instance') },
        { unit: 's', width: 8 },
      ),
      timeseries(
        'Name lookups, p99',
        '99th percentile of the duration of DNS lookups, without those answered from the cache.',
        { '{{instance}}': p99('tickwarden_name_lookup_duration_seconds', 'instance') },
        { unit: 's', width: 8 },
      ),
      timeseries(
        'Servers polled',
        'Servers that each replica polls, and servers in the lists of each provider.',
        {
          'polled by {{instance}}': 'max by (instance) (tickwarden_replica_servers)',
          'listed by {{provider}}': 'max by (provider) (tickwarden_discovery_servers)',
        },
        { width: 8 },
      ),
      timeline(
        'Shared state and server lists',
        'Whether each replica can use the shared state, and whether each list of servers can be read.',
        {
          'state on {{instance}}': 'min by (instance) (tickwarden_replica_state_up)',
          '{{provider}}': 'min by (provider) (tickwarden_discovery_up)',
        },
        { mappings: [valueMap({ '0': ['fails', 'red'], '1': ['works', 'green'] })], height: 6 },
      ),
      timeseries(
        'Notifications',
        'Notifications per hour, by channel and outcome: sent, failed (given up) or dropped (too many waited).',
        {
          '{{channel}} {{outcome}}': '3600 * sum by (channel, outcome) (rate(tickwarden_notifications_total[$__rate_interval]))',
        },
        { height: 6 },
      ),
      row('Process'),
      timeseries(
        'Processor time',
        'Part of a core that the process uses: above 100 % it uses several.',
        { '{{instance}}': `rate(process_cpu_seconds_total[$__rate_interval]) ${ours}` },
        { unit: 'percentunit', width: 6 },
      ),
      timeseries(
        'Memory over time',
        'Resident memory, the used JavaScript heap, and the part of the history.',
        {
          'resident, {{instance}}': `process_resident_memory_bytes ${ours}`,
          'heap, {{instance}}': `nodejs_heap_size_used_bytes ${ours}`,
          'history, {{instance}}': 'max by (instance) (tickwarden_history_bytes)',
        },
        { unit: 'bytes', width: 6 },
      ),
      timeseries(
        'Event loop lag',
        'How late the event loop was at each scrape.',
        { '{{instance}}': `nodejs_eventloop_lag_seconds ${ours}` },
        { unit: 's', width: 6 },
      ),
      timeseries(
        'Slow work',
        'Replies and files per hour whose reading held the event loop for more than 100 ms, by source or part.',
        { '{{part}}': '3600 * sum by (part) (rate(tickwarden_slow_work_total[$__rate_interval]))' },
        { width: 6 },
      ),
      row('Data service'),
      table({
        title: 'Data snapshots',
        description:
          'The databases of the data service: whether there is a valid snapshot, entries served, entries rejected because they are not valid, and the age of the data (updated daily).',
        by: 'database',
        byTitle: 'Database',
        columns: [
          {
            title: 'Snapshot',
            expr: 'min by (database) (tickwarden_snapshot_up)',
            mappings: [valueMap({ '0': ['missing or broken', 'red'], '1': ['good', 'green'] })],
            thresholds: [{ colour: 'red' }, { from: 1, colour: 'green' }],
          },
          { title: 'Entries', expr: 'max by (database) (tickwarden_snapshot_entries)' },
          {
            title: 'Rejected',
            expr: 'max by (database) (tickwarden_snapshot_rejected_entries)',
            thresholds: [{ colour: 'green' }, { from: 1, colour: 'orange' }],
          },
          {
            title: 'Age',
            expr: 'time() - max by (database) (tickwarden_snapshot_last_update_timestamp_seconds)',
            unit: 's',
            thresholds: [{ colour: 'green' }, { from: 1.1 * day, colour: 'orange' }, { from: 1.5 * day, colour: 'red' }],
          },
        ],
        width: 12,
        height: 6,
      }),
      table({
        title: 'Update scripts',
        description:
          'The scripts that update the data: runs since the start by outcome (put off: rate limited or not configured), time since the last success, and time until the authorisation expires.',
        by: 'script',
        byTitle: 'Script',
        columns: [
          { title: 'Succeeded', expr: 'sum by (script) (tickwarden_script_runs_total{outcome=~"done|partly"})' },
          {
            title: 'Failed',
            expr: 'sum by (script) (tickwarden_script_runs_total{outcome=~"failed|reauthorise"})',
            thresholds: [{ colour: 'green' }, { from: 1, colour: 'red' }],
          },
          {
            title: 'Put off',
            expr: 'sum by (script) (tickwarden_script_runs_total{outcome=~"rate_limited|not_configured"})',
          },
          { title: 'Running', expr: 'max by (script) (tickwarden_script_running)', unit: 'bool_yes_no' },
          {
            title: 'Since success',
            expr: 'time() - max by (script) (tickwarden_script_last_success_timestamp_seconds)',
            unit: 's',
          },
          {
            title: 'Authorisation ends in',
            expr: 'min by (script) (tickwarden_script_authorisation_expires_timestamp_seconds) - time()',
            unit: 's',
            thresholds: [{ colour: 'red' }, { from: 14 * day, colour: 'green' }],
          },
        ],
        width: 12,
        height: 6,
      }),
    ],
  })
