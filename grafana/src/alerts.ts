import { hung, laggingBelow, littleHeadroomAbove, serverLabels, tickRateRatioOfRunning, tickTimeRatio } from './promql.ts'

/** One alert, from which the rules for Prometheus and those for Grafana are made. */
export interface Alert {
  readonly name: string
  readonly severity: 'critical' | 'warning' | 'info'
  /** Has a value for each thing that the alert is about. */
  readonly expr: string
  /** How long the expression must hold, as Prometheus writes it. */
  readonly for: string
  /** Templates, as in Prometheus. */
  readonly summary: string
  readonly description: string
  readonly action: string
}

const server = '{{ or $labels.server $labels.instance }}'
/** Where the last error of a server is shown: by name on /metrics, else by the address that /probe was given. */
const lastError =
  '{{ if $labels.server }}/api/v1/servers/{{ $labels.server | urlquery | reReplaceAll `[+]` `%20` }}/sources{{ else }}/probe?target={{ $labels.instance | urlquery }}&debug=true{{ end }}'

/** Scrape targets that were Tickwarden's /metrics, or are by the name of their job. */
const tickwarden = 'up and on (job, instance) last_over_time(tickwarden_build_info[7d]) or up{job="tickwarden"}'
/** Scrape targets that were Tickwarden's /probe, one for each server. */
const probed =
  '(up and on (job, instance) last_over_time(minecraft_up[7d])) unless on (job, instance) last_over_time(tickwarden_build_info[7d])'

const isUp = `and on (${serverLabels}) minecraft_up == 1`
const lagging = `(${tickRateRatioOfRunning()}) < ${laggingBelow}`
const isHung = `${hung()} ${isUp}`

