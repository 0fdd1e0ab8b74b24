import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import '@fastify/swagger'
import type { HttpHistogram } from '../exporter/http-histogram.ts'
import { exporterPaths, registerExporter } from '../exporter/register.ts'
import { type Clock, systemClock } from './clock.ts'
import type { Replica } from './cluster/replica.ts'
import { registerForwarding } from './cluster/workers/forward.ts'
import type { Workers } from './cluster/workers/primary.ts'
import type { PrimaryState } from './cluster/workers/silence.ts'
import { type CurrentTokens, createTokens } from './config/tokens.ts'
import type { Config } from './config.ts'
import { createDataService, registerDataService } from './data/index.ts'
import { runPath } from './data/run-routes.ts'
import type { DiscoveryView } from './discovery/status.ts'
import type { Fleet } from './game/fleet.ts'
import type { Histogram } from './histogram.ts'
import { openFolder } from './history/folder.ts'
import { type History, openHistory } from './history/history.ts'
import { registerHistory } from './history/register.ts'
import { createHttpApp } from './http/app.ts'
import { registerDocs } from './http/docs.ts'
import { healthPaths, livenessPath, registerHealth } from './http/health.ts'
import { createProxyCheck } from './http/trusted-proxies.ts'
import { createEventHub, type EventHub, sumEventMetrics } from './live/hub.ts'
import { registerLive } from './live/register.ts'
import type { Log } from './log.ts'
import { createReadiness } from './readiness.ts'
import { createIcons } from './status-api/icon.ts'
import { registerStatusApi } from './status-api/index.ts'
import { readStyles } from './web/assets.ts'
import { registerPage } from './web/page.ts'
import { createPageEvents } from './web/page-server.ts'
import { registerPictures } from './web/pictures/register.ts'

export interface AppOptions {
  readonly config: Config
  /** Default: the tokens of the configuration, which never change. */
  readonly tokens?: Pick<CurrentTokens, 'current'>
  readonly fleet: Fleet
  readonly logger: FastifyBaseLogger
  /** State of discovery, for the API and the metrics. */
  readonly discovery?: DiscoveryView
  readonly clock?: Clock
  /** Log of the parts; default: the logger. */
  readonly log?: Log
  /** Durations of DNS lookups for the watched servers, for the metrics. */
  readonly nameLookups?: Histogram
  /** Set if several replicas share the servers. */
  readonly replica?: Pick<Replica, 'isPolledHere' | 'metrics' | 'locks'>
  /** Delays of the starts of polls, for the metrics. */
  readonly pollDelays?: Histogram
  /** Set in the primary process if workers (WORKERS) answer the requests: the metrics of the workers. */
  readonly workers?: Pick<Workers, 'eventMetrics'> & { readonly requests: HttpHistogram }
  /** Set in a worker. */
  readonly worker?: {
    /** Socket of the primary process, which answers the requests that a worker cannot. */
    readonly socketPath: string
    readonly primary: PrimaryState
    readonly loadHistory: (server: string) => Promise<Buffer | undefined>
    readonly requests: HttpHistogram
  }
}

declare module 'fastify' {
  interface FastifyInstance {
    /** With METRICS_LISTEN, the app that serves the metrics. The caller starts listening; closed with the main app. */
    readonly metricsApp: FastifyInstance | undefined
    /** Parts whose data the primary process and the workers exchange. */
    readonly parts: { readonly history: History; readonly events: Pick<EventHub, 'metrics'> }
  }
}

/** Hints of one listener for paths of the other one. Without its address, which may be private. */
const mainHint = (path: string): string | undefined =>
  exporterPaths.includes(path.replace(/\/$/, '')) ? 'it is served on the address in METRICS_LISTEN' : undefined
const metricsHint = () =>
  `this address (METRICS_LISTEN) serves ${[...exporterPaths, ...healthPaths].join(', ')}; everything else is served on HOST and PORT`

