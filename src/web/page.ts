import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Fleet } from '../game/fleet.ts'
import type { Watcher } from '../game/watcher/index.ts'
import type { History } from '../history/history.ts'
import { perBasePath } from '../http/base-path.ts'
import { publicUrlOf } from '../http/public-url.ts'
import { negotiate } from '../http/replies/accept.ts'
import { pathOf } from '../http/replies/problem.ts'
import { jsonType, prepareJson, sendPrepared } from '../http/replies/reply.ts'
import { requestedServer } from '../http/server-place.ts'
import type { EventHub } from '../live/hub.ts'
import { registerLive } from '../live/register.ts'
import type { HostPort } from '../util/address.ts'
import { cachedPerKey } from '../util/cached.ts'
import type { Clock } from '../util/clock.ts'
import { notFound } from '../util/errors.ts'
import { decodePart } from '../util/parse-url.ts'
import type { MaintenanceOf } from '../util/part-metrics.ts'
import { mapInSlices } from '../util/pauses.ts'
import { hidden, readNames, registerAssets, sendEncoded } from './assets.ts'
import { type Brand, registerBrand, shownBrand } from './brand.ts'
import { securityHeaders } from './document.ts'
import { languageOf } from './language.ts'
import { registerManifest } from './manifest.ts'
import { compress, createPageCache } from './page-cache.ts'
import { createPageHistory, type PageHistory } from './page-history.ts'
import { settingsOf, toPageServer } from './page-server.ts'
import { fleetJson, renderFleet, renderMissing, renderServer } from './render-page.ts'
import { collectDetails, collectWeek, findPlayers } from './server-details.ts'
import type { ViewContext } from './view/context.ts'
import { createFormat } from './view/format.ts'
import { type Language, languageNames, textsOf } from './view/texts.ts'
import type { FleetPage } from './view/types.ts'

export interface PageOptions {
  readonly fleet: Fleet
  readonly clock: Clock
  readonly title: string
  readonly brand: Brand
  /** Default: the browser's choice. */
  readonly language?: Language
  /** False: the page shows no addresses, player names and sources, and nothing from /api/v1. */
  readonly isPublic: boolean
  readonly history: History
  /** True if the built-in demo server is watched; the page shows that. */
  readonly isDemo: boolean
  /** See `createPageEvents`. */
  readonly events: EventHub
  /** Those of all servers. */
  readonly overviewEvents: EventHub
  readonly maintenanceOf: MaintenanceOf
  readonly maintenancePart: (server: string, date: string) => number
  /** Returns the notification channels whose last attempt failed. */
  readonly failingChannels: () => readonly string[]
  /** The address of the metrics, if it is another one. */
  readonly metricsListen?: HostPort
}

