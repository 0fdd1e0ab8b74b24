import { RowBuilder } from '@grafana/grafana-foundation-sdk/dashboard'
import { alerts } from './alerts.ts'
import { dashboard, linkToOthers } from './dashboard.ts'
import { labelTable } from './panels/label-table.ts'
import { valueMap } from './panels/panel.ts'
import { stat } from './panels/stat.ts'
import { table } from './panels/table.ts'
import { timeline } from './panels/timeline.ts'
import { timeseries } from './panels/timeseries.ts'
import { rulesLoaded } from './prometheus-rules.ts'
import {
  attention,
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
import { servicePanels, serviceRow } from './service.ts'

const chosen = '{server=~"$server"}'
const stateTexts = valueMap(Object.fromEntries(states.map(({ value, text, colour }) => [value, [text, colour]])))
const firing = `ALERTS{alertstate="firing",alertname=~"${alerts.map(({ name }) => name).join('|')}",server=~"$server|"}`
const rateSteps = [{ colour: 'red' }, { from: 0.9, colour: 'yellow' }, { from: 0.98, colour: 'green' }] as const
const timeSteps = [{ colour: 'green' }, { from: 0.8, colour: 'yellow' }, { from: 1, colour: 'red' }] as const

/** Every server at a glance. */
export const fleet = () => {
  const board = dashboard({
    uid: 'tickwarden-fleet',
    title: 'Tickwarden / Fleet',
    description: 'All watched Minecraft servers at a glance: state, players, tick rate, and which server needs attention first.',
    manyServers: true,
  })
    .link(linkToOthers('One server'))
    .withPanel(
      stat({
        title: 'Servers up',
        description: 'Servers that the last poll reached.',
        unit: 'short',
        queries: [{ expr: `sum(minecraft_up${chosen})`, legend: 'up' }],
      }),
    )
    .withPanel(
      stat({
        title: 'Servers down',
        description: 'Servers that the last poll could not reach, except those that are asleep or upgrading their world.',
        unit: 'short',
        queries: [{ expr: serversDown(chosen), legend: 'down' }],
        thresholds: [{ colour: 'green' }, { from: 1, colour: 'red' }],
      }),
    )
    .withPanel(
      stat({
        title: 'Players online',
        description: 'Players on all selected servers.',
        unit: 'short',
        queries: [{ expr: `sum(minecraft_players_online${chosen})`, legend: 'players' }],
      }),
    )
    .withPanel(
      stat({
        title: 'Slowest tick rate',
        description:
          'The lowest tick rate relative to its target, except for paused, frozen, sprinting and hung servers. Requires a source of the tick rate, such as RCON.',
        unit: 'percentunit',
        decimals: 0,
        queries: [{ expr: `min(${tickRateRatioOfRunning(chosen)})`, legend: 'slowest' }],
        thresholds: rateSteps,
      }),
    )
    .withPanel(
      stat({
        title: 'Longest p99 tick time',
        description:
          'The highest 99th percentile of the tick time relative to the time available per tick (50 ms at 20 ticks per second), except for paused, frozen and sprinting servers.',
        unit: 'percentunit',
        decimals: 0,
        queries: [
          {
            expr: `max(${tickTimeRatio('p99', chosen)} unless on (${serverLabels}) ${tickingOffTarget(chosen)})`,
            legend: 'longest',
          },
        ],
        thresholds: timeSteps,
      }),
    )
    .withPanel(
      stat({
        title: 'Sources failing',
        description: 'Failing sources (RCON, management protocol ...) of servers that are up.',
        unit: 'short',
        queries: [
          {
            expr: `sum(${failingSources(chosen)})`,
            legend: 'failing',
          },
        ],
        thresholds: [{ colour: 'green' }, { from: 1, colour: 'orange' }],
      }),
    )
    .withPanel(
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
            expr: attention(chosen),
            unit: 'short',
            decimals: 1,
            thresholds: [{ colour: 'green' }, { from: 1, colour: 'orange' }, { from: 100, colour: 'red' }],
          },
          {
            title: 'State',
            expr: state(chosen),
            unit: 'short',
            mappings: [stateTexts],
            thresholds: [{ colour: 'text' }],
          },
          {
            title: 'Available',
            expr: `avg by (server) (avg_over_time(minecraft_up${chosen}[$__range]))`,
            unit: 'percentunit',
            decimals: 2,
            thresholds: [{ colour: 'red' }, { from: 0.99, colour: 'yellow' }, { from: 0.999, colour: 'green' }],
          },
          { title: 'Players', expr: `max by (server) (minecraft_players_online${chosen})`, unit: 'short' },
          { title: 'Places', expr: `max by (server) (minecraft_players_max${chosen})`, unit: 'short' },
          { title: 'Tick rate', expr: `max by (server) (minecraft_tick_rate${chosen})`, unit: 'short', decimals: 1 },
          {
            title: 'Of target',
            expr: `max by (server) (${tickRateRatio(chosen)})`,
            unit: 'percentunit',
            decimals: 0,
            thresholds: rateSteps,
          },
          {
            title: 'Tick time p99',
            expr: `max by (server) (minecraft_tick_duration_p99_seconds${chosen})`,
            unit: 's',
          },
          {
            title: 'Tick budget used',
            expr: `max by (server) (${tickTimeRatio('p99', chosen)})`,
            unit: 'percentunit',
            decimals: 0,
            thresholds: timeSteps,
          },
          {
            title: 'Failing sources',
            expr: failingSources(chosen),
            unit: 'short',
            thresholds: [{ colour: 'green' }, { from: 1, colour: 'orange' }],
          },
          { title: 'Latency', expr: `max by (server) (minecraft_status_latency_seconds${chosen})`, unit: 's' },
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
    )
    .withPanel(
      timeline({
        title: 'State',
        description: 'The state of each server over time, with gaps where it is unknown.',
        unit: 'short',
        queries: [{ expr: state(chosen), legend: '{{server}}' }],
        mappings: [stateTexts],
      }),
    )
    .withPanel(
      stat({
        title: 'Alerts firing',
        description: 'Firing alerts of Tickwarden. Needs the rules in grafana/alerts.',
        unit: 'short',
        queries: [{ expr: `count(${firing}) or 0 * ${rulesLoaded}`, legend: 'firing' }],
        thresholds: [{ colour: 'green' }, { from: 1, colour: 'red' }],
        whenUnknown: 'load grafana/alerts',
        height: 8,
      }),
    )
    .withPanel(
      labelTable({
        title: 'Firing alerts',
        description: 'Firing alerts and their servers. Needs the rules in grafana/alerts.',
        expr: firing,
        labels: { severity: 'Severity', alertname: 'Alert', server: 'Server', source: 'Source', instance: 'Instance' },
        whenEmpty: 'No firing alerts, or the rules in grafana/alerts are not loaded.',
        width: 10,
      }),
    )
    .withPanel(
      labelTable({
        title: 'Versions',
        description: 'Version and software of each server, while it is up.',
        expr: `minecraft_version_info${chosen}`,
        labels: { server: 'Server', version: 'Version', software: 'Software', loader: 'Loader', edition: 'Edition' },
        width: 10,
      }),
    )
    .withRow(new RowBuilder('Players and ticks'))
    .withPanel(
      timeseries({
        title: 'Players',
        description: 'Players on each server.',
        unit: 'short',
        min: 0,
        stacked: true,
        queries: [{ expr: `max by (server) (minecraft_players_online${chosen})`, legend: '{{server}}' }],
      }),
    )
    .withPanel(
      timeseries({
        title: 'Tick rate',
        description:
          'Measured ticks per second: 20 is full speed, unless /tick rate changed it. Unknown while a server is paused.',
        unit: 'short',
        min: 0,
        decimals: 1,
        queries: [{ expr: `max by (server) (minecraft_tick_rate${chosen})`, legend: '{{server}}' }],
      }),
    )
    .withPanel(
      timeseries({
        title: 'Tick time, p99',
        description:
          '99th percentile of the last 100 ticks, relative to the time available per tick (50 ms at 20 ticks per second). Above 100 % the server falls behind.',
        unit: 'percentunit',
        min: 0,
        line: true,
        thresholds: [{ colour: 'green' }, { from: 1, colour: 'red' }],
        queries: [{ expr: `max by (server) (${tickTimeRatio('p99', chosen)})`, legend: '{{server}}' }],
      }),
    )
    .withPanel(
      timeseries({
        title: 'Latency',
        description:
          'Round-trip time of the status ping. It depends on the network and the server’s network thread, not on its ticks.',
        unit: 's',
        min: 0,
        queries: [{ expr: `max by (server) (minecraft_status_latency_seconds${chosen})`, legend: '{{server}}' }],
      }),
    )
    .withRow(serviceRow())
  for (const panel of servicePanels()) board.withPanel(panel)
  return board
}
