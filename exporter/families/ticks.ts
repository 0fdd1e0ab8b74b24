import { currentFields } from '../../src/game/snapshot.ts'
import { counter, gauge, ofField, type ServerFamily } from './family.ts'

const overWindow = 'over the last 100 ticks of the server, in seconds.'

export const ticks: readonly ServerFamily[] = [
  counter('minecraft_ticks_total', 'Tick counter of the server.', (snapshot, add) =>
    add(currentFields(snapshot).tickCount?.value.ticks),
  ),
  gauge(
    'minecraft_tick_rate',
    'Measured ticks per second over about 10 s (at least the last two polls), from the tick counter and monotonic time; not capped at 20.',
    ofField('tickRate'),
    { perPoll: false },
  ),
  gauge('minecraft_tick_rate_target', 'Target tick rate of the server, ticks per second.', ofField('tickRateTarget')),
  gauge('minecraft_tick_duration_mean_seconds', `Mean tick duration ${overWindow}`, ofField('tickDurationMean')),
  gauge('minecraft_tick_duration_p50_seconds', `Median tick duration ${overWindow}`, ofField('tickDurationP50')),
  gauge('minecraft_tick_duration_p95_seconds', `95th percentile of the tick duration ${overWindow}`, ofField('tickDurationP95')),
  gauge('minecraft_tick_duration_p99_seconds', `99th percentile of the tick duration ${overWindow}`, ofField('tickDurationP99')),
  gauge('minecraft_tick_duration_max_seconds', `Maximum tick duration ${overWindow}`, ofField('tickDurationMax')),
  gauge('minecraft_tick_frozen', '1 while ticking is frozen by /tick freeze, else 0.', ofField('tickFrozen')),
  gauge(
    'minecraft_tick_sprinting',
    '1 while the server ticks as fast as it can because of /tick sprint, else 0.',
    ofField('tickSprinting'),
  ),
  gauge(
    'minecraft_tick_paused',
    '1 while the tick counter is paused because no player is online, else 0.',
    ofField('tickPaused'),
    { perPoll: false },
  ),
]
