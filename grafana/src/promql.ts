import { config } from './config.ts'

/**
 * The PromQL shared by dashboards and alert rules. Each function takes a selector such as `{server="survival"}`, or an empty
 * string for every server; the results keep the labels job, instance and server.
 */

/** The labels that identify a server: `server` on /metrics, `instance` on /probe. */
export const serverLabels = 'job, instance, server'

/**
 * One series per server, whichever replica reports it, so that an alert goes on when another replica is scraped: without the label
 * `instance`, but for a target of /probe, which has no label `server`, with its instance as `target`. The largest value counts.
 * @param labels further labels to keep
 */
export const perServer = (expr: string, labels: readonly string[] = []): string =>
  `max by (${['job', 'server', 'target', ...labels].join(', ')}) (label_replace(label_replace(${expr}, "target", "$1", "instance", "(.*)"), "target", "", "server", ".+"))`

/** Ticks per second of a server whose target is not known. */
const usualTarget = 20

/** Target tick rate in ticks per second, for each server that has `series`: the usual one unless `/tick rate` changed it. */
const targetFor = (series: string, selector: string) =>
  `(minecraft_tick_rate_target${selector} or ${series}${selector} * 0 + ${usualTarget})`

/** Measured tick rate relative to the target: 1 is full speed. */
export const tickRateRatio = (selector = '') => `minecraft_tick_rate${selector} / ${targetFor('minecraft_tick_rate', selector)}`

/** A tick duration relative to the time available per tick: above 1 the server cannot keep up. */
export const tickTimeRatio = (quantile: 'mean' | 'p50' | 'p95' | 'p99', selector = '') => {
  const series = `minecraft_tick_duration_${quantile}_seconds`
  return `${series}${selector} * ${targetFor(series, selector)}`
}

/** Servers that intentionally do not tick at their target rate. */
export const tickingOffTarget = (selector = '') =>
  `(minecraft_tick_frozen${selector} == 1 or minecraft_tick_paused${selector} == 1 or minecraft_tick_sprinting${selector} == 1)`

/** Servers in maintenance, of which nobody is alerted. */
export const maintained = (selector = '') => `minecraft_maintenance${selector} == 1`

/** Servers that are down intentionally, if they are: a server that is asleep starts when a player joins. */
export const downOnPurpose = (selector = '') =>
  `(minecraft_asleep${selector} == 1 or minecraft_world_upgrade_ratio${selector} or ${maintained(selector)})`

/** Servers that accept connections while their main thread does not answer. */
export const hung = (selector = '') => `minecraft_main_thread_responsive${selector} == 0`

/** Servers that are neither intentionally off target nor hung, whose tick rate shows their performance. */
export const tickRateRatioOfRunning = (selector = '') =>
  `${tickRateRatio(selector)} unless ${tickingOffTarget(selector)} unless ${hung(selector)}`

/**
 * Label that identifies a server on the dashboards: `server` unless it is a target of /probe that has none. With replicas there may be
 * several series with the same, of which the largest value counts.
 */
export type ServerLabel = 'server' | 'instance'

/** 1 per server that is down, except those that are down on purpose, as in the alert ServerDown; otherwise 0. */
export const isDown = (selector: string, by: ServerLabel) =>
  `max by (${by}) ((minecraft_up${selector} == bool 0 unless on (${serverLabels}) ${downOnPurpose(selector)}) or minecraft_up${selector} * 0)`

/**
 * The sources that connect to servers whose state is unknown although Tickwarden reports them: it could not ask them, or polls them no more.
 * None of replicas, whose `tickwarden_replica_unknown_servers` counts such servers.
 */
export const ofUnknown = (selector = '') =>
  `minecraft_source_up{${[selector.slice(1, -1), 'source!="directory"'].filter(Boolean).join(',')}} unless on (${serverLabels}) minecraft_up${selector} unless on (job, instance) tickwarden_replica_unknown_servers`

/**
 * One value per server that was reported within the time range of the dashboard and is not now, because Prometheus cannot scrape Tickwarden
 * or the probe of the server, or whose state Tickwarden does not know; none for those that are no longer watched.
 */
