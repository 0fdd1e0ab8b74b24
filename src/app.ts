import { hostname } from 'node:os'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { exporterPaths, registerExporter } from '../exporter/register.ts'
import type { Replica } from './cluster/replica.ts'
import type { Config } from './config/config.ts'
import { Tokens } from './config/tokens.ts'
import { createDataService, registerDataService } from './data/index.ts'
import { isDiscoveryOn } from './discovery/settings.ts'
import type { DiscoveryView } from './discovery/status.ts'
import type { Fleet } from './game/fleet.ts'
import { type History, openHistory } from './history/history.ts'
import { registerHistory } from './history/routes/register.ts'
import { registerIncidents } from './history/routes/register-incidents.ts'
import { stateFolderOf } from './history/settings.ts'
import { claimFolder } from './history/store/folder.ts'
import { createHttpApp } from './http/app.ts'
import { createProxyCheck } from './http/clients/trusted-proxies.ts'
import { healthPaths, registerHealth } from './http/health.ts'
import { registerDocs } from './http/openapi/docs.ts'
import { toPlayer } from './http/players.ts'
import { createReadiness, type ReadinessOptions } from './http/readiness.ts'
import { createEventHub, sumEventMetrics } from './live/hub.ts'
import { registerLive } from './live/register.ts'
import { Maintenance } from './maintenance/maintenance.ts'
import { otlpUrl } from './otlp/settings.ts'
import { createIcons } from './status-api/icon.ts'
import { registerStatusApi } from './status-api/index.ts'
import { type Clock, systemClock } from './util/clock.ts'
import type { Histogram } from './util/histogram.ts'
import type { Log } from './util/log.ts'
import { meanUptime } from './util/uptime.ts'
import { readStyles } from './web/assets.ts'
import { shownBrand } from './web/brand.ts'
import { frameDocs } from './web/docs-frame.ts'
import { languageOf } from './web/language.ts'
import { registerPage } from './web/page.ts'
import { createPageEvents } from './web/page-server.ts'
import { registerPictures } from './web/pictures/register.ts'

export interface AppOptions {
  readonly config: Config
  /** Default: the tokens of the configuration, which never change. */
  readonly tokens?: Pick<Tokens, 'metrics' | 'runs'>
  readonly fleet: Fleet
  readonly logger: FastifyBaseLogger
  /** State of discovery, for the API and the metrics. */
  readonly discovery?: DiscoveryView & ReadinessOptions['discovery']
  readonly clock?: Clock
  /** Log of the parts; default: the logger. */
  readonly log?: Log
  /** Durations of DNS lookups for the watched servers, for the metrics. */
  readonly nameLookups?: Histogram
  /** Set if several replicas share the servers. */
  readonly replica?: Pick<Replica, 'isPolledHere' | 'metrics' | 'locks' | 'order' | 'shared'>
  /** Delays of the starts of polls, for the metrics. */
  readonly pollDelays?: Histogram
}

declare module 'fastify' {
  interface FastifyInstance {
    /** With METRICS_LISTEN, the app that serves the metrics. The caller starts listening; closed with the main app. */
    readonly metricsApp: FastifyInstance | undefined
  }
}

/** Hints of one listener for paths of the other one. Without its address, which may be private. */
const mainHint = (path: string): string | undefined =>
  exporterPaths.includes(path.replace(/\/$/, '')) ? 'it is served on the address in METRICS_LISTEN' : undefined
const metricsHint = () =>
  `this address (METRICS_LISTEN) serves ${[...exporterPaths, ...healthPaths].join(', ')}; everything else is served on HOST and PORT`

/** What status messages of notification channels show of a server. */
const createDetails =
  (history: Pick<History, 'uptime' | 'sessions'>, maintenance: Pick<Maintenance, 'next'>) => async (server: string) => {
    const [{ days }, sessions] = await Promise.all([history.uptime(server, 30), history.sessions(server)])
    return {
      peakToday: days.at(-1)?.players.max ?? null,
      uptime: meanUptime(days),
      joinedAt: (player: string) => sessions.find((session) => session.isOnline && toPlayer(session).NAME === player)?.from,
      nextMaintenance: maintenance.next(server),
    }
  }

