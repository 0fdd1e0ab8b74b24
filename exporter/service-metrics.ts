import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { sourceNames } from '../src/game/sources/names.ts'
import { revision, version } from '../src/util/package.ts'
import { slowWorkOf } from '../src/util/slow-work.ts'
import { escapeLabel, type Format, familyHeader, formatBound, formatValue } from './text.ts'

/** Gauges of open resources whose names end in `_total` like counters; the metrics without `_total` have the same values. */
const misnamed = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total']
/** Statistics of the event-loop delay, which a timer would have to measure all the time; `nodejs_eventloop_lag_seconds` remains. */
const delayStatistics = ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99'].map(
  (name) => `nodejs_eventloop_lag_${name}_seconds`,
)
/** The interval of that timer, milliseconds: it cannot be turned off, and the default of 10 ms wakes an idle process 100 times a second. */
const eventLoopMonitoringPrecision = 2 ** 30

export interface ServiceMetrics {
  text(format: Format): Promise<string>
}

/**
 * Metrics of the process itself, of the build and of its settings, from a separate registry.
 * @param pollIntervalMs time between two polls of a server
 */
export function createServiceMetrics(pollIntervalMs: number): ServiceMetrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision })
  for (const name of [...misnamed, ...delayStatistics]) registry.removeSingleMetric(name)
  new Gauge({
    name: 'tickwarden_build_info',
    help: 'Version of the service and of Node.js as labels; always 1.',
    labelNames: ['version', 'revision', 'node'],
    registers: [registry],
  }).set({ version, revision: revision ?? '', node: process.version }, 1)

  new Gauge({
    name: 'tickwarden_poll_interval_seconds',
    help: 'Configured time between two polls of a server (POLL_INTERVAL), in seconds.',
    registers: [registry],
  }).set(pollIntervalMs / 1000)

  new Counter({
    name: 'tickwarden_slow_work_total',
    help: 'Replies and files whose reading held the event loop for more than 100 ms, by source or part.',
    labelNames: ['part'],
    registers: [registry],
    collect() {
      this.reset()
      for (const part of [...sourceNames, 'discovery', 'scripts']) this.inc({ part }, slowWorkOf(part))
    },
  })

  return {
    async text(format) {
      const metrics = await registry.getMetricsAsJSON()
      return metrics
        .map((metric) => {
          const { name, help } = metric
          const lines = metric.values.map((sample) => {
            const labels = Object.entries(sample.labels).map(([label, value]) => {
              const text = label === 'le' && typeof value === 'number' ? formatBound(value, format) : String(value)
              return `${label}="${escapeLabel(text)}"`
            })
            const part = 'metricName' in sample ? String(sample.metricName) : name
            return `${part}${labels.length === 0 ? '' : `{${labels.join(',')}}`} ${formatValue(sample.value)}\n`
          })
          return lines.length === 0 ? '' : familyHeader({ name, help, type: String(metric.type) }, format) + lines.join('')
        })
        .join('')
    },
  }
}
