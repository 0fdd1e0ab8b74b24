import { alerts } from './alerts.ts'
import { dashboard, row, selected, serverVariables, topVariable } from './dashboard.ts'
import { valueMap } from './panels/panel.ts'
import { stat } from './panels/stat.ts'
import { labelTable, table } from './panels/table.ts'
import { timeline } from './panels/timeline.ts'
import { timeseries } from './panels/timeseries.ts'
import {
  attention,
  downOnPurpose,
  failingSources,
  isDown,
  isLost,
  type ServerLabel,
  serverLabels,
  state,
  states,
  tickingOffTarget,
  tickRateRatio,
  tickRateRatioOfRunning,
  tickTimeRatio,
} from './promql.ts'
import { rulesLoaded } from './recording-rules.ts'

const chosen = `server=~${selected('server')}`
/**
 * The chosen servers by their label `server`, and targets of /probe that have none by their instance: two of them are never taken for one.
 * @param query one value per server @param labels further labels to keep
 */
const byServer = (query: (selector: string, by: ServerLabel) => string, ...labels: readonly string[]) =>
  `max by (${['server', ...labels].join(', ')}) (${query(`{${chosen},server!=""}`, 'server')} or label_replace(${query(`{${chosen},server=""}`, 'instance')}, "server", "$1", "instance", "(.+)"))`
/** Those of the chosen servers that are in the chosen groups, or only probed: those have no group. */
const inGroups = (expr: string) => `(${expr}) unless on (server) minecraft_server_info{group!~${selected('group')}}`
/** An expression about the series that a selector chooses. */
type ExprOf = (selector: string) => string
/** One value per chosen server. */
const each = (exprOf: ExprOf, ...labels: readonly string[]) =>
  inGroups(byServer((selector, by) => `max by (${[by, ...labels].join(', ')}) (${exprOf(selector)})`, ...labels))
const series =
  (name: string): ExprOf =>
  (selector) =>
    name + selector
/** The lines of a panel: those of the servers with the highest (or lowest) values in the time range, the same at every time. */
const top = (exprOf: ExprOf, rankOf: ExprOf, select: 'topk' | 'bottomk' = 'topk') =>
  `${each(exprOf)} and on (server) ${select}($top, ${each(rankOf)})`
const inRange = '[$__range] @ end()'
const stateTexts = valueMap(Object.fromEntries(states.map(({ value, text, colour }) => [value, [text, colour]])))
const firing = inGroups(
  `ALERTS{alertstate="firing",alertname=~"${alerts.map(({ name }) => name).join('|')}",server=~${selected('server', '|')}}`,
)
const players = series('minecraft_players_online')
const mostPlayers = top(players, (selector) => `max_over_time(${players(selector)}${inRange})`)
const rateSteps = [{ colour: 'red' }, { from: 0.9, colour: 'yellow' }, { from: 0.98, colour: 'green' }] as const
const timeSteps = [{ colour: 'green' }, { from: 0.8, colour: 'yellow' }, { from: 1, colour: 'red' }] as const

