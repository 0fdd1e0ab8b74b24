import { RowBuilder } from '@grafana/grafana-foundation-sdk/dashboard'
import { dashboard, linkToOthers } from './dashboard.ts'
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
  })
    .link(linkToOthers('Other dashboards'))
    .withPanel(
      stat({
        title: 'Version',
        description: 'Version of each Tickwarden that is running.',
        unit: 'short',
        queries: [{ expr: 'tickwarden_build_info', legend: '{{version}}' }],
        showName: true,
      }),
    )
    .withPanel(
      stat({
        title: 'Memory',
        description: 'Resident memory of each Tickwarden process.',
        unit: 'bytes',
        queries: [{ expr: `process_resident_memory_bytes ${ours}`, legend: '{{instance}}' }],
      }),
    )
    .withPanel(
      stat({
        title: 'Replicas',
        description: 'Replicas that share their state, as each of them counts them. No data without STATE_URL.',
        unit: 'short',
        queries: [{ expr: 'max(tickwarden_replica_members)', legend: 'replicas' }],
      }),
    )
    .withPanel(
      stat({
        title: 'Servers unknown to a replica',
        description: 'Servers of which a replica has received nothing recently from the one that should poll them.',
        unit: 'short',
        queries: [{ expr: 'max(tickwarden_replica_unknown_servers)', legend: 'unknown' }],
        thresholds: [{ colour: 'green' }, { from: 1, colour: 'red' }],
      }),
    )
    .withPanel(
      stat({
        title: 'Server lists failing',
        description: 'Lists of servers that cannot be read. Servers from the last successful read are still watched.',
        unit: 'short',
        queries: [{ expr: 'count(tickwarden_discovery_up == 0) or 0 * count(tickwarden_discovery_up)', legend: 'failing' }],
        thresholds: [{ colour: 'green' }, { from: 1, colour: 'orange' }],
      }),
    )
    .withPanel(
      stat({
        title: 'Event clients',
        description: 'Clients connected to the event streams, including those of the status page.',
        unit: 'short',
        queries: [{ expr: 'sum(tickwarden_event_clients)', legend: 'clients' }],
      }),
    )
    .withRow(new RowBuilder('Requests'))
    .withPanel(
      timeseries({
        title: 'Requests',
        description: 'HTTP requests answered per second, by route.',
        unit: 'reqps',
        min: 0,
        queries: [
          { expr: `sum by (route) (rate(http_request_duration_seconds_count[$__rate_interval]) ${ours})`, legend: '{{route}}' },
        ],
        width: 8,
      }),
    )
    .withPanel(
      timeseries({
        title: 'Failed requests',
        description: 'Requests per second answered with an error, by status class and route.',
        unit: 'reqps',
        min: 0,
        queries: [
          {
            expr: `sum by (status_class, route) (rate(http_request_duration_seconds_count{status_class=~"4xx|5xx"}[$__rate_interval]) ${ours})`,
            legend: '{{status_class}} {{route}}',
          },
        ],
        width: 8,
      }),
    )
    .withPanel(
      timeseries({
        title: 'Request time, p99',
        description: '99th percentile of the request duration, by route.',
        unit: 's',
        min: 0,
        queries: [{ expr: p99('http_request_duration_seconds', 'route', ` ${ours}`), legend: '{{route}}' }],
        width: 8,
      }),
    )
    .withRow(new RowBuilder('Polling'))
    .withPanel(
      timeseries({
        title: 'Delay of polls, p99',
        description: 'How late polls start: seconds if the process or its machine is overloaded.',
        unit: 's',
        min: 0,
        queries: [{ expr: p99('tickwarden_poll_delay_seconds', 'instance'), legend: '{{instance}}' }],
        width: 8,
      }),
    )
    .withPanel(
      timeseries({
        title: 'Name lookups, p99',
        description: '99th percentile of the duration of DNS lookups, without those answered from the cache.',
        unit: 's',
        min: 0,
        queries: [{ expr: p99('tickwarden_name_lookup_duration_seconds', 'instance'), legend: '{{instance}}' }],
        width: 8,
      }),
    )
    .withPanel(
      timeseries({
        title: 'Servers polled',
        description: 'Servers that each replica polls, and servers in the lists of each provider.',
        unit: 'short',
        min: 0,
        queries: [
          { expr: 'max by (instance) (tickwarden_replica_servers)', legend: 'polled by {{instance}}' },
          { expr: 'max by (provider) (tickwarden_discovery_servers)', legend: 'listed by {{provider}}' },
        ],
        width: 8,
      }),
    )
    .withPanel(
      timeline({
        title: 'Shared state and server lists',
        description: 'Whether each replica can use the shared state, and whether each list of servers can be read.',
        unit: 'short',
        queries: [
          { expr: 'min by (instance) (tickwarden_replica_state_up)', legend: 'state on {{instance}}' },
          { expr: 'min by (provider) (tickwarden_discovery_up)', legend: '{{provider}}' },
        ],
        mappings: [valueMap({ '0': ['fails', 'red'], '1': ['works', 'green'] })],
        height: 6,
      }),
    )
    .withPanel(
      timeseries({
        title: 'Notifications',
        description: 'Notifications per hour, by channel and outcome: sent, failed (given up) or dropped (too many waited).',
        unit: 'short',
        min: 0,
        queries: [
          {
            expr: '3600 * sum by (channel, outcome) (rate(tickwarden_notifications_total[$__rate_interval]))',
            legend: '{{channel}} {{outcome}}',
          },
        ],
        height: 6,
      }),
    )
    .withRow(new RowBuilder('Process'))
    .withPanel(
      timeseries({
        title: 'Processor time',
        description: 'Part of a core that the process uses: above 100 % it uses several.',
        unit: 'percentunit',
        min: 0,
        queries: [{ expr: `rate(process_cpu_seconds_total[$__rate_interval]) ${ours}`, legend: '{{instance}}' }],
        width: 6,
      }),
    )
    .withPanel(
      timeseries({
        title: 'Memory over time',
        description: 'Resident memory, the used JavaScript heap, and the part of the history.',
        unit: 'bytes',
        min: 0,
        queries: [
          { expr: `process_resident_memory_bytes ${ours}`, legend: 'resident, {{instance}}' },
          { expr: `nodejs_heap_size_used_bytes ${ours}`, legend: 'heap, {{instance}}' },
          { expr: 'max by (instance) (tickwarden_history_bytes)', legend: 'history, {{instance}}' },
        ],
        width: 6,
      }),
    )
    .withPanel(
      timeseries({
        title: 'Event loop lag',
        description: 'How late the event loop was at each scrape.',
        unit: 's',
        min: 0,
        queries: [{ expr: `nodejs_eventloop_lag_seconds ${ours}`, legend: '{{instance}}' }],
        width: 6,
      }),
    )
    .withPanel(
      timeseries({
        title: 'Slow work',
        description: 'Replies and files per hour whose reading held the event loop for more than 100 ms, by source or part.',
        unit: 'short',
        min: 0,
        queries: [{ expr: '3600 * sum by (part) (rate(tickwarden_slow_work_total[$__rate_interval]))', legend: '{{part}}' }],
        width: 6,
      }),
    )
    .withRow(new RowBuilder('Data service'))
    .withPanel(
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
            unit: 'short',
            mappings: [valueMap({ '0': ['missing or broken', 'red'], '1': ['good', 'green'] })],
            thresholds: [{ colour: 'red' }, { from: 1, colour: 'green' }],
          },
          { title: 'Entries', expr: 'sum by (database) (tickwarden_snapshot_entries)', unit: 'short' },
          {
            title: 'Rejected',
            expr: 'sum by (database) (tickwarden_snapshot_rejected_entries)',
            unit: 'short',
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
    )
    .withPanel(
      table({
        title: 'Update scripts',
        description:
          'The scripts that update the data: runs since the start by outcome (put off: rate limited or not configured), time since the last success, and time until the authorisation expires.',
        by: 'script',
        byTitle: 'Script',
        columns: [
          { title: 'Succeeded', expr: 'sum by (script) (tickwarden_script_runs_total{outcome=~"done|partly"})', unit: 'short' },
          {
            title: 'Failed',
            expr: 'sum by (script) (tickwarden_script_runs_total{outcome=~"failed|reauthorise"})',
            unit: 'short',
            thresholds: [{ colour: 'green' }, { from: 1, colour: 'red' }],
          },
          {
            title: 'Put off',
            expr: 'sum by (script) (tickwarden_script_runs_total{outcome=~"rate_limited|not_configured"})',
            unit: 'short',
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
    )
