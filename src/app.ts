import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import '@fastify/swagger'
import { exporterPaths, registerExporter } from '../exporter/register.ts'
import { type Clock, systemClock } from './clock.ts'
import type { Config } from './config.ts'
import { registerData } from './data/register.ts'
import { registerRuns } from './data/runs.ts'
import type { Fleet } from './game/fleet.ts'
import type { Histogram } from './histogram.ts'
import { openFolder } from './history/folder.ts'
import { openHistory } from './history/history.ts'
import { registerHistory } from './history/register.ts'
import { createHttpApp } from './http/app.ts'
import { registerDocs } from './http/docs.ts'
import { registerLive } from './live/register.ts'
import { createIcons } from './status-api/icon.ts'
import { registerStatusApi } from './status-api/index.ts'
import { readStyles } from './web/assets.ts'
import { registerPage } from './web/page.ts'
import { registerPictures } from './web/pictures/register.ts'

export interface AppOptions {
  readonly config: Config
  readonly fleet: Fleet
  readonly logger: FastifyBaseLogger
  readonly clock?: Clock
  /** Lookups of names for the watched servers, for the metrics. */
  readonly nameLookups?: Histogram
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Where METRICS_LISTEN is set: the app that serves the metrics there, to be told to listen. Closed with the main one. */
    readonly metricsApp: FastifyInstance | undefined
  }
}

/** What each of two listeners tells who looks there for what the other one has. No address: that may be a private one. */
const fromMain = (path: string): string | undefined =>
  exporterPaths.includes(path.replace(/\/$/, '')) ? 'METRICS_LISTEN serves it on an address of its own' : undefined
const fromMetrics = () =>
  `this address (METRICS_LISTEN) serves ${exporterPaths.join(', ')}; everything else is on the one of HOST and PORT`

/** The service, ready to listen: every part in order. What it is given it does not close. */
export async function buildApp({ config, fleet, logger, clock = systemClock, nameLookups }: AppOptions) {
  const corsOrigin = config.values.corsOrigin ?? '*'
  const { metricsListen } = config.values
  const app = createHttpApp({ logger, corsOrigin, ...(metricsListen && { whereElse: fromMain }) })
  const metricsApp =
    metricsListen && (createHttpApp({ logger, corsOrigin, whereElse: fromMetrics }) as unknown as FastifyInstance)
  app.decorate('metricsApp', metricsApp)
  app.addHook('onClose', async () => metricsApp?.close())

  await registerDocs(app, { styles: readStyles('docs.css') })
  // Before the others: it measures the requests to them.
  registerExporter(app, {
    fleet,
    config,
    clock,
    data: { snapshots: () => store.snapshots(), scripts: () => runs.figures() },
    live: { events: () => events.figures(), historyBytes: () => history.bytes() },
    ...(metricsApp && { routesOn: metricsApp }),
    ...(nameLookups && { nameLookups }),
  })
  const icons = createIcons()
  registerStatusApi(app, { fleet, clock, icons })
  const events = registerLive(app, { fleet, clock, maxClients: config.values.eventsLimit ?? 1000 })
  const historyFolder = await openFolder(config.values, app.log)
  const history = await openHistory({ fleet, clock, log: app.log, ...(historyFolder && { folder: historyFolder }) })
  app.addHook('onClose', () => history.close())
  registerHistory(app, { fleet, history })
  const { headsUrl } = config.values
  registerPictures(app, {
    ...{ fleet, clock, history, log: app.log },
    icon: async ({ server, fields }) => (await icons.get(server, fields.favicon?.value)).png,
    ...(headsUrl !== undefined && { headsUrl }),
  })
  registerPage(app, {
    fleet,
    clock,
    history,
    title: config.values.pageTitle ?? 'Tickwarden',
    isPublic: config.values.pagePublic !== 'false',
    maxClients: config.values.eventsLimit ?? 1000,
    ...(metricsApp === undefined && { metricsPath: '/metrics' }),
  })
  const store = await registerData(app, { config, clock, log: app.log })
  const runs = await registerRuns(app, { config, clock, log: app.log, store })
  return app
}

export type App = Awaited<ReturnType<typeof buildApp>>
