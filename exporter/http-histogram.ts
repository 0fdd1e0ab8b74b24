import type { FastifyInstance } from 'fastify'
import { escapeLabel, type Format, familyHeader } from './text.ts'

const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const

const header = {
  name: 'http_request_duration_seconds',
  type: 'histogram',
  help: 'Time from the request to the end of the reply, by route pattern, seconds.',
}

interface Series {
  readonly labels: string
  /** Per bucket, not cumulative; the last one is for what is above all bounds. */
  readonly counts: number[]
  sum: number
}

export interface HttpHistogram {
  observe(method: string, route: string, status: number, seconds: number): void
  text(format: Format): string
}

/**
 * Counts every request to the service. Kept by hand rather than by prom-client, whose histogram takes ten times as long to
 * find a series: several percent of a whole request.
 */
export function createHttpHistogram(): HttpHistogram {
  const all: Series[] = []
  /** By route, method and first digit of the status: to build a key would cost more than to count. */
  const known = new Map<string, Map<string, Series[]>>()

  function addSeries(method: string, route: string, digit: number): Series {
    const labels = `method="${escapeLabel(method)}",route="${escapeLabel(route)}",status_class="${digit}xx"`
    const series = { labels, counts: Array.from({ length: bounds.length + 1 }, () => 0), sum: 0 }
    const byMethod = known.get(route) ?? new Map<string, Series[]>()
    const byDigit = byMethod.get(method) ?? []
    byDigit[digit] = series
    known.set(route, byMethod.set(method, byDigit))
    all.push(series)
    return series
  }

  return {
    observe(method, route, status, seconds) {
      const digit = Math.floor(status / 100)
      const series = known.get(route)?.get(method)?.[digit] ?? addSeries(method, route, digit)
      let bucket = 0
      while (bucket < bounds.length && seconds > (bounds[bucket] ?? 0)) bucket++
      series.counts[bucket] = (series.counts[bucket] ?? 0) + 1
      series.sum += seconds
    },
    text(format) {
      if (all.length === 0) return ''
      const { name } = header
      const lines = all.map(({ labels, counts, sum }) => {
        let total = 0
        const buckets = counts.map((count, index) => {
          total += count
          const bound = bounds[index]
          // OpenMetrics wants bounds as floats: 1.0.
          const integral = format === 'openmetrics' && Number.isInteger(bound)
          const le = bound === undefined ? '+Inf' : integral ? bound.toFixed(1) : String(bound)
          return `${name}_bucket{${labels},le="${le}"} ${total}\n`
        })
        return `${buckets.join('')}${name}_sum{${labels}} ${sum}\n${name}_count{${labels}} ${total}\n`
      })
      return familyHeader(header, format) + lines.join('')
    },
  }
}

/** Observes every reply of `app`. */
export function observeRequests(app: FastifyInstance, histogram: HttpHistogram): void {
  app.direct.observe((route, status, seconds) => histogram.observe('GET', route, status, seconds))
  app.addHook('onResponse', (request, reply, done) => {
    // The pattern, never the URL: a label must not grow with what clients ask for.
    const route = request.routeOptions.url ?? 'unmatched'
    histogram.observe(request.method, route, reply.statusCode, reply.elapsedTime / 1000)
    done()
  })
}
