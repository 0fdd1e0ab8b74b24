import { annotation, dashboard, row, selected, serverVariables } from './dashboard.ts'
import { valueMap } from './panels/panel.ts'
import { stat } from './panels/stat.ts'
import { timeline } from './panels/timeline.ts'
import { timeseries } from './panels/timeseries.ts'
import { state, states, tickRateRatio, tickTimeRatio } from './promql.ts'

/** If none is selected, because all are probed and have no name, no data: not that of all of them together. */
const chosen = `{server=~${selected('server')},server!=""}`
/** One series of the chosen server, and one per value of the labels: after a failover another replica reports it. */
const one = (expr: string, ...labels: readonly string[]) => `max by (${['server', ...labels].join(', ')}) (${expr})`

/** When each version was last seen, until a minute ago: a server has none while it is stopped for its update. */
const versionsBefore = `max_over_time(timestamp(minecraft_version_info${chosen})[1h:1m] offset 1m)`

/** One server in detail. */
export const server = () =>
  dashboard({
    uid: 'tickwarden-server',
    title: 'Tickwarden / Server',
    description:
      'One Minecraft server: players, tick time against its budget, tick rate against its target, and the state of its sources.',
    variables: serverVariables({ many: false }),
    annotations: [
      annotation(
        'Version change',
        `count by (server, version) (minecraft_version_info${chosen}) unless on (server, version) topk by (server) (1, ${versionsBefore}) and on (server) ${versionsBefore}`,
        'purple',
        'now {{version}}',
      ),
      annotation(
        'Restart',
        `${one(`minecraft_up${chosen}`)} == 1 and on (server) ${one(`minecraft_up${chosen} offset 1m`)} == 0`,
        'orange',
        'up again',
      ),
    ],
    panels: [
      stat(
        'State',
        'State in the last poll: up, down, hung (accepts connections, but its main thread does not answer), frozen, paused ...',
        { state: state(chosen, 'server') },
        { mappings: [valueMap(Object.fromEntries(states.map(({ value, text, colour }) => [value, [text, colour]])))], width: 3 },
      ),
      stat(
        'Version',
        'Game version and loader of the server.',
        { '{{version}} {{loader}}': one(`minecraft_version_info${chosen}`, 'version', 'loader') },
        { showName: true, width: 4 },
      ),
      stat('Players', 'Players online now.', { players: one(`minecraft_players_online${chosen}`) }),
      stat(
        'Tick rate',
        'Measured ticks per second over about 10 seconds, relative to the target.',
        { rate: one(tickRateRatio(chosen)) },
        {
          unit: 'percentunit',
          decimals: 0,
          thresholds: [{ colour: 'red' }, { from: 0.9, colour: 'yellow' }, { from: 0.98, colour: 'green' }],
        },
      ),
      stat(
        'Headroom',
        'Unused part of the time available per tick. At 0 the server can only just keep up.',
        { headroom: `1 - ${one(tickTimeRatio('mean', chosen))}` },
        {
          unit: 'percentunit',
          decimals: 0,
          thresholds: [{ colour: 'red' }, { from: 0.1, colour: 'yellow' }, { from: 0.3, colour: 'green' }],
        },
      ),
      stat(
        'World time',
        'Day of the world from 0, and the time of day in ticks: 0 is sunrise, 6000 noon, 12000 sunset, 18000 midnight.',
        { day: one(`minecraft_world_day${chosen}`), 'time of day': one(`minecraft_world_time_of_day_ticks${chosen}`) },
        { unit: 'none', thresholds: [{ colour: 'text' }], width: 5 },
      ),
      row('Players'),
      timeseries('Players over time', 'Players online and the maximum number of players.', {
        online: one(`minecraft_players_online${chosen}`),
        places: one(`minecraft_players_max${chosen}`),
      }),
      timeseries(
        'Joins and leaves',
        'Players that joined and left per minute. Needs the full player list (RCON, management protocol, query) or the server log.',
        {
          joins: `60 * ${one(`rate(minecraft_player_joins_total${chosen}[$__rate_interval])`)}`,
          leaves: `-60 * ${one(`rate(minecraft_player_leaves_total${chosen}[$__rate_interval])`)}`,
        },
        { isSigned: true },
      ),
      row('Ticks'),
      timeseries(
        'Tick time',
        'Duration of the last 100 ticks: mean, median, 95th and 99th percentile, and the mean of each dimension (Forge and NeoForge). Above the budget the server falls behind.',
        {
          budget: `1 / ${one(`minecraft_tick_rate_target${chosen}`)} or ${one(`minecraft_tick_duration_mean_seconds${chosen}`)} * 0 + 0.05`,
          mean: one(`minecraft_tick_duration_mean_seconds${chosen}`),
          p50: one(`minecraft_tick_duration_p50_seconds${chosen}`),
          p95: one(`minecraft_tick_duration_p95_seconds${chosen}`),
          p99: one(`minecraft_tick_duration_p99_seconds${chosen}`),
          max: one(`minecraft_tick_duration_max_seconds${chosen}`),
          '{{dimension}}': one(`minecraft_dimension_tick_duration_mean_seconds${chosen}`, 'dimension'),
        },
        { unit: 's' },
      ),
      timeseries(
        'Tick rate against target',
        'Measured ticks per second and the target, with the averages of Paper and the rate of each dimension (Forge and NeoForge), if the server reports them.',
        {
          measured: one(`minecraft_tick_rate${chosen}`),
          target: one(`minecraft_tick_rate_target${chosen}`),
          'Paper, {{window}}': one(`minecraft_paper_tick_rate${chosen}`, 'window'),
          '{{dimension}}': one(`minecraft_dimension_tick_rate${chosen}`, 'dimension'),
        },
        { decimals: 1 },
      ),
      timeseries(
        'Headroom',
        'Unused part of the time available per tick. Below 0 the server cannot keep up.',
        { headroom: `1 - ${one(tickTimeRatio('mean', chosen))}` },
        { unit: 'percentunit', line: true, thresholds: [{ colour: 'red' }, { from: 0, colour: 'green' }], isSigned: true },
      ),
      timeline(
        'Frozen, sprinting, paused, hung, asleep',
        'When the server intentionally did not tick at its usual speed (/tick freeze, /tick sprint, no players online), when its main thread did not answer, and when a proxy answered for the stopped server.',
        {
          frozen: one(`minecraft_tick_frozen${chosen}`),
          sprinting: one(`minecraft_tick_sprinting${chosen}`),
          paused: one(`minecraft_tick_paused${chosen}`),
          // 2: the only one of these states that is not on purpose.
          hung: `2 * (${one(`minecraft_main_thread_responsive${chosen}`)} == bool 0)`,
          asleep: one(`minecraft_asleep${chosen}`),
        },
        { mappings: [valueMap({ '0': ['no', 'green'], '1': ['yes', 'blue'], '2': ['yes', 'dark-red'] })], width: 12, height: 8 },
      ),
      row('JVM (needs the source jmx)', [
        timeseries(
          'JVM memory',
          'Memory in use in each memory pool of the server’s JVM.',
          { '{{pool}}': one(`minecraft_jvm_memory_used_bytes${chosen}`, 'pool') },
          { unit: 'bytes', stacked: true, width: 12 },
        ),
        timeseries(
          'Garbage collection',
          'Part of the time that the server’s JVM spends in garbage collection, during most of which its threads are stopped.',
          { '{{gc}}': one(`rate(minecraft_jvm_gc_seconds_total${chosen}[$__rate_interval])`, 'gc') },
          { unit: 'percentunit', width: 12 },
        ),
      ]),
      row('Overload warnings (needs the directory of the server)', [
        timeseries(
          'Overload warnings',
          '“Can’t keep up!” lines in the server log, per hour. Needs the directory of the server.',
          { 'warnings per hour': `3600 * ${one(`rate(minecraft_overload_warnings_total${chosen}[$__rate_interval])`)}` },
          { width: 24, height: 6 },
        ),
      ]),
      row('Polling'),
      timeline(
        'Sources',
        'Whether each source of the last poll answered.',
        { '{{source}}': one(`minecraft_source_up${chosen}`, 'source') },
        { mappings: [valueMap({ '0': ['fails', 'red'], '1': ['answers', 'green'] })], width: 8, height: 8 },
      ),
      timeseries(
        'Poll time',
        'Duration of each source and of the whole poll; with /probe the phases of each source.',
        {
          '{{source}}': one(`minecraft_source_duration_seconds${chosen}`, 'source'),
          'whole poll': one(`minecraft_poll_duration_seconds${chosen}`),
          '{{source}}, {{phase}}': one(`minecraft_source_phase_duration_seconds${chosen}`, 'source', 'phase'),
        },
        { unit: 's', width: 8 },
      ),
      timeseries(
        'Polls by outcome',
        'Polls per minute by outcome: ok, or why the server could not be reached.',
        { '{{outcome}}': `60 * ${one(`rate(minecraft_polls_total${chosen}[$__rate_interval])`, 'outcome')}` },
        { stacked: true, width: 8 },
      ),
      timeseries(
        'Latency',
        'Round-trip time of the status ping, which the network thread of the server answers; and the response time of its main thread, if RCON or the management protocol measures it.',
        {
          latency: one(`minecraft_status_latency_seconds${chosen}`),
          'main thread': one(`minecraft_main_thread_delay_seconds${chosen}`),
        },
        { unit: 's', width: 24 },
      ),
    ],
  })
