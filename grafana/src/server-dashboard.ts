import { RowBuilder } from '@grafana/grafana-foundation-sdk/dashboard'
import { annotation, dashboard, linkToOthers, withServers } from './dashboard.ts'
import { valueMap } from './panels/panel.ts'
import { stat } from './panels/stat.ts'
import { timeline } from './panels/timeline.ts'
import { timeseries } from './panels/timeseries.ts'
import { state, states, tickRateRatio, tickTimeRatio } from './promql.ts'

const chosen = '{server="$server"}'
/** One series of the chosen server, and one per value of the labels: after a failover another replica reports it. */
const one = (expr: string, ...labels: readonly string[]) => `max by (${['server', ...labels].join(', ')}) (${expr})`

/** One server in detail. */
export const server = () =>
  withServers(
    dashboard({
      uid: 'tickwarden-server',
      title: 'Tickwarden / Server',
      description:
        'One Minecraft server: players, tick time against its budget, tick rate against its target, and the state of its sources.',
    }),
    { many: false },
  )
    .link(linkToOthers('Other dashboards'))
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
        `${one(`minecraft_up${chosen}`)} == 1 and on (server) ${one(`minecraft_up${chosen} offset 1m`)} == 0`,
        'orange',
        'up again',
      ),
    )
    .withPanel(
      stat({
        title: 'State',
        description:
          'State in the last poll: up, down, hung (accepts connections, but its main thread does not answer), frozen, paused ...',
        unit: 'short',
        queries: [{ expr: state(chosen), legend: 'state' }],
        mappings: [valueMap(Object.fromEntries(states.map(({ value, text, colour }) => [value, [text, colour]])))],
        width: 3,
      }),
    )
    .withPanel(
      stat({
        title: 'Version',
        description: 'Game version and loader of the server.',
        unit: 'short',
        queries: [{ expr: one(`minecraft_version_info${chosen}`, 'version', 'loader'), legend: '{{version}} {{loader}}' }],
        showName: true,
        width: 4,
      }),
    )
    .withPanel(
      stat({
        title: 'Players',
        description: 'Players online now.',
        unit: 'short',
        queries: [{ expr: one(`minecraft_players_online${chosen}`), legend: 'players' }],
      }),
    )
    .withPanel(
      stat({
        title: 'Tick rate',
        description: 'Measured ticks per second over about 10 seconds, relative to the target.',
        unit: 'percentunit',
        decimals: 0,
        queries: [{ expr: one(tickRateRatio(chosen)), legend: 'rate' }],
        thresholds: [{ colour: 'red' }, { from: 0.9, colour: 'yellow' }, { from: 0.98, colour: 'green' }],
      }),
    )
    .withPanel(
      stat({
        title: 'Headroom',
        description: 'Unused part of the time available per tick. At 0 the server can only just keep up.',
        unit: 'percentunit',
        decimals: 0,
        queries: [{ expr: `1 - ${one(tickTimeRatio('mean', chosen))}`, legend: 'headroom' }],
        thresholds: [{ colour: 'red' }, { from: 0.1, colour: 'yellow' }, { from: 0.3, colour: 'green' }],
      }),
    )
    .withPanel(
      stat({
        title: 'World time',
        description:
          'Day of the world from 0, and the time of day in ticks: 0 is sunrise, 6000 noon, 12000 sunset, 18000 midnight.',
        unit: 'none',
        queries: [
          { expr: one(`minecraft_world_day${chosen}`), legend: 'day' },
          { expr: one(`minecraft_world_time_of_day_ticks${chosen}`), legend: 'time of day' },
        ],
        thresholds: [{ colour: 'text' }],
        width: 5,
      }),
    )
    .withRow(new RowBuilder('Players'))
    .withPanel(
      timeseries({
        title: 'Players over time',
        description: 'Players online and the maximum number of players.',
        unit: 'short',
        min: 0,
        queries: [
          { expr: one(`minecraft_players_online${chosen}`), legend: 'online' },
          { expr: one(`minecraft_players_max${chosen}`), legend: 'places' },
        ],
      }),
    )
    .withPanel(
      timeseries({
        title: 'Joins and leaves',
        description:
          'Players that joined and left per minute. Needs the full player list (RCON, management protocol, query) or the server log.',
        unit: 'short',
        queries: [
          { expr: `60 * ${one(`rate(minecraft_player_joins_total${chosen}[$__rate_interval])`)}`, legend: 'joins' },
          { expr: `-60 * ${one(`rate(minecraft_player_leaves_total${chosen}[$__rate_interval])`)}`, legend: 'leaves' },
        ],
      }),
    )
    .withRow(new RowBuilder('Ticks'))
    .withPanel(
      timeseries({
        title: 'Tick time',
        description:
          'Duration of the last 100 ticks: mean, median, 95th and 99th percentile, and the mean of each dimension (Forge and NeoForge). Above the budget the server falls behind.',
        unit: 's',
        min: 0,
        queries: [
          {
            expr: `1 / ${one(`minecraft_tick_rate_target${chosen}`)} or ${one(`minecraft_tick_duration_mean_seconds${chosen}`)} * 0 + 0.05`,
            legend: 'budget',
          },
          { expr: one(`minecraft_tick_duration_mean_seconds${chosen}`), legend: 'mean' },
          { expr: one(`minecraft_tick_duration_p50_seconds${chosen}`), legend: 'p50' },
          { expr: one(`minecraft_tick_duration_p95_seconds${chosen}`), legend: 'p95' },
          { expr: one(`minecraft_tick_duration_p99_seconds${chosen}`), legend: 'p99' },
          { expr: one(`minecraft_tick_duration_max_seconds${chosen}`), legend: 'max' },
          { expr: one(`minecraft_dimension_tick_duration_mean_seconds${chosen}`, 'dimension'), legend: '{{dimension}}' },
        ],
      }),
    )
    .withPanel(
      timeseries({
        title: 'Tick rate against target',
        description:
          'Measured ticks per second and the target, with the averages of Paper and the rate of each dimension (Forge and NeoForge), if the server reports them.',
        unit: 'short',
        min: 0,
        decimals: 1,
        queries: [
          { expr: one(`minecraft_tick_rate${chosen}`), legend: 'measured' },
          { expr: one(`minecraft_tick_rate_target${chosen}`), legend: 'target' },
          { expr: one(`minecraft_paper_tick_rate${chosen}`, 'window'), legend: 'Paper, {{window}}' },
          { expr: one(`minecraft_dimension_tick_rate${chosen}`, 'dimension'), legend: '{{dimension}}' },
        ],
      }),
    )
    .withPanel(
      timeseries({
        title: 'Headroom',
        description: 'Unused part of the time available per tick. Below 0 the server cannot keep up.',
        unit: 'percentunit',
        line: true,
        thresholds: [{ colour: 'red' }, { from: 0, colour: 'green' }],
        queries: [{ expr: `1 - ${one(tickTimeRatio('mean', chosen))}`, legend: 'headroom' }],
      }),
    )
    .withPanel(
      timeline({
        title: 'Frozen, sprinting, paused, hung, asleep',
        description:
          'When the server intentionally did not tick at its usual speed (/tick freeze, /tick sprint, no players online), when its main thread did not answer, and when a proxy answered for the stopped server.',
        unit: 'short',
        queries: [
          { expr: one(`minecraft_tick_frozen${chosen}`), legend: 'frozen' },
          { expr: one(`minecraft_tick_sprinting${chosen}`), legend: 'sprinting' },
          { expr: one(`minecraft_tick_paused${chosen}`), legend: 'paused' },
          // 2: the only one of these states that is not on purpose.
          { expr: `2 * (${one(`minecraft_main_thread_responsive${chosen}`)} == bool 0)`, legend: 'hung' },
          { expr: one(`minecraft_asleep${chosen}`), legend: 'asleep' },
        ],
        mappings: [valueMap({ '0': ['no', 'green'], '1': ['yes', 'blue'], '2': ['yes', 'dark-red'] })],
        width: 12,
        height: 8,
      }),
    )
    .withRow(
      new RowBuilder('JVM (needs the source jmx)')
        .collapsed(true)
        .withPanel(
          timeseries({
            title: 'JVM memory',
            description: 'Memory in use in each memory pool of the server’s JVM.',
            unit: 'bytes',
            min: 0,
            stacked: true,
            queries: [{ expr: one(`minecraft_jvm_memory_used_bytes${chosen}`, 'pool'), legend: '{{pool}}' }],
            width: 12,
          }),
        )
        .withPanel(
          timeseries({
            title: 'Garbage collection',
            description:
              'Part of the time that the server’s JVM spends in garbage collection, during most of which its threads are stopped.',
            unit: 'percentunit',
            min: 0,
            queries: [{ expr: one(`rate(minecraft_jvm_gc_seconds_total${chosen}[$__rate_interval])`, 'gc'), legend: '{{gc}}' }],
            width: 12,
          }),
        ),
    )
    .withRow(
      new RowBuilder('Overload warnings (needs the directory of the server)').collapsed(true).withPanel(
        timeseries({
          title: 'Overload warnings',
          description: '“Can’t keep up!” lines in the server log, per hour. Needs the directory of the server.',
          unit: 'short',
          min: 0,
          queries: [
            {
              expr: `3600 * ${one(`rate(minecraft_overload_warnings_total${chosen}[$__rate_interval])`)}`,
              legend: 'warnings per hour',
            },
          ],
          width: 24,
          height: 6,
        }),
      ),
    )
    .withRow(new RowBuilder('Polling'))
    .withPanel(
      timeline({
        title: 'Sources',
        description: 'Whether each source of the last poll answered.',
        unit: 'short',
        queries: [{ expr: one(`minecraft_source_up${chosen}`, 'source'), legend: '{{source}}' }],
        mappings: [valueMap({ '0': ['fails', 'red'], '1': ['answers', 'green'] })],
        width: 8,
        height: 8,
      }),
    )
    .withPanel(
      timeseries({
        title: 'Poll time',
        description: 'Duration of each source and of the whole poll; with /probe the phases of each source.',
        unit: 's',
        min: 0,
        queries: [
          { expr: one(`minecraft_source_duration_seconds${chosen}`, 'source'), legend: '{{source}}' },
          { expr: one(`minecraft_poll_duration_seconds${chosen}`), legend: 'whole poll' },
          { expr: one(`minecraft_source_phase_duration_seconds${chosen}`, 'source', 'phase'), legend: '{{source}}, {{phase}}' },
        ],
        width: 8,
      }),
    )
    .withPanel(
      timeseries({
        title: 'Polls by outcome',
        description: 'Polls per minute by outcome: ok, or why the server could not be reached.',
        unit: 'short',
        min: 0,
        stacked: true,
        queries: [
          { expr: `60 * ${one(`rate(minecraft_polls_total${chosen}[$__rate_interval])`, 'outcome')}`, legend: '{{outcome}}' },
        ],
        width: 8,
      }),
    )
    .withPanel(
      timeseries({
        title: 'Latency',
        description:
          'Round-trip time of the status ping, which the network thread of the server answers; and the response time of its main thread, if RCON or the management protocol measures it.',
        unit: 's',
        min: 0,
        queries: [
          { expr: one(`minecraft_status_latency_seconds${chosen}`), legend: 'latency' },
          { expr: one(`minecraft_main_thread_delay_seconds${chosen}`), legend: 'main thread' },
        ],
        width: 24,
      }),
    )
