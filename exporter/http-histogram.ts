import type { FastifyInstance } from 'fastify'
import { escapeLabel, type Format, familyHeader, formatBound } from './text.ts'

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

/** Counts one request: the status of its reply, and how long that took. */
export type CountRequest = (status: number, seconds: number) => void

export interface HttpHistogram {
  /** What counts the requests of one method to one route; to keep it saves finding it for each request. */
  counter(method: string, route: string): CountRequest
  text(format: Format): string
}

/**
 * Counts every request to the service. Kept by hand rather than by prom-client, whose histogram takes ten times as long to
 * find a series: several percent of a whole request.
 */
export function createHttpHistogram(): HttpHistogram {
  const all: Series[] = []
  /** By route, then by method: to build a key would cost more than to count. */
  const known = new Map<string, Map<string, CountRequest>>()

  function createCounter(method: string, route: string): CountRequest {
    /** By first digit of the status. */
    const byDigit: Series[] = []
    function addSeries(digit: number): Series {
      const labels = `method="${escapeLabel(method)}",route="${escapeLabel(route)}",status_class="${digit}xx"`
      const series = { labels, counts: Array.from({ length: bounds.length + 1 }, () => 0), sum: 0 }
      byDigit[digit] = series
      all.push(series)
      return series
    }
    return (status, seconds) => {
      const digit = Math.floor(status / 100)
      const series = byDigit[digit] ?? addSeries(digit)
      let bucket = 0
      while (bucket < bounds.length && seconds > (bounds[bucket] ?? 0)) bucket++
      series.counts[bucket] = (series.counts[bucket] ?? 0) + 1
      series.sum += seconds
    }
  }

  return {
    counter(method, route) {
      const byMethod = known.get(route) ?? new Map<string, CountRequest>()
      if (byMethod.size === 0) known.set(route, byMethod)
      const before = byMethod.get(method)
      if (before !== undefined) return before
      const counter = createCounter(method, route)
      byMethod.set(method, counter)
      return counter
    },
    text(format) {
      if (all.length === 0) return ''
      const { name } = header
      const lines = all.map(({ labels, counts, sum }) => {
        let total = 0
        const buckets = counts.map((count, index) => {
          total += count
          const le = formatBound(bounds[index] ?? Number.POSITIVE_INFINITY, format)
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
  app.direct.observe((route) => histogram.counter('GET', route))
  app.addHook('onResponse', (request, reply, done) => {
    // The pattern, never the URL: a label must not grow with what clients ask for.
    const route = request.routeOptions.url ?? 'unmatched'
    histogram.counter(request.method, route)(reply.statusCode, reply.elapsedTime / 1000)
    done()
  })
}
