import { type Alert, serverDashboard } from './alert.ts'
import { burnRateAlerts } from './availability.ts'
import { config } from './config.ts'
import {
  downOnPurpose,
  perServer as eachServer,
  hung,
  maintained,
  ofUnknown,
  serverLabels,
  tickingOffTarget,
  tickRateRatio,
  tickTimeRatio,
} from './promql.ts'
import { probedJobs, recordedTickRateRatio } from './recording-rules.ts'

const { availability, job, selector, thresholds } = config

const server = '{{ or $labels.server $labels.target }}'
const internalsDashboard = '/d/tickwarden-internals'
/** Path that shows the last error of a server: by its name on /metrics, else by the target of /probe. */
const lastError =
  '{{ if $labels.server }}/api/v1/servers/{{ $labels.server | urlquery | reReplaceAll `[+]` `%20` }}/sources{{ else }}/probe?target={{ $labels.target | urlquery }}&debug=true{{ end }}'

/** Scrape targets that have been Tickwarden's /metrics, or are by the name of their job. */
const tickwarden = `up and on (job, instance) last_over_time(tickwarden_build_info[7d]) or up{job="${job}"}`
/** Targets of the jobs that scrape Tickwarden's /probe, one target for each server. */
const probed = `up and on (job) last_over_time(${probedJobs.name}[7d])`

/**
 * Servers that are no longer polled. At the time of the scrape: until the next one, which may be a minute later, nothing newer is known.
 * A poll itself may take a minute, the maximum of POLL_TIMEOUT.
 */
const overdue = `timestamp(minecraft_last_poll_timestamp_seconds${selector}) - minecraft_last_poll_timestamp_seconds${selector} > on (job, instance) group_left () 60 + 5 * tickwarden_poll_interval_seconds`
const isUp = `and on (${serverLabels}) minecraft_up${selector} == 1`
const lagging = `(${tickRateRatio(selector)} < ${thresholds.laggingBelow}) unless on (${serverLabels}) ${tickingOffTarget(selector)} unless on (${serverLabels}) (${hung(selector)})`
const isHung = `${hung(selector)} ${isUp}`
const isFull = `minecraft_players_online${selector} >= minecraft_players_max${selector} and minecraft_players_max${selector} > 0`

/** One series per server that is not in maintenance. */
const perServer = (expr: string, labels?: readonly string[]): string =>
  eachServer(`(${expr}) unless on (${serverLabels}) ${maintained(selector)}`, labels)

/**
 * How long an alert keeps firing once its expression is no longer true. Longer than TickwardenDown takes to fire, so that no alert
 * is reported as resolved because Tickwarden restarts or fails, or because another replica takes over.
 */
export const keepFiringFor = '3m'

