import { type Family, flag, live, single } from './family.ts'

const overWindow = 'over the last 100 ticks of the server, seconds.'

export const ticks: readonly Family[] = [
  {
    name: 'minecraft_ticks_total',
    type: 'counter',
    help: 'Tick counter of the server, ticks.',
    labels: [],
    read: (snapshot) => single(live(snapshot).tickCount?.value.ticks),
  },
  {
    name: 'minecraft_tick_rate',
    type: 'gauge',
    help: 'Measured ticks per second over about 10 s, at least the last two polls: tick counter over monotonic time; not capped at 20.',
    labels: [],
    read: (snapshot) => single(live(snapshot).tickRate?.value),
  },
  {
    name: 'minecraft_tick_rate_target',
    type: 'gauge',
    help: 'Ticks per second that the server aims at.',
    labels: [],
    read: (snapshot) => single(live(snapshot).tickRateTarget?.value),
  },
  {
    name: 'minecraft_tick_duration_mean_seconds',
    type: 'gauge',
    help: `Mean working time of one tick ${overWindow}`,
    labels: [],
    read: (snapshot) => single(live(snapshot).tickDurationMean?.value),
  },
  {
    name: 'minecraft_tick_duration_p50_seconds',
    type: 'gauge',
    help: `Median working time of one tick ${overWindow}`,
    labels: [],
    read: (snapshot) => single(live(snapshot).tickDurationP50?.value),
  },
  {
    name: 'minecraft_tick_duration_p95_seconds',
    type: 'gauge',
    help: `95th percentile of the working time of one tick ${overWindow}`,
    labels: [],
    read: (snapshot) => single(live(snapshot).tickDurationP95?.value),
  },
  {
    name: 'minecraft_tick_duration_p99_seconds',
    type: 'gauge',
    help: `99th percentile of the working time of one tick ${overWindow}`,
    labels: [],
    read: (snapshot) => single(live(snapshot).tickDurationP99?.value),
  },
  {
    name: 'minecraft_tick_duration_max_seconds',
    type: 'gauge',
    help: `Longest working time of a tick ${overWindow}`,
    labels: [],
    read: (snapshot) => single(live(snapshot).tickDurationMax?.value),
  },
  {
    name: 'minecraft_tick_frozen',
    type: 'gauge',
    help: '1 while ticking is frozen by command, else 0.',
    labels: [],
    read: (snapshot) => flag(live(snapshot).tickFrozen?.value),
  },
  {
    name: 'minecraft_tick_sprinting',
    type: 'gauge',
    help: '1 while the server ticks as fast as it can by command, else 0.',
    labels: [],
    read: (snapshot) => flag(live(snapshot).tickSprinting?.value),
  },
  {
    name: 'minecraft_tick_paused',
    type: 'gauge',
    help: '1 while the tick counter stands still because nobody is on, else 0.',
    labels: [],
    read: (snapshot) => flag(live(snapshot).tickPaused?.value),
  },
]
