import { config } from './config.ts'
import { downOnPurpose, perServer, serverLabels, tickRateRatioOfRunning } from './promql.ts'

export interface RecordingRule {
  readonly name: string
  readonly expr: string
}

const { selector } = config

/** A series that shows the dashboards whether the rules are loaded: without it no alert can fire. */
export const rulesLoaded: RecordingRule = { name: 'tickwarden:alert_rules:loaded', expr: 'vector(1)' }

/** The jobs that scrape /probe, which the alert TickwardenDown remembers for a week without reading every server's series. */
export const probedJobs: RecordingRule = {
  name: 'job:minecraft_up:probed',
  expr: 'count by (job) (minecraft_up unless on (job, instance) tickwarden_build_info)',
}

/** 1 for each server that is up, 0 for each that is down without a reason, whichever replica reports it. */
export const available: RecordingRule = {
  name: 'server:minecraft_up:available',
  expr: perServer(`minecraft_up${selector} unless on (${serverLabels}) ${downOnPurpose(selector)}`),
}

/** The tick rate relative to the target, of each server that is neither hung nor intentionally off target. */
export const recordedTickRateRatio: RecordingRule = {
  name: 'server:minecraft_tick_rate:ratio',
  expr: perServer(tickRateRatioOfRunning(selector)),
}

/** What the rule file records, in the order of evaluation: a rule may use an earlier one. */
export const recordingRules: readonly RecordingRule[] = [
  rulesLoaded,
  probedJobs,
  available,
  { name: 'server:minecraft_up:avg5m', expr: `avg_over_time(${available.name}[5m])` },
  recordedTickRateRatio,
]
