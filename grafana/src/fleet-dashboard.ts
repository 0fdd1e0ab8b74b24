import { alerts } from './alerts.ts'
import { dashboard, row, serverVariables, topVariable } from './dashboard.ts'
import { valueMap } from './panels/panel.ts'
import { stat } from './panels/stat.ts'
import { labelTable, table } from './panels/table.ts'
import { timeline } from './panels/timeline.ts'
import { timeseries } from './panels/timeseries.ts'
import {
  attention,
  downOnPurpose,
  failingSources,
  serverLabels,
  serversDown,
  state,
  states,
  tickingOffTarget,
  tickRateRatio,
  tickRateRatioOfRunning,
  tickTimeRatio,
} from './promql.ts'
import { rulesLoaded } from './recording-rules.ts'

const chosen = '{server=~"$server"}'
/** The series of the chosen servers that are in the chosen groups, or only probed: those have no group. */
const inGroups = (expr: string) => `(${expr}) unless on (server) minecraft_server_info{group!~"$group"}`
/** One value per chosen server. */
const each = (expr: string) => inGroups(`max by (server) (${expr})`)
/** The lines of a panel: those of the servers with the highest (or lowest) values in the time range, the same at every time. */
const top = (expr: string, rank: string, select: 'topk' | 'bottomk' = 'topk') =>
  `${each(expr)} and on (server) ${select}($top, ${each(rank)})`
const inRange = '[$__range] @ end()'
const stateTexts = valueMap(Object.fromEntries(states.map(({ value, text, colour }) => [value, [text, colour]])))
const firing = `ALERTS{alertstate="firing",alertname=~"${alerts.map(({ name }) => name).join('|')}",server=~"$server|"}`
const players = `minecraft_players_online${chosen}`
const mostPlayers = top(players, `max_over_time(${players}${inRange})`)
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
      stat('Servers up', 'Servers that the last poll reached.', { up: `sum(${each(`minecraft_up${chosen}`)})` }),
      stat(
        'Servers down',
        'Servers that the last poll could not reach, except those that are asleep or upgrading their world.',
        { down: serversDown(inGroups, chosen) },
        { thresholds: [{ colour: 'green' }, { from: 1, colour: 'red' }] },
      ),
      stat('Players online', 'Players on all selected servers.', {
        players: `sum(${each(`minecraft_players_online${chosen}`)})`,
      }),
      stat(
        'Slowest tick rate',
        'The lowest tick rate relative to its target, except for paused, frozen, sprinting and hung servers. Requires a source of the tick rate, such as RCON.',
        { slowest: `min(${each(tickRateRatioOfRunning(chosen))})` },
        { unit: 'percentunit', decimals: 0, thresholds: rateSteps },
      ),
      stat(
        'Longest p99 tick time',
        'The highest 99th percentile of the tick time relative to the time available per tick (50 ms at 20 ticks per second), except for paused, frozen and sprinting servers.',
        { longest: `max(${each(`${tickTimeRatio('p99', chosen)} unless on (${serverLabels}) ${tickingOffTarget(chosen)}`)})` },
        { unit: 'percentunit', decimals: 0, thresholds: timeSteps },
      ),
      stat(
        'Sources failing',
        'Failing sources (RCON, management protocol ...) of servers that are up.',
        { failing: `sum(${inGroups(failingSources(chosen))})` },
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
            expr: inGroups(attention(chosen)),
            decimals: 1,
            thresholds: [{ colour: 'green' }, { from: 1, colour: 'orange' }, { from: 100, colour: 'red' }],
          },
          {
            title: 'State',
            expr: inGroups(state(chosen)),
            mappings: [stateTexts],
            thresholds: [{ colour: 'text' }],
          },
          {
            title: 'Available',
            // Only of servers that are watched now, and without the time in which they were down on purpose.
            expr: `avg_over_time((${each(`minecraft_up${chosen} unless on (${serverLabels}) ${downOnPurpose(chosen)}`)})[$__range:$__interval]) and on (server) minecraft_up`,
            unit: 'percentunit',
            decimals: 2,
            thresholds: [{ colour: 'red' }, { from: 0.99, colour: 'yellow' }, { from: 0.999, colour: 'green' }],
          },
          { title: 'Players', expr: each(`minecraft_players_online${chosen}`) },
          { title: 'Places', expr: each(`minecraft_players_max${chosen}`) },
          { title: 'Tick rate', expr: each(`minecraft_tick_rate${chosen}`), decimals: 1 },
          {
            title: 'Of target',
            expr: each(tickRateRatio(chosen)),
            unit: 'percentunit',
            decimals: 0,
            thresholds: rateSteps,
          },
          {
            title: 'Tick time p99',
            expr: each(`minecraft_tick_duration_p99_seconds${chosen}`),
            unit: 's',
          },
          {
            title: 'Tick budget used',
            expr: each(tickTimeRatio('p99', chosen)),
            unit: 'percentunit',
            decimals: 0,
            thresholds: timeSteps,
          },
          {
            title: 'Failing sources',
            expr: inGroups(failingSources(chosen)),
            thresholds: [{ colour: 'green' }, { from: 1, colour: 'orange' }],
          },
          { title: 'Latency', expr: each(`minecraft_status_latency_seconds${chosen}`), unit: 's' },
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
          '{{server}}': `${inGroups(state(chosen))} and on (server) topk($top, 1 - ${each(`avg_over_time(minecraft_up${chosen}${inRange})`)})`,
        },
        { mappings: [stateTexts] },
      ),
      stat(
        'Alerts firing',
        'Firing alerts of Tickwarden. Needs the rules in grafana/alerts.',
        { firing: `count(${firing}) or 0 * ${rulesLoaded.name}` },
        { thresholds: [{ colour: 'green' }, { from: 1, colour: 'red' }], whenUnknown: 'load grafana/alerts', height: 8 },
      ),
      labelTable({
        title: 'Firing alerts',
        description: 'Firing alerts and their servers. Needs the rules in grafana/alerts.',
        expr: firing,
        labels: { severity: 'Severity', alertname: 'Alert', server: 'Server', source: 'Source', instance: 'Instance' },
        whenEmpty: 'No firing alerts, or the rules in grafana/alerts are not loaded.',
        width: 10,
      }),
      labelTable({
        title: 'Versions',
        description: 'Version and software of each server, while it is up.',
        expr: inGroups(`minecraft_version_info${chosen}`),
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
        { '{{server}}': top(`minecraft_tick_rate${chosen}`, `min_over_time(minecraft_tick_rate${chosen}${inRange})`, 'bottomk') },
        { decimals: 1 },
      ),
      timeseries(
        'Tick time, p99',
        '99th percentile of the last 100 ticks, relative to the time available per tick (50 ms at 20 ticks per second). Above 100 % the server falls behind.',
        {
          '{{server}}': top(
            tickTimeRatio('p99', chosen),
            `max_over_time(minecraft_tick_duration_p99_seconds${chosen}${inRange})`,
          ),
        },
        { unit: 'percentunit', line: true, thresholds: [{ colour: 'green' }, { from: 1, colour: 'red' }] },
      ),
      timeseries(
        'Latency',
        'Round-trip time of the status ping. It depends on the network and the server’s network thread, not on its ticks.',
        {
          '{{server}}': top(
            `minecraft_status_latency_seconds${chosen}`,
            `max_over_time(minecraft_status_latency_seconds${chosen}${inRange})`,
          ),
        },
        { unit: 's' },
      ),
    ],
  })