/** The record number of players of a server, which is read when it is first asked for. */
function createRecords(history: Pick<History, 'uptime'>): (server: string) => number | null | undefined {
  const records = new Map<string, number | null | undefined>()
  return (server) => {
    if (!records.has(server)) {
      records.set(server, null)
      history.uptime(server, 1).then(
        ({ record }) => records.set(server, record.players ?? undefined),
        () => records.delete(server),
      )
    }
    return records.get(server)
  }
}

/**
 * The service, ready to listen. The caller closes `fleet`.
 * @throws anything that a part throws; the parts that have been created are then closed
 */
export async function buildApp(options: AppOptions) {
  const { config, fleet, logger, clock = systemClock } = options
  const { corsOrigin, basePath, trustProxy } = config.http
  const { metricsListen } = config.metrics
  const { clients } = config
  const app = createHttpApp({
    ...{ logger, corsOrigin, basePath, isDemo: fleet.servers.some(({ demo }) => demo), clients, clock },
    ...(trustProxy.length > 0 && { isTrustedProxy: createProxyCheck(trustProxy) }),
    ...(metricsListen && { hintFor: mainHint }),
  })
  const metricsApp =
    metricsListen &&
    (createHttpApp({ ...{ logger, corsOrigin, clients, clock }, hintFor: metricsHint }) as unknown as FastifyInstance)
  app.decorate('metricsApp', metricsApp)
  app.addHook('onClose', async () => metricsApp?.close())
  try {
    await addParts(app, metricsApp, options)
  } catch (error) {
    await app.close()
    throw error
  }
  return app
}

