import { counter, gauge, type Observed, ofEach, type PartFamily } from './family.ts'

const readDatabases = ofEach(
  ({ data }: Observed) => data?.snapshots(),
  ({ database }) => database,
)
const readScripts = ofEach(
  ({ data }: Observed) => data?.scripts?.(),
  ({ script }) => script,
)

/** One sample for each database whose value is known. */
const ofDatabase = (name: string, help: string, ...[value]: Parameters<typeof readDatabases>): PartFamily =>
  gauge(name, help, readDatabases(value), { labels: ['database'] })

/** One sample for each script whose value is known. */
const ofScript = (name: string, help: string, ...[value]: Parameters<typeof readScripts>): PartFamily =>
  gauge(name, help, readScripts(value), { labels: ['script'] })

export const data: readonly PartFamily[] = [
  ofDatabase(
    'tickwarden_snapshot_up',
    '1 if the database has a readable snapshot, 0 if it is missing or broken.',
    ({ up }) => up,
  ),
  ofDatabase(
    'tickwarden_snapshot_entries',
    'Entries of the database that are served; hidden entries are not counted.',
    ({ entries }) => entries,
  ),
  ofDatabase(
    'tickwarden_snapshot_rejected_entries',
    'Entries of the snapshot in use that were rejected because they are not valid.',
    ({ rejected }) => rejected,
  ),
  ofDatabase(
    'tickwarden_snapshot_last_update_timestamp_seconds',
    'Unix time of the last update according to the snapshot, in seconds.',
    ({ lastUpdate }) => lastUpdate,
  ),
  counter(
    'tickwarden_script_runs_total',
    'Ended runs of the update script since the service started, by outcome; done and partly are successes. A run whose process was killed is not counted.',
    ({ data }, add) => {
      for (const { script, runs } of data?.scripts?.() ?? []) {
        for (const [outcome, count] of Object.entries(runs)) add(count, script, outcome)
      }
    },
    { labels: ['script', 'outcome'] },
  ),
  ofScript(
    'tickwarden_script_last_success_timestamp_seconds',
    'Unix time of the last successful run of the update script, in seconds.',
    ({ lastSuccess }) => lastSuccess,
  ),
  ofScript(
    'tickwarden_script_duration_seconds',
    'Duration of the last completed run of the update script, in seconds.',
    ({ duration }) => duration,
  ),
  ofScript(
    'tickwarden_script_authorisation_expires_timestamp_seconds',
    'Unix time at which the authorisation of the update script expires, in seconds.',
    ({ authorisationExpires }) => authorisationExpires,
  ),
  ofScript('tickwarden_script_running', '1 while the update script is running, else 0.', ({ running }) => running),
]
