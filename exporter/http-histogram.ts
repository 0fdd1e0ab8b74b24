import type { FastifyInstance } from 'fastify'
import { type CountedRequests, createHistogram, type Histogram, type RequestCounts } from '../src/histogram.ts'
import { eventStreamType } from '../src/http/reply.ts'
import { histogramLines } from './histogram-text.ts'
import { escapeLabel, type Format, familyHeader } from './text.ts'

const header = {
  name: 'http_request_duration_seconds',
  type: 'histogram',
  help: 'Time from the request to the end of the reply, by route pattern, seconds.',
}

interface Series extends Omit<CountedRequests, 'requests'> {
  readonly labels: string
  readonly histogram: Histogram
}

interface Counter {
  readonly count: CountRequest
  histogramOf(status: number): Histogram
}

/** Counts one request: the status of its reply, and how long that took. */
export type CountRequest = (status: number, seconds: number) => void

export interface HttpHistogram extends RequestCounts {
  /** What counts the requests of one method to one route; to keep it saves finding it for each request. */
  counter(method: string, route: string): CountRequest
  text(format: Format): string
}

/**
 * Counts every request to the service. By hand rather than by prom-client, whose histogram takes ten times as long to find a series:
 * several percent of a whole request.
 */
export function createHttpHistogram(): HttpHistogram {
  const all: Series[] = []
  /** By route, then by method: to build a key would cost more than to count. */
  const known = new Map<string, Map<string, Counter>>()

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
    const byMethod = known.get(route) ?? new Map<string, Counter>()
    if (byMethod.size === 0) known.set(route, byMethod)
    const before = byMethod.get(method)
    if (before !== undefined) return before
    const counter = createCounter(method, route)
    byMethod.set(method, counter)
    return counter
  }

  return {
    counter: (method, route) => counterOf(method, route).count,
    take: () =>
      all
        .filter(({ histogram }) => histogram.count > 0)
        .map(({ method, route, status, histogram }) => ({ method, route, status, requests: histogram.take() })),
    add(counted) {
      for (const { method, route, status, requests } of counted) counterOf(method, route).histogramOf(status).add(requests)
    },
    text(format) {
      if (all.length === 0) return ''
      const lines = all.map(({ labels, histogram }) => histogramLines(header.name, labels, histogram, format))
      return familyHeader(header, format) + lines.join('')
    },
  }
}

/** Every other method is one series: a client that tries them all on every route must not multiply what a scrape returns. */
const methodLabel = (method: string): string => (method === 'GET' || method === 'HEAD' ? method : 'other')

/** Observes every reply of `app` but event streams. */
export function observeRequests(app: FastifyInstance, histogram: HttpHistogram): void {
  app.direct.observe((route) => histogram.counter('GET', route))
  app.addHook('onResponse', (request, reply, done) => {
    // How long a stream was open says nothing of how fast the service answers.
    if (reply.raw.getHeader('content-type') === eventStreamType && reply.statusCode === 200) return done()
    // The pattern, never the URL: a label must not grow with what clients ask for.
    const route = request.routeOptions.url ?? 'unmatched'
    histogram.counter(methodLabel(request.method), route)(reply.statusCode, reply.elapsedTime / 1000)
    done()
  })
}