/** `/` and `/servers/{name}`: the status page, complete without JavaScript. Its data is at `/page/`. */
export function registerPage(app: FastifyInstance, options: PageOptions): void {
  const { fleet, clock, title, history, isPublic, isDemo, metricsListen, maintenanceOf } = options
  const past = createPageHistory(fleet, history, clock, options.maintenancePart)
  app.addHook('onClose', async () => past.close())
  registerAssets(app)
  registerManifest(app, title, options.brand)
  registerBrand(app, options.brand)
  const brand = shownBrand(options.brand)
  const requestedLanguage = (request: FastifyRequest) => languageOf(request.headers, options.language)
  /** What the pages of a language share. */
  const localeOf = cachedPerKey(
    (language: Language) => ({
      ...{ assets: readNames(language), format: createFormat(language, 'UTC') },
      cache: createPageCache<Fleet['servers']>(clock),
    }),
    languageNames.length,
  )

  /** @param root relative path from the page to that of all servers */
  const contextOf = (language: Language, root: string): ViewContext => ({
    ...{ texts: textsOf(language).texts, format: localeOf(language).format, now: clock.wall() },
    ...{ root, title, isDemo, isPublic, brand },
    ...(isPublic && { failingChannels: options.failingChannels() }),
  })

  async function fleetPage(): Promise<FleetPage> {
    const lastEventId = await options.overviewEvents.resumeId()
    const servers = await mapInSlices(fleet.watchers, (watcher) =>
      toPageServer(settingsOf(fleet, watcher.server), watcher.snapshot(), { isPublic, isOverview: true, maintenanceOf }),
    )
    return { at: Math.round(clock.wall()), servers, lastEventId, peak: past.peakToday() ?? null }
  }

  const parts = { fleet, history, past, clock, isPublic, metricsListen, maintenanceOf }
  const detailsOf = (watcher: Watcher, request: FastifyRequest) =>
    collectDetails(parts, watcher, textsOf(requestedLanguage(request)).fields)

  const entryPointsOf = perBasePath((basePath) => prepareJson(entryPoints(options, basePath), { vary: 'Accept' }))

  app.get('/', hidden, async (request, reply) => {
    if (negotiate(request.headers.accept, ['text/html', 'application/json']) === 'application/json')
      return sendPrepared(request, reply, entryPointsOf(request.basePath))
    // The router ignores a trailing slash, but the links of the page would begin below it.
    if (pathOf(request.url) !== '/') return reply.redirect('/', 308)
    const language = requestedLanguage(request)
    const { assets, cache } = localeOf(language)
    const render = async () => {
      const graph = await past.graph()
      return renderFleet(await fleetPage(), assets, { cards: past.cards, graph }, contextOf(language, ''))
    }
    return sendEncoded(request, reply, pageHeaders(language), (coding) => cache.get(fleet.servers, coding, render))
  })

  app.get('/servers/:name', hidden, async (request, reply) => {
    const language = requestedLanguage(request)
    const { assets } = localeOf(language)
    const context = contextOf(language, pathOf(request.url).endsWith('/') ? '../../' : '../')
    const { name } = request.params as { readonly name: string }
    const isMissing =
      fleet.get(name) === undefined &&
      negotiate(request.headers.accept, ['application/problem+json', 'text/html']) === 'text/html'
    if (isMissing) reply.status(404)
    const html = isMissing
      ? await renderMissing(name, assets, context)
      : await renderServer(await detailsOf(requestedServer(fleet, request), request), publicUrlOf(request), assets, context)
    return sendEncoded(request, reply, pageHeaders(language), (coding) => compress(html, coding))
  })

  // For pages that get no event stream.
  const dataCache = createPageCache<Fleet['servers']>(clock)
  app.get('/page/servers', hidden, (request, reply) =>
    sendEncoded(request, reply, dataHeaders, (coding) =>
      dataCache.get(fleet.servers, coding, async () => fleetJson(await fleetPage())),
    ),
  )

  /** Data that are made for each request. */
  const addData = (path: string, read: (request: FastifyRequest) => Promise<object>) =>
    app.get(path, hidden, async (request, reply) => {
      const data = await read(request)
      return sendEncoded(request, reply, dataHeaders, (coding) => compress(JSON.stringify(data), coding))
    })
  addData('/page/graph', () => past.graph())
  addData('/page/cards', (request) => readCards(request, fleet, past))
  addData('/page/servers/:name', (request) => detailsOf(requestedServer(fleet, request), request))
  addData('/page/servers/:name/week', (request) => collectWeek(history, requestedServer(fleet, request).server))
  addData('/page/servers/:name/players', async (request) => {
    const watcher = requestedServer(fleet, request)
    const { search } = request.query as { readonly search?: unknown }
    const found = isPublic ? findPlayers(watcher, typeof search === 'string' ? search.slice(0, maxSearch) : '') : undefined
    if (found === undefined) throw notFound('There is no full list of players, or the page hides names.')
    return found
  })

  registerLive(app, { fleet, hub: options.events, overviewHub: options.overviewEvents, path: '/page/events' })
}

/** Characters of a search for players. */
const maxSearch = 100
/** Maximum number of servers per request. */
const maxCards = 100

/** `/page/cards?servers=a,b`: the history of each for its card; with `days=0` that of a row. */
async function readCards(request: FastifyRequest, fleet: Fleet, past: PageHistory) {
  const { servers, days } = request.query as { readonly servers?: unknown; readonly days?: unknown }
  // Each name is encoded separately, so that it may contain a comma.
  const names = (typeof servers === 'string' ? servers : '').split(',').map(decodePart).slice(0, maxCards)
  const cards = await past.cards(names.filter((name) => fleet.get(name) !== undefined))
  const found = Array.from(cards, ([name, history]) => [name, days === '0' ? { ...history, days: [] } : history] as const)
  return { servers: Object.fromEntries(found), peak: past.peakToday() ?? null }
}

const entryPoints = ({ metricsListen }: PageOptions, basePath: string) => ({
  page: `${basePath}/`,
  docs: `${basePath}/docs`,
  openapi: `${basePath}/openapi.json`,
  metrics: metricsListen === undefined ? `${basePath}/metrics` : null,
  servers: `${basePath}/api/v1/servers`,
  events: `${basePath}/api/v1/events`,
})

const dataHeaders = { 'content-type': jsonType, 'cache-control': 'no-store', vary: 'Accept-Encoding, Accept-Language' }

const pageHeaders = (language: Language) => ({
  ...securityHeaders,
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-cache',
  'content-language': language,
  vary: 'Accept, Accept-Encoding, Accept-Language',
})