/** Every part is created, then its routes are registered. Parts are closed with the app. */
async function addParts(
  app: ReturnType<typeof createHttpApp>,
  metricsApp: FastifyInstance | undefined,
  options: AppOptions,
): Promise<void> {
  const { config, fleet, logger, log = logger, clock = systemClock, nameLookups, pollDelays, replica, discovery } = options
  const { tokens = new Tokens(config) } = options
  const { host, runs, scripts } = config
  const data = await createDataService({
    config: { host, data: config.data, databases: config.databases, runs, scripts },
    runToken: () => tokens.runs,
    ...{ clock, log, sharedLocks: replica?.locks },
  })
  app.addHook('onClose', () => data.close())
  const folders = { ...config.history, ...config.data }
  const stateFolder = stateFolderOf(folders)
  const maintenance = await Maintenance.open({
    ...{ windows: config.maintenance, clock, log, folder: stateFolder },
    groupOf: (server) => fleet.settingsOf(server)?.group,
    ...(replica && { shared: replica.shared.values('maintenance') }),
  })
  app.addHook('onClose', () => maintenance.close())
  const maintenanceOf = (server: string) => maintenance.of(server)
  let history: History | undefined
  const folder = await claimFolder(folders, log, () => history?.stopWriting())
  // The hooks run in the opposite order of these lines: after the history has been closed.
  app.addHook('onClose', async () => folder?.release())
  history = await openHistory({
    ...{ fleet, clock, log, days: config.history.historyDays },
    maintainedSince: (server) => maintenance.since(server),
    ...folder,
    recordsPlayers: config.history.historyPlayers !== 'false',
    // The servers of a provider may become many.
    ...(isDiscoveryOn(config.discovery, config.file) && { inThread: true }),
  })
  app.addHook('onClose', () => history.close())
  const notifier =
    config.notify &&
    (await (
      await import('./notify/open.ts')
    ).openNotifier({
      ...{ settings: config.notify, fleet, clock, log, stateFolder },
      maintenanceOf,
      detailsOf: createDetails(history, maintenance),
      recordOf: createRecords(history),
      ...(replica && { isPolledHere: (server) => replica.isPolledHere(server), shared: replica.shared }),
      ...(discovery && { discovery }),
    }))
  app.addHook('onClose', async () => notifier?.close())
  const isPublic = config.page.pagePublic !== 'false'
  const { pageLogo: logo, pageAccent: accent, pageFooter: footer, pageLinks: links } = config.page
  const brand = { logo, accent, footer, links }
  const maxClients = config.live.eventsLimit
  const events = createEventHub(fleet, clock, maxClients, { maintenanceOf, ...(replica && { order: replica.order }) })
  const pageOptions = { fleet, clock, isPublic, maxClients, maintenanceOf, order: replica?.order }
  const pageEvents = createPageEvents({ ...pageOptions, isOverview: false })
  const overviewEvents = createPageEvents({ ...pageOptions, isOverview: true })
  const icons = createIcons()
  const unfollow = fleet.onChange(({ replaced = [], removed }) => [...replaced, ...removed].forEach(icons.delete))
  app.addHook('onClose', async () => unfollow())

  registerDocs(app, {
    ...{ styles: readStyles('docs.css'), databaseTags: data.tags },
    frame: (html, root, headers) =>
      frameDocs(html, root, config.page.pageTitle, languageOf(headers, config.page.pageLanguage), shownBrand(brand)),
  })
  // First, so that it measures the requests to the routes below.
  const renderMetrics = registerExporter(app, {
    fleet,
    config: { metrics: config.metrics, poll: config.poll },
    metricsToken: () => tokens.metrics,
    clock,
    data: { snapshots: data.store.metrics, scripts: data.runs.metrics },
    live: { events: () => sumEventMetrics([events, pageEvents, overviewEvents]), historyBytes: () => history.bytes() },
    maintenanceOf,
    ...(notifier && { channels: () => notifier.metrics() }),
    ...(replica && { replica }),
    ...(metricsApp && { routesOn: metricsApp }),
    ...(nameLookups && { nameLookups }),
    ...(pollDelays && { pollDelays }),
    ...(discovery && { discovery }),
  })
  const otlpTo = otlpUrl(config.otlp)
  if (otlpTo !== undefined) {
    const { startOtlp } = await import('./otlp/export.ts')
    const stopOtlp = startOtlp({
      ...{ settings: config.otlp, url: otlpTo, instance: `${hostname()}:${config.port || process.pid}`, log },
      render: () => renderMetrics('prometheus'),
    })
    app.addHook('onClose', stopOtlp)
  }
  registerStatusApi(app, { fleet, clock, icons, ...(discovery && { discovery }) })
  registerLive(app, { fleet, hub: events })
  const playersOff = config.history.historyPlayers === 'false' ? 'HISTORY_PLAYERS' : isPublic ? undefined : 'PAGE_PUBLIC'
  const maintenancePart = (server: string, date: string) => maintenance.partOfDay(server, date)
  registerHistory(app, { fleet, history, maintenancePart, ...(playersOff && { playersOff }) })
  registerIncidents(app, { fleet, history, clock, title: config.page.pageTitle })
  registerPictures(app, {
    ...{ fleet, clock, history, maintenanceOf, log: app.log },
    icon: async ({ server, fields }) => (await icons.get(server, fields.favicon?.value)).png,
    ...(config.pictures.headsUrl !== undefined && { headsUrl: config.pictures.headsUrl }),
  })
  registerPage(app, {
    fleet,
    clock,
    history,
    title: config.page.pageTitle,
    brand,
    ...(config.page.pageLanguage && { language: config.page.pageLanguage }),
    isPublic,
    events: pageEvents,
    overviewEvents,
    isDemo: fleet.servers.some(({ demo }) => demo),
    maintenanceOf,
    maintenancePart,
    failingChannels: () => notifier?.metrics().flatMap(({ channel, problem }) => (problem === undefined ? [] : [channel])) ?? [],
    ...(config.metrics.metricsListen && { metricsListen: config.metrics.metricsListen }),
  })
  registerDataService(app, data)
  const waitingFor = createReadiness({
    fleet,
    loadingDatabases: () => data.store.status().flatMap(({ database, state }) => (state === 'loading' ? [database] : [])),
    ...(discovery && { discovery }),
    ...(replica && { unknownServers: () => replica.metrics().unknown }),
  })
  registerHealth(app, waitingFor)
  if (metricsApp) registerHealth(metricsApp, waitingFor)
}

export type App = Awaited<ReturnType<typeof buildApp>>
