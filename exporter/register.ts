import type { FastifyInstance } from 'fastify'
import type { Clock } from '../src/clock.ts'
import type { Config } from '../src/config.ts'
import type { Fleet } from '../src/game/fleet.ts'
import { authorise } from './authorise.ts'
import type { DataMetrics } from './data-metrics.ts'
import { serverFamilies } from './families/index.ts'
import { createFleetText } from './fleet-text.ts'
import { createHttpHistogram, observeRequests } from './http-histogram.ts'
import { registerMetricsRoute } from './metrics-route.ts'
import { createServiceMetrics } from './service-metrics.ts'

export interface ExporterOptions {
  readonly fleet: Fleet
  readonly config: Config
  readonly clock: Clock
  /** Without it there are no metrics of the data service. */
  readonly data?: DataMetrics
  /** Where the routes go, if not to `app`: the app of METRICS_LISTEN. */
  readonly routesOn?: FastifyInstance
}

/** Measures the requests to `app` and serves /metrics. */
export function registerExporter(app: FastifyInstance, { fleet, config, data, routesOn = app }: ExporterOptions): void {
  const histogram = createHttpHistogram()
  observeRequests(app, histogram)
  const { metricsToken } = config.values

  routesOn.register(async (routes) => {
    if (metricsToken !== undefined) routes.addHook('onRequest', authorise(metricsToken))
    registerMetricsRoute(routes, {
      fleet,
      fleetText: createFleetText(serverFamilies),
      service: createServiceMetrics(),
      histogram,
      ...(data && { data }),
    })
  })
}
