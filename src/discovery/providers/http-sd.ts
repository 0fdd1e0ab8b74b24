import { bearerToken, duration, list, url } from '../../settings/kinds/index.ts'
import { HttpClient, shortName } from '../../util/http-client.ts'
import { fetchJson, toTarget } from '../fetch-json.ts'
import { createLossCheck } from '../lost-servers.ts'
import { DiscoveryError, defineProvider, type Provider, type ServerList } from '../provider.ts'
import { createTargetGroupReader, parseList } from '../target-groups.ts'

/** Timeout of one request, milliseconds; the interval if that is shorter. */
const maxDeadlineMs = 10_000
const maxBytes = 32 * 1024 * 1024
const maxRedirects = 5
/** Milliseconds before a retry after a failure; the interval if that is shorter. */
const retryMs = 10_000

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
    const { clock, changed, measure, readServer } = context
    const closing = new AbortController()
    const client = new HttpClient({ timeoutMs: maxDeadlineMs, maxBytes, maxRedirects })

    function follow(text: string) {
      const target = toTarget(text, token)
      const read = createTargetGroupReader({ readServer })
      const checkLoss = createLossCheck()
      let current: ServerList = {
        name: shortName(target.url),
        place: `${target.url.origin}${target.url.pathname}`,
        servers: [],
        refused: [],
      }
      let cancel = () => {}
      let last = Promise.resolve()

      async function readOnce(): Promise<void> {
        cancel()
        const before = current
        try {
          const body = await fetchJson(target, {
            client,
            timeoutMs: Math.min(interval, maxDeadlineMs),
            headers: { 'x-prometheus-refresh-interval-seconds': String(interval / 1000) },
          })
          const { name, place } = before
          const parsed = await read(measure(place, () => parseList(body)))
          current = { name, place, ...checkLoss(before, parsed), readAt: clock.wall() }
        } catch (error) {
          if (closing.signal.aborted) return
          const { name, message } = error as Error
          // Other messages may contain secrets.
          current = { ...before, error: error instanceof DiscoveryError ? message : `it cannot be read (${name})` }
        }
        cancel = clock.after(current.error === undefined ? interval : Math.min(interval, retryMs), () => void reload())
        changed()
      }

      /** One request at a time, also after an error of changed(). */
      function reload(): Promise<void> {
        last = last.then(readOnce).catch(() => {})
        return last
      }
      return { list: () => current, firstRead: reload(), reload, close: () => cancel() }
    }

    const followed = urls.map(follow)
    return {
      firstRead: Promise.all(followed.map(({ firstRead }) => firstRead)).then(() => {}),
      lists: () => followed.map(({ list }) => list()),
      reload: () => Promise.all(followed.map(({ reload }) => reload())).then(() => {}),
      close() {
        closing.abort()
        for (const { close } of followed) close()
        void client.close()
      },
    }
  },
})