/** Every server at a glance. */
export const fleet = () =>
  dashboard({
    uid: 'tickwarden-fleet',
    title: 'Tickwarden / Fleet',
    description: 'All watched Minecraft servers at a glance: state, players, tick rate, and which server needs attention first.',
    variables: [...serverVariables({ many: true }), topVariable],
    panels: [
      stat('Servers up', 'Servers that the last poll reached.', { up: `sum(${each(series('minecraft_up'))})` }, { width: 3 }),
      stat(
        'Servers down',
        'Servers that the last poll could not reach, except those that are asleep, upgrade their world or are in maintenance.',
        { down: `sum(${inGroups(byServer(isDown))})` },
        { thresholds: [{ colour: 'green' }, { from: 1, colour: 'red' }], width: 3 },
      ),
      stat(
        'Servers unknown',
        'Servers that were watched within the time range and whose state is unknown now, because Prometheus cannot scrape Tickwarden or its probe, or because Tickwarden does not know it; with replicas, also those that no replica reports, whatever servers and groups are selected.',
        {
          unknown: `count((${byServer(isLost)}) unless on (server) max_over_time(minecraft_server_info{group!~${selected('group')}}[$__range:$__interval])) or 0 * count(minecraft_up{${chosen}})`,
          // Those that one replica does not know may be reported by another.
          'reported by no replica': 'sum(min by (job) (tickwarden_replica_unknown_servers)) > 0',
        },
        { thresholds: [{ colour: 'green' }, { from: 1, colour: 'red' }], width: 3 },
      ),
      stat('Players online', 'Players on all selected servers.', { players: `sum(${each(players)})` }, { width: 3 }),
      stat(
        'Slowest tick rate',
        'The lowest tick rate relative to its target, except for paused, frozen, sprinting and hung servers. Requires a source of the tick rate, such as RCON.',
        { slowest: `min(${each(tickRateRatioOfRunning)})` },
        { unit: 'percentunit', decimals: 0, thresholds: rateSteps },
      ),
      stat(
        'Longest p99 tick time',
        'The highest 99th percentile of the tick time relative to the time available per tick (50 ms at 20 ticks per second), except for paused, frozen and sprinting servers.',
        {
          longest: `max(${each((selector) => `${tickTimeRatio('p99', selector)} unless on (${serverLabels}) ${tickingOffTarget(selector)}`)})`,
        },
        { unit: 'percentunit', decimals: 0, thresholds: timeSteps },
      ),
      stat(
        'Sources failing',
        'Failing sources (RCON, management protocol ...) of servers that are up.',
        { failing: `sum(${inGroups(byServer(failingSources))})` },
        { thresholds: [{ colour: 'green' }, { from: 1, colour: 'orange' }] },
      ),
      table({
        title: 'Servers by attention needed',
        description:
          'The current state of each server. Servers that are down or hung come first, then slow servers and servers with failing sources. Click a name to open the dashboard of that server.',
        by: 'server',
        byTitle: 'Server',
        sortBy: 'Attention',
        columns: [
          {
            title: 'Attention',
            expr: inGroups(byServer(attention)),
            decimals: 1,
            thresholds: [{ colour: 'green' }, { from: 1, colour: 'orange' }, { from: 100, colour: 'red' }],
          },
          {
            title: 'State',
            expr: inGroups(byServer(state)),
            mappings: [stateTexts],
            thresholds: [{ colour: 'text' }],
          },
          {
            title: 'Available',
            // Only of servers that are watched now, and without the time in which they were down on purpose or in maintenance.
            expr: `avg_over_time((${each((selector) => `minecraft_up${selector} unless on (${serverLabels}) ${downOnPurpose(selector)}`)})[$__range:$__interval]) and on (server) ${each(series('minecraft_up'))}`,
            unit: 'percentunit',
            decimals: 2,
            thresholds: [{ colour: 'red' }, { from: 0.99, colour: 'yellow' }, { from: 0.999, colour: 'green' }],
          },
          { title: 'Players', expr: each(players) },
          { title: 'Places', expr: each(series('minecraft_players_max')) },
          { title: 'Tick rate', expr: each(series('minecraft_tick_rate')), decimals: 1 },
          {
            title: 'Of target',
            expr: each(tickRateRatio),
            unit: 'percentunit',
            decimals: 0,
            thresholds: rateSteps,
          },
          {
            title: 'Tick time p99',
            expr: each(series('minecraft_tick_duration_p99_seconds')),
            unit: 's',
          },
          {
            title: 'Tick budget used',
            expr: each((selector) => tickTimeRatio('p99', selector)),
            unit: 'percentunit',
            decimals: 0,
            thresholds: timeSteps,
          },
          {
            title: 'Failing sources',
            expr: inGroups(byServer(failingSources)),
            thresholds: [{ colour: 'green' }, { from: 1, colour: 'orange' }],
          },
          { title: 'Latency', expr: each(series('minecraft_status_latency_seconds')), unit: 's' },
        ],
        link: {
          title: 'This server',
          url:
            '/d/tickwarden-server?var-server=$' +
            '{__value.raw:percentencode}&$' +
            '{datasource:queryparam}&$' +
            '{__url_time_range}',
        },
        height: 10,
      }),
      timeline(
        'State',
        'The state over time of the servers that were down the longest, with gaps where it is unknown.',
        {
          '{{server}}': `${inGroups(byServer(state))} and on (server) topk($top, 1 - ${each((selector) => `avg_over_time(minecraft_up${selector}${inRange})`)})`,
        },
        { mappings: [stateTexts] },
      ),
      stat(
        'Alerts firing',
        'Firing alerts of Tickwarden and of the selected servers. Needs the rules in grafana/alerts.',
        { firing: `count(${firing}) or 0 * ${rulesLoaded.name}` },
        { thresholds: [{ colour: 'green' }, { from: 1, colour: 'red' }], whenUnknown: 'load grafana/alerts', height: 8 },
      ),
      labelTable({
        title: 'Firing alerts',
        description: 'Firing alerts of Tickwarden and of the selected servers. Needs the rules in grafana/alerts.',
        expr: firing,
        labels: {
          ...{ severity: 'Severity', alertname: 'Alert', server: 'Server', target: 'Target', source: 'Source' },
          ...{ job: 'Job', instance: 'Instance' },
        },
        whenEmpty: 'No firing alerts, or the rules in grafana/alerts are not loaded.',
        width: 10,
      }),
      labelTable({
        title: 'Versions',
        description: 'Version and software of each server, while it is up.',
        expr: each(series('minecraft_version_info'), 'version', 'software', 'loader', 'edition'),
        labels: { server: 'Server', version: 'Version', software: 'Software', loader: 'Loader', edition: 'Edition' },
        width: 10,
      }),
      row('Players and ticks'),
      timeseries(
        'Players',
        'Players on the servers with the most players, and on all others together.',
        { '{{server}}': mostPlayers, 'all others': `sum(${each(players)}) - sum(${mostPlayers}) > 0` },
        { stacked: true },
      ),
      timeseries(
        'Tick rate',
        'Measured ticks per second of the slowest servers: 20 is full speed, unless /tick rate changed it. Unknown while a server is paused.',
        {
          '{{server}}': top(
            series('minecraft_tick_rate'),
            (selector) => `min_over_time(minecraft_tick_rate${selector}${inRange})`,
            'bottomk',
          ),
        },
        { decimals: 1 },
      ),
      timeseries(
        'Tick time, p99',
        '99th percentile of the last 100 ticks, relative to the time available per tick (50 ms at 20 ticks per second). Above 100 % the server falls behind.',
        {
          '{{server}}': top(
            (selector) => tickTimeRatio('p99', selector),
            (selector) => `max_over_time(minecraft_tick_duration_p99_seconds${selector}${inRange})`,
          ),
        },
        { unit: 'percentunit', line: true, thresholds: [{ colour: 'green' }, { from: 1, colour: 'red' }] },
      ),
      timeseries(
        'Latency',
        'Round-trip time of the status ping. It depends on the network and the server’s network thread, not on its ticks.',
        {
          '{{server}}': top(
            series('minecraft_status_latency_seconds'),
            (selector) => `max_over_time(minecraft_status_latency_seconds${selector}${inRange})`,
          ),
        },
        { unit: 's' },
      ),
    ],
  })
