import { DashboardLinkBuilder, DashboardLinkType, RowBuilder } from '@grafana/grafana-foundation-sdk/dashboard'
import { dashboard } from './dashboard.ts'
import { stat, table, timeline, timeseries, valueMap } from './panels.ts'
import { servicePanels, serviceRow } from './service.ts'

const chosen = '{server=~"$server"}'
const slowness = `server:minecraft_tick_rate:ratio${chosen} unless server:minecraft_tick_standing:present`
const upDown = valueMap({ '0': ['down', 'red'], '1': ['up', 'green'] })

/** Every server at a glance. */
export const fleet = () => {
  const board = dashboard({
    uid: 'tickwarden-fleet',
    title: 'Tickwarden / Fleet',
    description:
      'Every watched Minecraft server at a glance: which are up, how many play, how fast they tick, and who needs attention first.',
    manyServers: true,
  })
    .link(new DashboardLinkBuilder('One server').type(DashboardLinkType.Dashboards).tags(['tickwarden']).keepTime(true))
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
        description: 'Servers that the last poll did not reach.',
        unit: 'short',
        queries: [{ expr: `count(minecraft_up${chosen} == 0) or vector(0)`, legend: 'down' }],
        thresholds: [{ colour: 'green' }, { from: 1, colour: 'red' }],
      }),
    )
    .withPanel(
      stat({
        title: 'Players online',
        description: 'Players on all chosen servers.',
        unit: 'short',
        queries: [{ expr: `sum(minecraft_players_online${chosen})`, legend: 'players' }],
        sparkline: true,
      }),
    )
    .withPanel(
      stat({
        title: 'Slowest tick rate',
        description:
          'Lowest share of the target tick rate of a server that is neither paused nor frozen. Known for servers read by RCON.',
        unit: 'percentunit',
        decimals: 0,
        queries: [{ expr: `min(${slowness})`, legend: 'slowest' }],
        thresholds: [{ colour: 'red' }, { from: 0.9, colour: 'yellow' }, { from: 0.98, colour: 'green' }],
      }),
    )
    .withPanel(
      stat({
        title: 'Longest p99 tick time',
        description: 'Longest 99th percentile of the tick time of a server; the budget is 50 ms.',
        unit: 's',
        queries: [{ expr: `max(minecraft_tick_duration_p99_seconds${chosen})`, legend: 'longest' }],
        thresholds: [{ colour: 'green' }, { from: 0.04, colour: 'yellow' }, { from: 0.05, colour: 'red' }],
      }),
    )
    .withPanel(
      stat({
        title: 'Sources failing',
        description: 'Sources (RCON, management protocol ...) that fail on a server that is up.',
        unit: 'short',
        queries: [
          {
            expr: `count(minecraft_source_up${chosen} == 0 and on (job, instance, server) minecraft_up == 1) or vector(0)`,
            legend: 'failing',
          },
        ],
        thresholds: [{ colour: 'green' }, { from: 1, colour: 'orange' }],
      }),
    )
    .withPanel(
      table({
        title: 'Who needs attention first',
        description:
          'Each server now. Servers that are down come first, then the slowest. Choose a name to see that server alone.',
        by: 'server',
        byTitle: 'Server',
        sortBy: 'Attention',
        columns: [
          {
            title: 'Attention',
            // Down counts 100; else up to 10 by the share of the tick rate that is missing; a server that stands still on purpose 0.
            expr: `100 * (1 - max by (server) (minecraft_up${chosen})) + (10 * clamp_min(1 - max by (server) (${slowness}), 0) or 0 * max by (server) (minecraft_up${chosen}))`,
            unit: 'short',
            decimals: 1,
            thresholds: [{ colour: 'green' }, { from: 1, colour: 'orange' }, { from: 100, colour: 'red' }],
          },
          {
            title: 'State',
            expr: `max by (server) (minecraft_up${chosen})`,
            unit: 'short',
            mappings: [upDown],
            thresholds: [{ colour: 'red' }, { from: 1, colour: 'green' }],
          },
          { title: 'Players', expr: `max by (server) (minecraft_players_online${chosen})`, unit: 'short' },
          { title: 'Places', expr: `max by (server) (minecraft_players_max${chosen})`, unit: 'short' },
          {
            title: 'Tick rate',
            expr: `max by (server) (minecraft_tick_rate${chosen})`,
            unit: 'short',
            decimals: 1,
            thresholds: [{ colour: 'red' }, { from: 18, colour: 'yellow' }, { from: 19.5, colour: 'green' }],
          },
          {
            title: 'Tick time p99',
            expr: `max by (server) (minecraft_tick_duration_p99_seconds${chosen})`,
            unit: 's',
            thresholds: [{ colour: 'green' }, { from: 0.04, colour: 'yellow' }, { from: 0.05, colour: 'red' }],
          },
          { title: 'Latency', expr: `max by (server) (minecraft_status_latency_seconds${chosen})`, unit: 's' },
        ],
        link: {
          title: 'This server',
          url: '/d/tickwarden-server?var-server=$' + '{__value.raw:percentencode}&$' + '{__url_time_range}',
        },
        height: 10,
      }),
    )
    .withPanel(
      timeline({
        title: 'State',
        description: 'When each server was up, down, paused with nobody on, or frozen by /tick freeze.',
        unit: 'short',
        queries: [
          {
            expr: `max by (server) (minecraft_up${chosen} * 0 + 2 and on (job, instance, server) minecraft_tick_frozen == 1) or max by (server) (minecraft_up${chosen} * 0 + 3 and on (job, instance, server) minecraft_tick_paused == 1) or max by (server) (minecraft_up${chosen})`,
            legend: '{{server}}',
          },
        ],
        mappings: [valueMap({ '0': ['down', 'red'], '1': ['up', 'green'], '2': ['frozen', 'blue'], '3': ['paused', 'purple'] })],
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
          'Measured ticks per second: 20 is full speed, unless /tick rate changed it. Not known while a server is paused.',
        unit: 'short',
        min: 0,
        decimals: 1,
        line: true,
        thresholds: [{ colour: 'red' }, { from: 18, colour: 'green' }],
        queries: [{ expr: `max by (server) (minecraft_tick_rate${chosen})`, legend: '{{server}}' }],
      }),
    )
    .withPanel(
      timeseries({
        title: 'Tick time, p99',
        description: '99 of the last 100 ticks took at most this long. The budget of a tick is 50 ms.',
        unit: 's',
        min: 0,
        line: true,
        thresholds: [{ colour: 'green' }, { from: 0.05, colour: 'red' }],
        queries: [{ expr: `max by (server) (minecraft_tick_duration_p99_seconds${chosen})`, legend: '{{server}}' }],
      }),
    )
    .withPanel(
      timeseries({
        title: 'Latency',
        description: 'Round trip of the status ping: the network and the server’s network thread, not its ticks.',
        unit: 's',
        min: 0,
        queries: [{ expr: `max by (server) (minecraft_status_latency_seconds${chosen})`, legend: '{{server}}' }],
      }),
    )
    .withRow(serviceRow())
  for (const panel of servicePanels()) board.withPanel(panel)
  return board
}
