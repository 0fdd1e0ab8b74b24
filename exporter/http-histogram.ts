import type { FastifyInstance } from 'fastify'
import { methodOf } from '../src/http/other-methods.ts'
import { eventStreamType } from '../src/http/replies/reply.ts'
import { createHistogram, type Histogram } from '../src/util/histogram.ts'
import { histogramLines } from './histogram-text.ts'
import { escapeLabel, type Format, familyHeader } from './text.ts'

const header = {
  name: 'http_request_duration_seconds',
  type: 'histogram',
  help: 'Duration of HTTP requests until the end of the reply, by route pattern, in seconds.',
}

interface Series {
  readonly labels: string
  readonly histogram: Histogram
}

interface Counter {
  readonly count: CountRequest
  histogramOf(status: number): Histogram
}

/** Counts one request by the status and the duration of its reply. */
export type CountRequest = (status: number, seconds: number) => void

export interface HttpHistogram {
  /** Returns the counter of one method and route. Keep it, to avoid the lookup for each request. */
  counter(method: string, route: string): CountRequest
  text(format: Format): string
}

/**
 * Counts every request to the service. Not a histogram of prom-client, which takes ten times as long to find a series: several
 * percent of a whole request.
 */
export function createHttpHistogram(): HttpHistogram {
  const all: Series[] = []
  /** By route, then by method: building a combined key would cost more than counting. */
  const counters = new Map<string, Map<string, Counter>>()

  function createCounter(method: string, route: string): Counter {
    /** By first digit of the status. */
    const byDigit: Series[] = []
    function addSeries(digit: number): Series {
      const labels = `method="${escapeLabel(method)}",route="${escapeLabel(route)}",status_class="${digit}xx"`
      const series = { method, route, status: digit * 100, labels, histogram: createHistogram() }
      byDigit[digit] = series
      all.push(series)
      return series
    }
    const histogramOf = (status: number): Histogram => {
      const digit = Math.floor(status / 100)
      return (byDigit[digit] ?? addSeries(digit)).histogram
    }
    return { histogramOf, count: (status, seconds) => histogramOf(status).observe(seconds) }
  }

  function counterOf(method: string, route: string): Counter {
    const byMethod = counters.get(route) ?? new Map<string, Counter>()
    if (byMethod.size === 0) counters.set(route, byMethod)
    const before = byMethod.get(method)
    if (before !== undefined) return before
    const counter = createCounter(method, route)
    byMethod.set(method, counter)
    return counter
  }

  return {
    counter: (method, route) => counterOf(method, route).count,
    text(format) {
      if (all.length === 0) return ''
      const lines = all.map(({ labels, histogram }) => histogramLines(header.name, labels, histogram, format))
      return familyHeader(header, format) + lines.join('')
    },
  }
}

/** All other methods share one series, so that a client cannot multiply the series by trying every method on every route. */
const methodLabel = (method: string): string => (method === 'GET' || method === 'HEAD' ? method : 'other')

/** Observes every reply of `app` except event streams. */
export function observeRequests(app: FastifyInstance, histogram: HttpHistogram): void {
  app.direct.observe((route) => histogram.counter('GET', route))
  app.addHook('onResponse', (request, reply, done) => {
    // The duration of a stream does not show how fast the service answers.
    if (reply.raw.getHeader('content-type') === eventStreamType && reply.statusCode === 200) return done()
    // The pattern, never the URL: clients must not be able to add label values.
    const route = request.routeOptions.url ?? 'unmatched'
    histogram.counter(methodLabel(methodOf(request.raw)), route)(reply.statusCode, reply.elapsedTime / 1000)
    done()
  })
}
