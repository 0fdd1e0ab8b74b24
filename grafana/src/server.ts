import { DashboardLinkBuilder, DashboardLinkType, RowBuilder } from '@grafana/grafana-foundation-sdk/dashboard'
import { annotation, dashboard } from './dashboard.ts'
import { stat, timeline, timeseries, valueMap } from './panels.ts'

const chosen = '{server="$server"}'
const budget = [{ colour: 'green' as const }, { from: 0.05, colour: 'red' as const }]

/** One server in depth. */
export const server = () =>
  dashboard({
    uid: 'tickwarden-server',
    title: 'Tickwarden / Server',
    description:
      'One Minecraft server: players, tick time against its budget, tick rate against its target, and how it is being read.',
    manyServers: false,
  })
    .link(new DashboardLinkBuilder('All servers').type(DashboardLinkType.Dashboards).tags(['tickwarden']).keepTime(true))
    .annotation(
      annotation(
        'Version change',
        `count by (server, version) (minecraft_version_info${chosen}) unless on (server, version) count by (server, version) (minecraft_version_info${chosen} offset 1m) and on (server) count by (server) (minecraft_version_info${chosen} offset 1m)`,
        'purple',
        'now {{version}}',
      ),
    )
    .annotation(
      annotation(
        'Restart',
        `minecraft_up${chosen} == 1 and on (job, instance, server) minecraft_up${chosen} offset 1m == 0`,
        'orange',
        'up again',
      ),
    )
    .withPanel(
      stat({
        title: 'State',
        description: 'Whether the last poll reached the server.',
        unit: 'short',
        queries: [{ expr: `minecraft_up${chosen}`, legend: 'up' }],
        mappings: [valueMap({ '0': ['down', 'red'], '1': ['up', 'green'] })],
        width: 3,
      }),
    )
    .withPanel(
      stat({
        title: 'Version',
        description: 'Game version that the server tells.',
        unit: 'short',
        queries: [{ expr: `minecraft_version_info${chosen}`, legend: '{{version}} {{loader}}' }],
        showName: true,
        width: 4,
      }),
    )
    .withPanel(
      stat({
        title: 'Players',
        description: 'Players online now, and lately.',
        unit: 'short',
        queries: [{ expr: `minecraft_players_online${chosen}`, legend: 'players' }],
        sparkline: true,
      }),
    )
    .withPanel(
      stat({
        title: 'Tick rate',
        description: 'Measured ticks per second over about 10 seconds.',
        unit: 'short',
        decimals: 1,
        queries: [{ expr: `minecraft_tick_rate${chosen}`, legend: 'rate' }],
        thresholds: [{ colour: 'red' }, { from: 18, colour: 'yellow' }, { from: 19.5, colour: 'green' }],
        sparkline: true,
      }),
    )
    .withPanel(
      stat({
        title: 'Headroom',
        description: 'Share of the time of a tick that is left over. At 0 the server can just keep up.',
        unit: 'percentunit',
        decimals: 0,
        queries: [{ expr: `server:minecraft_tick_headroom:ratio${chosen}`, legend: 'headroom' }],
        thresholds: [{ colour: 'red' }, { from: 0.1, colour: 'yellow' }, { from: 0.3, colour: 'green' }],
        sparkline: true,
      }),
    )
    .withPanel(
      stat({
        title: 'World day',
        description: 'Day of the world, from 0.',
        unit: 'short',
        queries: [{ expr: `minecraft_world_day${chosen}`, legend: 'day' }],
        thresholds: [{ colour: 'text' }],
        width: 3,
      }),
    )
    .withRow(new RowBuilder('Players'))
    .withPanel(
      timeseries({
        title: 'Players over time',
        description: 'Players online, and the places there are.',
        unit: 'short',
        min: 0,
        queries: [
          { expr: `minecraft_players_online${chosen}`, legend: 'online' },
          { expr: `minecraft_players_max${chosen}`, legend: 'places' },
        ],
      }),
    )
    .withPanel(
      timeseries({
        title: 'Joins and leaves',
        description:
          'Players who came and went, per minute. Known where the full player list is (RCON, management protocol, query) or the log.',
        unit: 'short',
        queries: [
          { expr: `60 * rate(minecraft_player_joins_total${chosen}[$__rate_interval])`, legend: 'joins' },
          { expr: `-60 * rate(minecraft_player_leaves_total${chosen}[$__rate_interval])`, legend: 'leaves' },
        ],
      }),
    )
    .withRow(new RowBuilder('Ticks'))
    .withPanel(
      timeseries({
        title: 'Tick time',
        description:
          'How long the last 100 ticks took: mean, median, 95th and 99th percentile. Above the dashed 50 ms the server falls behind.',
        unit: 's',
        min: 0,
        line: true,
        thresholds: budget,
        queries: [
          { expr: `minecraft_tick_duration_mean_seconds${chosen}`, legend: 'mean' },
          { expr: `minecraft_tick_duration_p50_seconds${chosen}`, legend: 'p50' },
          { expr: `minecraft_tick_duration_p95_seconds${chosen}`, legend: 'p95' },
          { expr: `minecraft_tick_duration_p99_seconds${chosen}`, legend: 'p99' },
        ],
      }),
    )
    .withPanel(
      timeseries({
        title: 'Tick rate against target',
        description: 'Measured ticks per second, and what the server aims at.',
        unit: 'short',
        min: 0,
        decimals: 1,
        queries: [
          { expr: `minecraft_tick_rate${chosen}`, legend: 'measured' },
          { expr: `minecraft_tick_rate_target${chosen}`, legend: 'target' },
        ],
      }),
    )
    .withPanel(
      timeseries({
        title: 'Headroom',
        description: 'Share of the time of a tick that is left over. Below 0 the server cannot keep up.',
        unit: 'percentunit',
        line: true,
        thresholds: [{ colour: 'red' }, { from: 0, colour: 'green' }],
        queries: [{ expr: `server:minecraft_tick_headroom:ratio${chosen}`, legend: 'headroom' }],
      }),
    )
    .withPanel(
      timeline({
        title: 'Frozen, sprinting, paused',
        description: 'When the server did not tick at its usual speed on purpose: /tick freeze, /tick sprint, or nobody on.',
        unit: 'short',
        queries: [
          { expr: `minecraft_tick_frozen${chosen}`, legend: 'frozen' },
          { expr: `minecraft_tick_sprinting${chosen}`, legend: 'sprinting' },
          { expr: `minecraft_tick_paused${chosen}`, legend: 'paused' },
        ],
        mappings: [valueMap({ '0': ['no', 'green'], '1': ['yes', 'blue'] })],
        width: 12,
        height: 8,
      }),
    )
    .withPanel(
      timeseries({
        title: 'Tick time per dimension',
        description: 'Mean tick time of each dimension. Known for Forge and NeoForge.',
        unit: 's',
        min: 0,
        queries: [{ expr: `minecraft_dimension_tick_duration_mean_seconds${chosen}`, legend: '{{dimension}}' }],
      }),
    )
    .withPanel(
      timeseries({
        title: 'Overload warnings',
        description: '“Can’t keep up!” lines in the server log, per hour. Known where the server’s directory is.',
        unit: 'short',
        min: 0,
        queries: [
          { expr: `3600 * rate(minecraft_overload_warnings_total${chosen}[$__rate_interval])`, legend: 'warnings per hour' },
        ],
      }),
    )
    .withRow(new RowBuilder('How it is read'))
    .withPanel(
      timeline({
        title: 'Sources',
        description: 'Whether each source of the last poll answered.',
        unit: 'short',
        queries: [{ expr: `minecraft_source_up${chosen}`, legend: '{{source}}' }],
        mappings: [valueMap({ '0': ['fails', 'red'], '1': ['answers', 'green'] })],
        width: 8,
        height: 8,
      }),
    )
    .withPanel(
      timeseries({
        title: 'Poll time',
        description: 'How long each source took, and the whole poll.',
        unit: 's',
        min: 0,
        queries: [
          { expr: `minecraft_source_duration_seconds${chosen}`, legend: '{{source}}' },
          { expr: `minecraft_poll_duration_seconds${chosen}`, legend: 'whole poll' },
        ],
        width: 8,
      }),
    )
    .withPanel(
      timeseries({
        title: 'Polls by outcome',
        description: 'Polls a minute by how they ended: ok, or why the server could not be reached.',
        unit: 'short',
        min: 0,
        stacked: true,
        queries: [{ expr: `60 * rate(minecraft_polls_total${chosen}[$__rate_interval])`, legend: '{{outcome}}' }],
        width: 8,
      }),
    )
    .withPanel(
      timeseries({
        title: 'Latency',
        description: 'Round trip of the status ping: the network and the server’s network thread, not its ticks.',
        unit: 's',
        min: 0,
        queries: [{ expr: `minecraft_status_latency_seconds${chosen}`, legend: 'latency' }],
        width: 24,
      }),
    )
