import { bearerToken, duration, list, url } from '../../settings/kinds/index.ts'
import { HttpClient, shortName } from '../../util/http-client.ts'
import { fetchJson, type Target, toTarget } from '../fetch-json.ts'
import { createPolledList, providerOf } from '../polled-list.ts'
import { defineProvider, type Provider } from '../provider.ts'
import { createTargetGroupReader, parseList } from '../target-groups.ts'

/** Timeout of one request, milliseconds; the interval if that is shorter. */
const maxDeadlineMs = 10_000
const maxBytes = 32 * 1024 * 1024
const maxRedirects = 5

const placeOf = ({ url: { origin, pathname } }: Target): string => `${origin}${pathname}`

export const httpSd = defineProvider({
  name: 'http_sd',
  title: 'target groups at URLs, as for http_sd of Prometheus',
  meaning: 'Each target is a server; see below for the labels.',
  settings: {
    discoveryHttpSd: {
      env: 'DISCOVERY_HTTP_SD',
      file: 'discovery.httpSd',
      kind: list(url('https:', 'http:')),
      meaning: 'URLs that serve target groups as JSON',
    },
    discoveryHttpSdInterval: {
      env: 'DISCOVERY_HTTP_SD_INTERVAL',
      file: 'discovery.httpSdInterval',
      kind: duration('1s', '1d'),
      default: '1m',
      meaning: 'time between two requests to each URL',
    },
    discoveryHttpSdToken: {
      env: 'DISCOVERY_HTTP_SD_TOKEN',
      file: 'discovery.httpSdToken',
      kind: bearerToken,
      secret: true,
      meaning: 'bearer token for these URLs',
    },
  },
  start({ discoveryHttpSd: urls = [], discoveryHttpSdInterval: interval, discoveryHttpSdToken: token }, context): Provider {
    const closing = new AbortController()
    const client = new HttpClient({ timeoutMs: maxDeadlineMs, maxBytes, maxRedirects })

    const targets = urls.map((text) => toTarget(text, token))

    function follow(target: Target, index: number) {
      const parse = createTargetGroupReader(context)
      // Their queries, which may be secret, are not shown.
      const hasSamePlace = targets.filter((other) => placeOf(other) === placeOf(target)).length > 1
      const number = hasSamePlace ? ` (URL ${index + 1})` : ''
      const place = `${placeOf(target)}${number}`
      return createPolledList({
        ...context,
        ...{ name: `${shortName(target.url)}${number}`, place, interval, signal: closing.signal },
        async read() {
          const body = await fetchJson(target, {
            client,
            timeoutMs: Math.min(interval, maxDeadlineMs),
            headers: { 'x-prometheus-refresh-interval-seconds': String(interval / 1000) },
          })
          return parse(context.measure(place, () => parseList(body)))
        },
      })
    }
    return {
      ...providerOf(targets.map(follow)),
      close() {
        closing.abort()
        void client.close()
      },
    }
  },
})
