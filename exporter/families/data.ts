import type { DataMetrics, ScriptMetrics, SnapshotMetrics } from '../../src/data-metrics.ts'
import type { Family } from './family.ts'

type DataFamily = Family<DataMetrics>

/** One sample for each database of which the figure is known. */
const byDatabase =
  (figure: (snapshot: SnapshotMetrics) => number | undefined): DataFamily['read'] =>
  ({ snapshots }) =>
    snapshots().flatMap((snapshot) => {
      const value = figure(snapshot)
      return value === undefined ? [] : [{ labels: [snapshot.database], value }]
    })

/** One sample for each script of which the figure is known. */
const byScript =
  (figure: (script: ScriptMetrics) => number | undefined): DataFamily['read'] =>
  ({ scripts }) =>
    (scripts?.() ?? []).flatMap((script) => {
      const value = figure(script)
      return value === undefined ? [] : [{ labels: [script.script], value }]
    })

export const data: readonly DataFamily[] = [
  {
    name: 'tickwarden_snapshot_up',
    type: 'gauge',
    help: '1 if the last look found a snapshot of the database that can be read, 0 if it is missing or broken.',
    labels: ['database'],
    read: byDatabase(({ up }) => Number(up)),
  },
  {
    name: 'tickwarden_snapshot_entries',
    type: 'gauge',
    help: 'Entries of the database that are served, without hidden ones.',
    labels: ['database'],
    read: byDatabase(({ entries }) => entries),
  },
  {
    name: 'tickwarden_snapshot_rejected_entries',
    type: 'gauge',
    help: 'Entries of the snapshot in service that did not fit and are left out.',
    labels: ['database'],
    read: byDatabase(({ rejected }) => rejected),
  },
  {
    name: 'tickwarden_snapshot_last_update_timestamp_seconds',
    type: 'gauge',
    help: 'Unix time at which the data of the snapshot were updated, as it says itself, seconds.',
    labels: ['database'],
    read: byDatabase(({ lastUpdate }) => lastUpdate),
  },
  {
    name: 'tickwarden_script_runs_total',
    type: 'counter',
    help: 'Runs of the update script ended since the service started, by outcome; done and partly are successes.',
    labels: ['script', 'outcome'],
    read: ({ scripts }) =>
      (scripts?.() ?? []).flatMap(({ script, runs }) =>
        Object.entries(runs).map(([outcome, value]) => ({ labels: [script, outcome], value })),
      ),
  },
  {
    name: 'tickwarden_script_last_success_timestamp_seconds',
    type: 'gauge',
    help: 'Unix time at which the update script last succeeded, seconds.',
    labels: ['script'],
    read: byScript(({ lastSuccess }) => lastSuccess),
  },
  {
    name: 'tickwarden_script_duration_seconds',
    type: 'gauge',
    help: 'Time that the last ended run of the update script took, seconds.',
    labels: ['script'],
    read: byScript(({ duration }) => duration),
  },
  {
    name: 'tickwarden_script_authorisation_expires_timestamp_seconds',
    type: 'gauge',
    help: 'Unix time at which the access ends that a person gave the update script, seconds.',
    labels: ['script'],
    read: byScript(({ authorisationExpires }) => authorisationExpires),
  },
  {
    name: 'tickwarden_script_running',
    type: 'gauge',
    help: '1 while the update script runs, else 0.',
    labels: ['script'],
    read: byScript(({ running }) => Number(running)),
  },
]
