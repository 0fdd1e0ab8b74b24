import type { DataMetrics, ScriptMetrics, SnapshotMetrics } from '../../src/util/part-metrics.ts'
import type { Family } from './family.ts'

type DataFamily = Family<DataMetrics>

/** One sample for each database whose value is known. */
const byDatabase =
  (value: (snapshot: SnapshotMetrics) => number | boolean | undefined): DataFamily['read'] =>
  ({ snapshots }, add) => {
    for (const snapshot of snapshots()) add(value(snapshot), snapshot.database)
  }

/** One sample for each script whose value is known. */
const byScript =
  (value: (script: ScriptMetrics) => number | boolean | undefined): DataFamily['read'] =>
  ({ scripts }, add) => {
    for (const script of scripts?.() ?? []) add(value(script), script.script)
  }

export const data: readonly DataFamily[] = [
  {
    name: 'tickwarden_snapshot_up',
    type: 'gauge',
    help: '1 if the database has a readable snapshot, 0 if it is missing or broken.',
    labels: ['database'],
    read: byDatabase(({ up }) => up),
  },
  {
    name: 'tickwarden_snapshot_entries',
    type: 'gauge',
    help: 'Entries of the database that are served; hidden entries are not counted.',
    labels: ['database'],
    read: byDatabase(({ entries }) => entries),
  },
  {
    name: 'tickwarden_snapshot_rejected_entries',
    type: 'gauge',
    help: 'Entries of the snapshot in use that were rejected because they are not valid.',
    labels: ['database'],
    read: byDatabase(({ rejected }) => rejected),
  },
  {
    name: 'tickwarden_snapshot_last_update_timestamp_seconds',
    type: 'gauge',
    help: 'Unix time of the last update according to the snapshot, in seconds.',
    labels: ['database'],
    read: byDatabase(({ lastUpdate }) => lastUpdate),
  },
  {
    name: 'tickwarden_script_runs_total',
    type: 'counter',
    help: 'Ended runs of the update script since the service started, by outcome; done and partly are successes, failed includes runs whose process was killed.',
    labels: ['script', 'outcome'],
    read({ scripts }, add) {
      for (const { script, runs } of scripts?.() ?? []) {
        for (const [outcome, count] of Object.entries(runs)) add(count, script, outcome)
      }
    },
  },
  {
    name: 'tickwarden_script_last_success_timestamp_seconds',
    type: 'gauge',
    help: 'Unix time of the last successful run of the update script, in seconds.',
    labels: ['script'],
    read: byScript(({ lastSuccess }) => lastSuccess),
  },
  {
    name: 'tickwarden_script_duration_seconds',
    type: 'gauge',
    help: 'Duration of the last completed run of the update script, in seconds.',
    labels: ['script'],
    read: byScript(({ duration }) => duration),
  },
  {
    name: 'tickwarden_script_authorisation_expires_timestamp_seconds',
    type: 'gauge',
    help: 'Unix time at which the authorisation of the update script expires, in seconds.',
    labels: ['script'],
    read: byScript(({ authorisationExpires }) => authorisationExpires),
  },
  {
    name: 'tickwarden_script_running',
    type: 'gauge',
    help: '1 while the update script is running, else 0.',
    labels: ['script'],
    read: byScript(({ running }) => running),
  },
]
