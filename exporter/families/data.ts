import type { DataFigures } from '../../src/figures.ts'
import type { Family } from './family.ts'

export const data: readonly Family<DataFigures>[] = [
  {
    name: 'tickwarden_snapshot_entries',
    type: 'gauge',
    help: 'Entries of the database that are served.',
    labels: ['database'],
    read: ({ snapshots }) => snapshots().map(({ database, entries }) => ({ labels: [database], value: entries })),
  },
  {
    name: 'tickwarden_snapshot_rejected_entries',
    type: 'gauge',
    help: 'Entries of the snapshot file that did not fit and are left out.',
    labels: ['database'],
    read: ({ snapshots }) => snapshots().map(({ database, rejected }) => ({ labels: [database], value: rejected })),
  },
  {
    name: 'tickwarden_snapshot_last_update_timestamp_seconds',
    type: 'gauge',
    help: 'Unix time at which the data of the snapshot were updated, as it says itself, seconds.',
    labels: ['database'],
    read: ({ snapshots }) =>
      snapshots().flatMap(({ database, lastUpdate }) =>
        lastUpdate === undefined ? [] : [{ labels: [database], value: lastUpdate }],
      ),
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
    read: ({ scripts }) =>
      (scripts?.() ?? []).flatMap(({ script, lastSuccess }) =>
        lastSuccess === undefined ? [] : [{ labels: [script], value: lastSuccess }],
      ),
  },
  {
    name: 'tickwarden_script_duration_seconds',
    type: 'gauge',
    help: 'Time that the last ended run of the update script took, seconds.',
    labels: ['script'],
    read: ({ scripts }) =>
      (scripts?.() ?? []).flatMap(({ script, duration }) =>
        duration === undefined ? [] : [{ labels: [script], value: duration }],
      ),
  },
  {
    name: 'tickwarden_script_running',
    type: 'gauge',
    help: '1 while the update script runs, else 0.',
    labels: ['script'],
    read: ({ scripts }) => (scripts?.() ?? []).map(({ script, running }) => ({ labels: [script], value: Number(running) })),
  },
]
