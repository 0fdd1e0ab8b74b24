import { collectDefaultMetrics, Registry } from 'prom-client'
import { escapeLabel, type Format, familyHeader, formatBound, formatValue } from './text.ts'

/** Gauges of open resources whose names end in `_total` like counters; the metrics without `_total` have the same values. */
const misnamed = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total']
/** Statistics of the event-loop delay, which a timer would have to measure all the time; `nodejs_eventloop_lag_seconds` remains. */
const delayStatistics = ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99'].map(
  (name) => `nodejs_eventloop_lag_${name}_seconds`,
)
/** The interval of that timer, milliseconds: it cannot be turned off, and the default of 10 ms wakes an idle process 100 times a second. */
const eventLoopMonitoringPrecision = 2 ** 30

/** Returns a function that writes the metrics of the process itself, those of prom-client. */
export function createProcessMetrics(): (format: Format) => Promise<string> {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision })
  for (const name of [...misnamed, ...delayStatistics]) registry.removeSingleMetric(name)

  return async (format) => {
    const metrics = await registry.getMetricsAsJSON()
    const texts = metrics.map((metric) => {
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
    return texts.join('')
  }
}
