import { RowBuilder } from '@grafana/grafana-foundation-sdk/dashboard'
import { valueMap } from './panels/panel.ts'
import { stat } from './panels/stat.ts'
import { table } from './panels/table.ts'
import { timeseries } from './panels/timeseries.ts'

const day = 86_400

/** Other exporters have metrics of the same names. */
const ours = 'and on (job, instance) tickwarden_build_info'

/** The row about Tickwarden itself and its data service. */
export const serviceRow = () => new RowBuilder('Tickwarden and its data')

export const servicePanels = () => [
  stat({
    title: 'Version',
    description: 'Version of Tickwarden that is running.',
    unit: 'short',
    queries: [{ expr: 'tickwarden_build_info', legend: '{{version}}' }],
    showName: true,
    height: 8,
  }),
  stat({
    title: 'Memory',
    description: 'Resident memory of the Tickwarden process.',
    unit: 'bytes',
    queries: [{ expr: `process_resident_memory_bytes ${ours}`, legend: '{{instance}}' }],
    height: 8,
  }),
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
  timeseries({
    title: 'Request time, p99',
    description: '99th percentile of the request duration, by route.',
    unit: 's',
    min: 0,
    queries: [
      {
        expr: `histogram_quantile(0.99, sum by (le, route) (rate(http_request_duration_seconds_bucket[$__rate_interval]) ${ours}))`,
        legend: '{{route}}',
      },
    ],
    width: 8,
  }),
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
      { title: 'Since success', expr: 'time() - max by (script) (tickwarden_script_last_success_timestamp_seconds)', unit: 's' },
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
]