/** One cause raises one alert: the expressions exclude what a more severe alert of the same server explains. */
export const alerts: readonly Alert[] = [
  {
    name: 'TickwardenDown',
    severity: 'critical',
    dashboard: internalsDashboard,
    expr: [
      // A replica that fails, or a probe of one server, is not the whole service: all targets of a job must fail.
      `max by (job) (${tickwarden} or ${probed}) == 0`,
      `absent(${tickwarden} or ${probed})`,
    ].join('\nor\n'),
    for: '2m',
    resolvesAtOnce: true,
    summary: 'Tickwarden is down, and the state of its servers is unknown',
    description:
      'Prometheus has not been able to scrape Tickwarden{{ if $labels.job }} (job {{ $labels.job }}){{ end }} for 2 minutes. No other Tickwarden alert can fire until it is back.',
    action:
      'Check that the process is running and that /healthz answers. The log shows why it stopped. Prometheus shows the scrape error under Status > Target health.',
  },
  {
    name: 'ReplicaDown',
    severity: 'warning',
    dashboard: internalsDashboard,
    expr: `(${tickwarden}) == 0 and on (job) max by (job) (${tickwarden}) == 1`,
    for: '2m',
    resolvesAtOnce: true,
    summary: 'The replica {{ $labels.instance }} is down',
    description:
      'Prometheus has not been able to scrape the replica {{ $labels.instance }} for 2 minutes. The other replicas take over its servers; ReplicaServersUnknown fires if they cannot.',
    action:
      'Check that the process is running and that /healthz answers. If it watches other servers than the rest of its job, no replica has taken them over: give it a separate job in Prometheus, so that TickwardenDown fires for it.',
  },
  {
    name: 'ProbeFailing',
    severity: 'critical',
    dashboard: serverDashboard,
    // A job that scraped /probe until recently, or also has the series of another exporter, may scrape /metrics: see ReplicaDown.
    expr: eachServer(
      `(${probed}) == 0 unless on (job, instance) last_over_time(tickwarden_build_info[7d]) and on (job) max by (job) (${probed}) == 1`,
    ),
    for: '2m',
    resolvesAtOnce: true,
    summary: `The state of ${server} is unknown: its probe fails`,
    description: `Prometheus has not been able to scrape /probe for ${server} for 2 minutes, although it can for other servers. No other alert of this server can fire.`,
    action:
      'Prometheus shows the error under Status > Target health. 400 or 403: the target is not valid, or PROBE_ALLOW does not cover it; 429 or 503: there are more probes than CLIENT_PROBES or PROBE_CONCURRENCY allow; deadline exceeded: raise scrape_timeout.',
  },
  {
    name: 'TickwardenStale',
    severity: 'critical',
    dashboard: serverDashboard,
    expr: eachServer(`${overdue} unless on (${serverLabels}) minecraft_up${selector} == 0`),
    for: '30s',
    summary: `Tickwarden no longer polls ${server}`,
    description: `The last poll of ${server} ended {{ $value | humanizeDuration }} ago, more than five poll intervals and a minute. Its values may be out of date.`,
    action:
      'Check the log and the CPU usage of Tickwarden, and that its clock agrees with that of Prometheus; restart it if it does not recover.',
  },
  {
    name: 'ServersUnknown',
    severity: 'critical',
    dashboard: internalsDashboard,
    // Not by instance: a job of /probe has as many as servers. TickwardenStale reports the servers that are no longer polled.
    expr: `count by (job) (max by (${serverLabels}) (${ofUnknown(selector)}) == 0 unless on (${serverLabels}) (${overdue}))`,
    for: '2m',
    summary: 'Tickwarden cannot ask some servers',
    description:
      'For 2 minutes, the state of {{ $value }} servers of the job {{ $labels.job }} has been unknown, because Tickwarden cannot ask them. No other alert of these servers can fire.',
    action:
      'The error is `exhausted` at /api/v1/servers/{name}/sources: the process has no free file descriptors, or the machine no memory. Raise the limit of open files (`ulimit -n`, LimitNOFILE of systemd) or free memory.',
  },
  {
    name: 'ServerDown',
    severity: 'critical',
    dashboard: serverDashboard,
    expr: eachServer(`minecraft_up${selector} == 0 unless on (${serverLabels}) ${downOnPurpose(selector)}`),
    for: '2m',
    summary: `${server} is down`,
    description: `No source of ${server} has answered for 2 minutes.`,
    action: `The last error is at ${lastError}. refused: the server is not running or the port is wrong; timeout: a firewall drops the packets or the machine hangs; dns: the host name does not resolve. Then check the server log.`,
  },
  {
    name: 'ServerUnstable',
    severity: 'warning',
    dashboard: serverDashboard,
    // A server behind a proxy that stops and starts it as players come and go is not unstable. Nor is one that was restarted in maintenance.
    expr: [
      eachServer(
        [
          `resets(minecraft_up${selector}[15m]) >= ${thresholds.outagesIn15Minutes}`,
          `unless on (${serverLabels}) minecraft_asleep${selector}`,
          `unless on (${serverLabels}) max_over_time(minecraft_maintenance${selector}[15m]) == 1`,
        ].join(' '),
      ),
      // Not one that is no longer watched; another replica may report it now.
      `and on (job, server, target) ${eachServer(`minecraft_up${selector}`)}`,
    ].join('\n'),
    for: '0m',
    summary: `${server} goes down again and again`,
    description: `${server} has gone down {{ $value }} times within 15 minutes.`,
    action: `It may crash at the start and be restarted, or lose its network. The end of its log and its crash-reports folder show why it stopped; the last error of a poll is at ${lastError}.`,
  },
  {
    name: 'ServerHung',
    severity: 'critical',
    dashboard: serverDashboard,
    expr: perServer(isHung),
    for: '2m',
    summary: `${server} is hung`,
    description: `${server} accepts connections, but its main thread has not responded for 2 minutes. Players cannot do anything.`,
    action:
      'Save a thread dump (jstack) of the server process to find the cause later, then restart the server. The watchdog of the server stops it after max-tick-time (server.properties).',
  },
  {
    name: 'ServerLagging',
    severity: 'warning',
    dashboard: serverDashboard,
    expr: perServer(lagging),
    for: '2m',
    summary: `${server} ticks too slowly`,
    description: `${server} has reached only {{ $value | humanizePercentage }} of its target tick rate for 2 minutes.`,
    action:
      'Compare the tick times p50 and p99 on the Server dashboard. If both are high, every tick has too much work (entities, farms, view distance); if only p99 is high, single ticks have spikes (saving, chunk generation, garbage collection). A profiler such as spark shows the cause.',
  },
  {
    name: 'TickTimeHigh',
    severity: 'warning',
    dashboard: serverDashboard,
    expr: [
      perServer(
        [
          `(${tickTimeRatio('p95', selector)} > ${thresholds.littleHeadroomAbove})`,
          `unless on (${serverLabels}) (${hung(selector)})`,
          // A paused server keeps the tick times from before the pause.
          `unless on (${serverLabels}) ${tickingOffTarget(selector)}`,
        ].join('\n'),
      ),
      // ServerLagging says more. The recorded ratio, because the other one would take a third of the time of this rule.
      `unless on (job, server, target) ${recordedTickRateRatio.name} < ${thresholds.laggingBelow}`,
    ].join('\n'),
    for: '5m',
    summary: `${server} has little headroom`,
    description: `5 % of the ticks of ${server} take more than {{ $value | humanizePercentage }} of the time available per tick (50 ms at 20 ticks per second).`,
    action:
      'Up to 100 %, the server keeps up, but has little reserve; above, it lags during such ticks. Lower the view and simulation distance, find lag machines, or use a faster CPU before players notice.',
  },
  {
    name: 'ServerFull',
    severity: 'info',
    dashboard: serverDashboard,
    expr: perServer(isFull),
    for: '5m',
    summary: `${server} is full`,
    description: `{{ $value }} players have been on ${server} for 5 minutes, which is its maximum.`,
    action: 'Raise max-players if the tick time allows it, or send players to another server.',
  },
  {
    name: 'SourceFailing',
    severity: 'warning',
    dashboard: serverDashboard,
    expr: perServer(`minecraft_source_up${selector} == 0 ${isUp} unless on (${serverLabels}) (${hung(selector)})`, ['source']),
    for: '10m',
    summary: `Source {{ $labels.source }} of ${server} fails`,
    description: `${server} is up, but its source {{ $labels.source }} has failed for 10 minutes. Values that only this source provides are unknown.`,
    action: `The error is at ${lastError}. auth: the password or secret differs from server.properties; refused: it is not enabled in server.properties, or the port is wrong.`,
  },
  ...burnRateAlerts(availability),
  {
    name: 'DiscoveryFailing',
    severity: 'warning',
    dashboard: internalsDashboard,
    expr: 'tickwarden_discovery_up == 0 or tickwarden_discovery_refused_servers > 0',
    for: '5m',
    summary: 'Some servers of {{ $labels.provider }} may not be watched',
    description:
      'For 5 minutes, a server list of {{ $labels.provider }} has not been readable or has had invalid entries. Servers from the last successful read are still watched; new ones are not.',
    action:
      'The log of the service and `discovery` at /api/v1/sources show what is wrong with which file or URL. Fix it; the service reads it again without a restart.',
  },
  {
    name: 'NotificationsFailing',
    severity: 'warning',
    dashboard: internalsDashboard,
    expr: 'sum without (outcome) (increase(tickwarden_notifications_total{outcome=~"failed|dropped"}[1h])) > 0 or tickwarden_notification_channel_up == 0',
    for: '10m',
    summary: 'Notifications cannot be sent to {{ $labels.channel }}',
    description:
      'For 10 minutes, the last attempt to send a notification through the channel {{ $labels.channel }} has failed, or notifications were given up in the last hour.',
    action:
      'The log of the service shows why. `tickwarden notify --test {{ $labels.channel }}` sends a sample. A notification is tried again for 24 hours unless it is refused.',
  },
  {
    name: 'SharedStateUnavailable',
    severity: 'warning',
    dashboard: internalsDashboard,
    expr: 'tickwarden_replica_state_up == 0',
    for: '2m',
    summary: 'The replica {{ $labels.instance }} cannot use the shared state',
    description:
      'The replica has not been able to use the Redis or Valkey server of STATE_URL for 2 minutes. Unless STATE_FAIL_OPEN is false, it polls every server that would become unknown to it, so the game servers are polled once by each such replica.',
    action:
      'The log of the replica shows the error and what to do about it. Check that the Redis or Valkey server is running and that the replica can connect to it.',
  },
  {
    name: 'ReplicaServersUnknown',
    severity: 'critical',
    dashboard: internalsDashboard,
    // A replica that cannot use the shared state matters only if no other one knows all servers: none takes over with STATE_FAIL_OPEN=false.
    expr: 'tickwarden_replica_unknown_servers > 0 unless on (job, instance) (tickwarden_replica_state_up == 0 and on (job) min by (job) (tickwarden_replica_unknown_servers) == 0)',
    for: '2m',
    summary: 'The state of some servers is unknown to a replica',
    description:
      'The state of {{ $value }} servers has been unknown to the replica {{ $labels.instance }} for 2 minutes: it has received nothing about them, or only old values. If no replica knows more, no other alert of these servers can fire.',
    action:
      'Check the log and the CPU usage of every replica, and restart one that hangs or is overloaded: the others take over its servers. Then check how long Redis takes to reply, or why it is unavailable (SharedStateUnavailable): with STATE_FAIL_OPEN=false nothing is taken over without it. On this replica, `state` at /api/v1/servers/{name}/sources is unknown for the servers concerned.',
  },
  {
    name: 'SnapshotFailing',
    severity: 'warning',
    dashboard: internalsDashboard,
    expr: 'tickwarden_snapshot_up == 0',
    for: '10m',
    summary: 'The {{ $labels.database }} database has no valid snapshot',
    description:
      'The snapshot of the {{ $labels.database }} database has been missing or broken for 10 minutes. A previously loaded snapshot stays in use.',
    action:
      '/v1/status shows what is wrong with it, and the log of the service names the expected folder. Put a valid snapshot there (there may be older ones with the suffixes .1 to .3), or run `tickwarden update {{ $labels.database }}`. If you do not use the databases, set HISTORY_DIR to that folder instead of DATA_DIR.',
  },
  {
    name: 'SnapshotStale',
    severity: 'warning',
    dashboard: internalsDashboard,
    expr: 'time() - tickwarden_snapshot_last_update_timestamp_seconds > 36 * 3600',
    for: '10m',
    summary: 'The {{ $labels.database }} data is old',
    description:
      'The {{ $labels.database }} database was last updated {{ $value | humanizeDuration }} ago; it should be updated daily.',
    action: '/v1/run shows the last runs and /v1/status the file. Then run `tickwarden update {{ $labels.database }}`.',
  },
  {
    name: 'ScriptFailing',
    severity: 'warning',
    dashboard: internalsDashboard,
    // Only outcomes that need attention: not rate_limited, which is temporary (SnapshotStale covers old data), nor
    // not_configured, a script without its settings. The second part covers runs before the first scrape of a new service, which
    // are not an increase. The last success of a Tickwarden that is down or was replaced is unknown, although its runs still are an
    // increase.
    expr: `(
  sum without (outcome) (increase(tickwarden_script_runs_total{outcome=~"failed|reauthorise"}[26h])) > 0
  or
  sum without (outcome) (
    tickwarden_script_runs_total{outcome=~"failed|reauthorise"} unless tickwarden_script_runs_total offset 26h
  ) > 0
)
and on (job, instance, script) tickwarden_script_runs_total
unless on (job, instance, script) time() - tickwarden_script_last_success_timestamp_seconds < 26 * 3600`,
    for: '5m',
    summary: 'The update script {{ $labels.script }} fails',
    description: '{{ $labels.script }} has failed in the last 26 hours, and has not succeeded once.',
    action:
      'GET /v1/run shows its last outcome and error; `tickwarden update {{ $labels.script }}` shows a run live. reauthorise: access was revoked; `tickwarden authorise` grants it again.',
  },
  {
    name: 'ScriptAuthorisationExpiring',
    severity: 'warning',
    dashboard: internalsDashboard,
    expr: 'tickwarden_script_authorisation_expires_timestamp_seconds - time() < 14 * 86400',
    for: '5m',
    summary: '{{ $labels.script }} needs a new authorisation soon',
    description:
      'The authorisation of {{ $labels.script }} {{ if gt $value 0.0 }}expires in {{ $value | humanizeDuration }}{{ else }}has expired{{ end }}.',
    action:
      'Run `tickwarden authorise spotify`, then restart the service if its setting has changed. Spotify authorisations expire after six months.',
  },
]