export function isLost(selector: string, by: ServerLabel): string {
  const lastTime = (series: string) => `max_over_time(timestamp(${series})[$__range:$__interval])`
  const known = lastTime(`minecraft_up${selector}`)
  // A target of /probe is one server. Those of /metrics may be other pods now; their servers are those of the last minutes in which
  // any of them could be scraped.
  const probe = `${known} and on (job, instance) (up == 0 unless on (job) last_over_time(tickwarden_build_info[$__range]))`
  const service = `${known} + 300 > on (job) group_left () max by (job) (${lastTime('tickwarden_build_info')}) and on (job) up == 0 unless on (job) tickwarden_build_info`
  return `max by (${by}) (${probe} or ${service} or ${ofUnknown(selector)}) unless on (${by}) minecraft_up${selector}`
}

/** States of a server, the first that applies. The number is the value of {@link state}. */
export const states = [
  { value: 0, text: 'down', colour: 'red' },
  { value: 1, text: 'up', colour: 'green' },
  { value: 2, text: 'lagging', colour: 'orange' },
  { value: 3, text: 'frozen', colour: 'blue' },
  { value: 4, text: 'sprinting', colour: 'light-blue' },
  { value: 5, text: 'paused', colour: 'purple' },
  { value: 6, text: 'hung', colour: 'dark-red' },
  { value: 7, text: 'asleep', colour: 'semi-dark-purple' },
  { value: 8, text: 'upgrading its world', colour: 'yellow' },
  { value: 9, text: 'maintenance', colour: 'semi-dark-blue' },
] as const

const stateOf = (text: (typeof states)[number]['text']): number =>
  states.find((state) => state.text === text)?.value ?? Number.NaN

/** One value of {@link states} per server; no value if its state is unknown. */
export function state(selector: string, by: ServerLabel): string {
  const when = (text: (typeof states)[number]['text'], condition: string) =>
    `max by (${by}) (minecraft_up${selector} * 0 + ${stateOf(text)} and on (${serverLabels}) (${condition}))`
  return [
    when('upgrading its world', `minecraft_world_upgrade_ratio${selector}`),
    when('asleep', `minecraft_asleep${selector} == 1`),
    when('maintenance', `minecraft_up${selector} == 0 and on (${serverLabels}) ${maintained(selector)}`),
    when('down', `minecraft_up${selector} == 0`),
    when('hung', hung(selector)),
    when('frozen', `minecraft_tick_frozen${selector} == 1`),
    when('sprinting', `minecraft_tick_sprinting${selector} == 1`),
    when('paused', `minecraft_tick_paused${selector} == 1`),
    when('lagging', `${tickRateRatio(selector)} < ${config.thresholds.laggingBelow}`),
    `max by (${by}) (minecraft_up${selector})`,
  ].join(' or ')
}

/** Number of failing sources per server that is up; 0 if none fails. */
export const failingSources = (selector: string, by: ServerLabel) =>
  `sum by (${by}) (minecraft_source_up${selector} == bool 0 and on (${serverLabels}) minecraft_up${selector} == 1)`

/**
 * How much a server needs attention: 100 if down without a reason or hung, up to 50 for a low tick rate, 5 per failing source; 0 in
 * maintenance, in which it has no alerts either; no value if its state is unknown.
 */
export function attention(selector: string, by: ServerLabel): string {
  const zero = `0 * max by (${by}) (minecraft_up${selector})`
  const unreachable = `100 * max by (${by}) (minecraft_up${selector} == bool 0 unless on (${serverLabels}) ${downOnPurpose(selector)})`
  const notAnswering = `100 * max by (${by}) (minecraft_main_thread_responsive${selector} == bool 0 and on (${serverLabels}) minecraft_up${selector} == 1)`
  const slow = `50 * clamp_min(1 - max by (${by}) (${tickRateRatioOfRunning(selector)}), 0)`
  const parts = [unreachable, notAnswering, slow, `5 * ${failingSources(selector, by)}`].map((part) => `(${part} or ${zero})`)
  return `(${parts.join(' + ')}) unless on (${by}) ${maintained(selector)} or ${zero}`
}