/** One cause raises one alert: what a worse alert of the same server explains is excluded in the expressions. */
export const alerts: readonly Alert[] = [
  {
    name: 'TickwardenDown',
    severity: 'critical',
    expr: [
      `(${tickwarden}) == 0`,
      // Each probe is a target of its own, and one may fail alone: all of a job together mean that nobody answers.
      `label_replace(max by (job) (${probed}) == 0, "instance", "/probe", "", "")`,
      `absent(${tickwarden} or ${probed})`,
    ].join('\nor\n'),
    for: '2m',
    summary: 'Tickwarden is down, and nothing is known of the servers that it watches',
    description:
      'Prometheus has not been able to scrape Tickwarden{{ if $labels.instance }} ({{ $labels.instance }}){{ end }} for 2 minutes: no other alert of it can fire.',
    action:
      'Is the process running, and does /healthz answer? Its log says why it stopped. The error of the scrape is on the page Status > Targets of Prometheus.',
  },
  {
    name: 'TickwardenStale',
    severity: 'critical',
    expr: `(time() - minecraft_last_poll_timestamp_seconds) > on (job, instance) group_left () 5 * tickwarden_poll_interval_seconds unless on (${serverLabels}) minecraft_up == 0`,
    for: '1m',
    summary: `Tickwarden no longer polls ${server}`,
    description: `The last poll of ${server} ended {{ $value | humanizeDuration }} ago, more than five poll intervals: what is shown of it may be out of date.`,
    action: 'Look at the log of Tickwarden and at its CPU time; restart it if it does not recover.',
  },
  {
    name: 'ServerDown',
    severity: 'critical',
    // While the world is upgraded nobody can join, but nothing is wrong; a server that is asleep starts when a player joins.
    expr: `minecraft_up == 0 unless on (${serverLabels}) (minecraft_asleep == 1 or minecraft_world_upgrade_progress)`,
    for: '2m',
    summary: `${server} is down`,
    description: `No source of ${server} has answered for 2 minutes.`,
    action: `See the last error: ${lastError}. refused: the server is not running, or the port is wrong; timeout: a firewall, or a machine that hangs; dns: the name. Then read the server log.`,
  },
  {
    name: 'ServerHung',
    severity: 'critical',
    expr: isHung,
    for: '2m',
    summary: `${server} hangs`,
    description: `${server} accepts connections, but its main thread has not answered for 2 minutes: players on it cannot do anything.`,
    action:
      'Take a thread dump (jstack) of the server process for a later look at the cause, then restart the server. The watchdog of the server does so by itself after max-tick-time (server.properties).',
  },
  {
    name: 'ServerLagging',
    severity: 'warning',
    expr: lagging,
    for: '2m',
    summary: `${server} ticks too slowly`,
    description: `${server} has reached only {{ $value | humanizePercentage }} of its target tick rate for 2 minutes.`,
    action:
      'Compare tick time p50 and p99 on the Server dashboard: if all are high there is too much work (entities, farms, view distance), if only p99 is high there are spikes (saving, chunk generation, garbage collection). A profiler such as spark shows the cause.',
  },
  {
    name: 'TickTimeHigh',
    severity: 'warning',
    expr: [
      `${tickTimeRatio('p95')} > ${littleHeadroomAbove}`,
      `unless on (${serverLabels}) (${lagging})`,
      `unless on (${serverLabels}) (${isHung})`,
      `unless on (${serverLabels}) minecraft_tick_sprinting == 1`,
    ].join('\n'),
    for: '5m',
    summary: `${server} has little headroom`,
    description: `5 % of the ticks of ${server} take more than {{ $value | humanizePercentage }} of the time that there is for a tick (50 ms at 20 ticks per second).`,
    action:
      'The server still keeps up, but may not for long: lower the view and simulation distance, look for lag machines, or give it a faster core before players notice.',
  },
  {
    name: 'ServerFull',
    severity: 'info',
    expr: 'minecraft_players_online >= minecraft_players_max and minecraft_players_max > 0',
    for: '5m',
    summary: `${server} is full`,
    description: `{{ $value }} players have been on ${server} for 5 minutes, as many as it lets in.`,
    action: 'Raise max-players if the tick time allows it, or send players to another server.',
  },
  {
    name: 'SourceFailing',
    severity: 'warning',
    expr: `minecraft_source_up == 0 ${isUp} unless on (${serverLabels}) (${hung()})`,
    for: '10m',
    summary: `{{ $labels.source }} of ${server} fails`,
    description: `${server} is up, but its source {{ $labels.source }} has failed for 10 minutes, so what only that source reads is unknown.`,
    action: `Its error is at ${lastError}. auth: the password or secret differs from server.properties; refused: it is not enabled there, or the port is wrong.`,
  },
  {
    name: 'DiscoveryFailing',
    severity: 'warning',
    expr: 'tickwarden_discovery_up == 0 or tickwarden_discovery_refused_servers > 0',
    for: '5m',
    summary: 'Servers of {{ $labels.provider }} may not be watched',
    description:
      'A list of servers of {{ $labels.provider }} has not been readable, or has had entries that are refused, for 5 minutes. The servers that it gave before are still watched; new ones are not.',
    action:
      'The log of the service says what is wrong with which file or URL, as does `discovery` at /api/v1/sources. Correct it; it is read again by itself.',
  },
  {
    name: 'SharedStateUnavailable',
    severity: 'warning',
    expr: 'tickwarden_replica_state_up == 0',
    for: '2m',
    summary: 'The replica {{ $labels.instance }} cannot use the shared state',
    description:
      'The replica has not been able to use the Redis or Valkey server of STATE_URL for 2 minutes. It polls the servers that it polled before; nothing is known here of the others, and no replica takes over from one that dies.',
    action:
      'The log of the replica says once what is wrong and what to do about it. Does the server run, and can the replica connect to it?',
  },
  {
    name: 'SnapshotFailing',
    severity: 'warning',
    expr: 'tickwarden_snapshot_up == 0',
    for: '10m',
    summary: 'There is no good {{ $labels.database }} snapshot',
    description:
      'The snapshot of the {{ $labels.database }} database has been missing or broken for 10 minutes. What was loaded before stays in service, if anything was.',
    action:
      '/v1/status says what is wrong with it, the log of the service in which folder it is expected. Put a good one there (older ones may be beside it as .1 to .3), or run `tickwarden update {{ $labels.database }}`.',
  },
  {
    name: 'SnapshotStale',
    severity: 'warning',
    expr: 'time() - tickwarden_snapshot_last_update_timestamp_seconds > 36 * 3600',
    for: '10m',
    summary: 'The {{ $labels.database }} data is old',
    description:
      'The {{ $labels.database }} database was last updated {{ $value | humanizeDuration }} ago; it should be updated daily.',
    action: 'See /v1/run for the last runs and /v1/status for the file, then run `tickwarden update {{ $labels.database }}`.',
  },
  {
    name: 'ScriptFailing',
    severity: 'warning',
    // Outcomes that need a person: not rate_limited, which passes by itself (data that stays old is SnapshotStale), nor
    // not_configured, a script that nobody has set up. A run that ended before the first scrape of a new service is no increase.
    expr: `(
  sum without (outcome) (increase(tickwarden_script_runs_total{outcome=~"failed|reauthorise"}[26h])) > 0
  or
  sum without (outcome) (
    tickwarden_script_runs_total{outcome=~"failed|reauthorise"} unless tickwarden_script_runs_total offset 26h
  ) > 0
)
unless on (job, instance, script) time() - tickwarden_script_last_success_timestamp_seconds < 26 * 3600`,
    for: '5m',
    summary: 'The update script {{ $labels.script }} fails',
    description: '{{ $labels.script }} has failed in the last 26 hours, and has not succeeded once.',
    action:
      'GET /v1/run shows its last outcome and error; `tickwarden update {{ $labels.script }}` shows it as it happens. reauthorise: access was withdrawn, `tickwarden authorise` gets it again.',
  },
  {
    name: 'ScriptAuthorisationExpiring',
    severity: 'warning',
    expr: 'tickwarden_script_authorisation_expires_timestamp_seconds - time() < 14 * 86400',
    for: '5m',
    summary: '{{ $labels.script }} soon needs a new authorisation',
    description:
      'The access that {{ $labels.script }} uses {{ if gt $value 0.0 }}ends in {{ $value | humanizeDuration }}{{ else }}has ended{{ end }}.',
    action:
      'Run `tickwarden authorise spotify`, then restart the service if its setting has changed. Spotify ends each access six months after it was given.',
  },
]
