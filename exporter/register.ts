import type { FastifyInstance } from 'fastify'
import { createNetwork, type Network } from '../src/game/network.ts'
import type { PollSettings } from '../src/game/server-settings.ts'
import { createBearerCheck } from '../src/http/bearer.ts'
import type { Clock } from '../src/util/clock.ts'
import { createHistogram, type Histogram } from '../src/util/histogram.ts'
import type { MaintenanceOf } from '../src/util/part-metrics.ts'
import { serverFamilies } from './families/index.ts'
import { mcMonitor } from './families/mc-monitor.ts'
import { createFleetWriter } from './fleet-text.ts'
import { HttpHistogram, observeRequests } from './http-histogram.ts'
import { registerMetricsRoute } from './metrics-route.ts'
import { registerProbeRoute } from './probe/probe-route.ts'
import { createMetricsRenderer, type MetricsRenderer, type ObservedParts } from './render.ts'
import { registerSdRoute } from './sd-route.ts'
import { type MetricsSettings, metrics } from './settings.ts'

export interface ExporterOptions extends ObservedParts {
  readonly clock: Clock
  readonly config: { readonly metrics: MetricsSettings; readonly poll: PollSettings }
  /** Returns the current token of these routes; default: that of the configuration. */
  readonly metricsToken?: () => string | undefined
  /** Default: no server is in maintenance. */
  readonly maintenanceOf?: MaintenanceOf
  /** The app that gets the routes if METRICS_LISTEN is set; default: `app`. */
  readonly routesOn?: FastifyInstance
  /** Name lookups for the watched servers; those for /probe are added. */
  readonly nameLookups?: Histogram
  /** How late polls of the watched servers started. */
  readonly pollDelays?: Histogram
  /**
   * The network that /probe uses; default: the system's, with a separate name cache, so that a probe cannot evict names of the
   * fleet.
   */
  readonly network?: Network
}

/** The paths of the exporter, which only one of the apps serves. */
export const exporterPaths: readonly string[] = ['/metrics', '/probe', '/sd']

/**
 * Measures the requests to `app` and serves /metrics, /probe and /sd.
 * @returns what renders the metrics, for other exports
 */
export function registerExporter(app: FastifyInstance, options: ExporterOptions): MetricsRenderer {
  const { fleet, config, clock, maintenanceOf = () => null, routesOn = app } = options
  const { nameLookups = createHistogram(), pollDelays = createHistogram() } = options
  const { metricsToken, compat, probeAllow, probeConcurrency } = config.metrics
  const probeNetwork = createNetwork({ clock, servers: probeConcurrency, onLookup: nameLookups.observe })
  app.addHook('onClose', async () => probeNetwork.close())
  const requests = new HttpHistogram()
  observeRequests(app, requests)
  if (routesOn !== app) observeRequests(routesOn, requests)
  const render = createMetricsRenderer({
    ...options,
    writeFleet: createFleetWriter(
      serverFamilies,
      compat.includes('mc-monitor') ? mcMonitor(fleet) : undefined,
      (server) => fleet.settingsOf(server)?.group,
      maintenanceOf,
    ),
    ...{ poll: config.poll, requests, nameLookups, pollDelays },
  })

  routesOn.register(async (routes) => {
    if (metricsToken !== undefined) {
      const check = createBearerCheck({
        token: () => options.metricsToken?.() ?? metricsToken,
        env: metrics.metricsToken.env,
        realm: 'metrics',
      })
      routes.addHook('onRequest', async (request) => check(request))
    }
    registerMetricsRoute(routes, render)
    registerProbeRoute(routes, {
      fleet,
      clock,
      allow: probeAllow ?? [],
      concurrency: probeConcurrency,
      timeout: config.poll.timeout,
      network: options.network ?? probeNetwork,
      maintenanceOf,
    })
    registerSdRoute(routes, fleet)
  })
  return render
}