/** The service, ready to listen: every part is created, then its routes are registered. The caller closes `fleet`. */
export async function buildApp(options: AppOptions) {
  const {
    config,
    tokens = createTokens(config),
    fleet,
    logger,
    log = logger,
    clock = systemClock,
    nameLookups,
    pollDelays,
    replica,
    discovery,
    workers,
    worker,
  } = options
  const { corsOrigin, basePath, trustProxy } = config.http
  const { metricsListen } = config.metrics
  const isDemo = fleet.servers.some(({ demo }) => demo)
  const app = createHttpApp({
    ...{ logger, corsOrigin, basePath, isDemo },
    ...(trustProxy.length > 0 && { isTrustedProxy: createProxyCheck(trustProxy) }),
    ...(metricsListen && { hintFor: mainHint }),
  })
  const metricsApp = metricsListen && (createHttpApp({ logger, corsOrigin, hintFor: metricsHint }) as unknown as FastifyInstance)
  app.decorate('metricsApp', metricsApp)
  app.addHook('onClose', async () => metricsApp?.close())

  const { host, runs, scripts } = config
  const isWorker = worker !== undefined
  const requests = (worker ?? workers)?.requests
  const data = await createDataService({
    config: { host, data: config.data, runs, scripts },
    runToken: () => tokens.current().runs,
    ...{ clock, log, runsSchedule: !isWorker, sharedLocks: replica?.locks },
  })
  app.addHook('onClose', () => data.close())
  const historyFolder = isWorker ? undefined : await openFolder({ ...config.history, dataDir: config.data.dataDir }, log)
  const history = await openHistory({
    ...{ fleet, clock, log },
    ...(historyFolder && { folder: historyFolder }),
    ...(worker && { loadImage: worker.loadHistory }),
  })
  app.addHook('onClose', () => history.close())
  const isPublic = config.page.pagePublic !== 'false'
  const maxClients = config.live.eventsLimit
  const events = createEventHub(fleet, clock, maxClients)
  const pageEvents = createPageEvents({ fleet, clock, isPublic, maxClients })
  const ownEvents = { metrics: () => sumEventMetrics([events, pageEvents]) }
  app.decorate('parts', { history, events: ownEvents })
  const allEvents = [ownEvents, ...(workers ? [{ metrics: workers.eventMetrics }] : [])]
  const icons = createIcons()
  if (isWorker) registerForwarding(app, [...(metricsListen ? [] : exporterPaths), runPath, livenessPath], worker)
  const unfollow = fleet.onChange(({ replaced = [], removed }) => [...replaced, ...removed].forEach(icons.delete))
  app.addHook('onClose', async () => unfollow())

  await registerDocs(app, { styles: readStyles('docs.css'), databaseTags: data.tags })
  // First, so that it measures the requests to the routes below.
  registerExporter(app, {
    fleet,
    config: { metrics: config.metrics, poll: config.poll },
    metricsToken: () => tokens.current().metrics,
    clock,
    data: { snapshots: data.store.metrics, scripts: data.runs.metrics },
    live: { events: () => sumEventMetrics(allEvents), historyBytes: () => history.bytes() },
    countsRequests: workers === undefined,
    warmsUp: !isWorker,
    ...(requests && { histogram: requests }),
    ...(replica && { replica }),
    ...(metricsApp && { routesOn: metricsApp }),
    ...(nameLookups && { nameLookups }),
    ...(pollDelays && { pollDelays }),
    ...(discovery && { discovery }),
  })
  registerStatusApi(app, { fleet, clock, icons, ...(discovery && { discovery }) })
  registerLive(app, { fleet, hub: events })
  registerHistory(app, { fleet, history })
  registerPictures(app, {
    ...{ fleet, clock, history, log: app.log },
    icon: async ({ server, fields }) => (await icons.get(server, fields.favicon?.value)).png,
    ...(config.pictures.headsUrl !== undefined && { headsUrl: config.pictures.headsUrl }),
  })
  registerPage(app, {
    fleet,
    clock,
    history,
    title: config.page.pageTitle,
    isPublic,
    events: pageEvents,
    isDemo,
    ...(metricsApp === undefined && { metricsPath: '/metrics' }),
  })
  registerDataService(app, data)
  const waitingFor = createReadiness({
    fleet,
    loadingDatabases: () => data.store.status().flatMap(({ database, state }) => (state === 'loading' ? [database] : [])),
    ...(discovery && { discovery }),
    ...(worker && { primary: worker.primary }),
  })
  registerHealth(app, waitingFor)
  if (metricsApp) registerHealth(metricsApp, waitingFor)
  return app
}

export type App = Awaited<ReturnType<typeof buildApp>>
