import type { FastifyInstance } from 'fastify'
import { methodOf } from '../src/http/other-methods.ts'
import { eventStreamType } from '../src/http/replies/reply.ts'
import { createHistogram, type Histogram } from '../src/util/histogram.ts'
import { histogramLines, requestFamily } from './histogram-text.ts'
import { type Format, familyHeader, labelText } from './text.ts'

/** Counts one request by the status and the duration of its reply. */
type CountRequest = (status: number, seconds: number) => void

/**
 * Counts every request to the service. Not a histogram of prom-client, which takes ten times as long to find a series: several
 * percent of a whole request.
 */
export class HttpHistogram {
  readonly #series: { readonly labels: string; readonly histogram: Histogram }[] = []
  readonly #counters = new Map<string, CountRequest>()

  /** Returns the counter of one method and route. Keep it, to avoid the lookup for each request. */
  counter(method: string, route: string): CountRequest {
    const key = `${method} ${route}`
    const counter = this.#counters.get(key) ?? this.#createCounter(method, route)
    this.#counters.set(key, counter)
    return counter
  }

  #createCounter(method: string, route: string): CountRequest {
    /** By first digit of the status. */
    const byDigit: Histogram[] = []
    return (status, seconds) => {
      const digit = Math.floor(status / 100)
      let histogram = byDigit[digit]
      if (histogram === undefined) {
        histogram = createHistogram()
        byDigit[digit] = histogram
        const labels = labelText(requestFamily.labels, [method, route, `${digit}xx`])
        this.#series.push({ labels, histogram })
      }
      histogram.observe(seconds)
    }
  }

  text(format: Format): string {
    if (this.#series.length === 0) return ''
    const lines = this.#series.map(({ labels, histogram }) => histogramLines(requestFamily.name, labels, histogram, format))
    return familyHeader(requestFamily, format) + lines.join('')
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
