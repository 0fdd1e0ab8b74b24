import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyReply, FastifySchema, RouteHandlerMethod } from 'fastify'
import type { DiscoveryView } from '../discovery/status.ts'
import { fieldNames } from '../game/fields.ts'
import { type Fleet, perServers } from '../game/fleet.ts'
import { addressOf } from '../game/server-settings.ts'
import type { ServerSnapshot } from '../game/snapshot.ts'
import type { Watcher } from '../game/watcher/index.ts'
import { perBasePath } from '../http/base-path.ts'
import type { DirectReply } from '../http/direct.ts'
import { query } from '../http/parameters.ts'
import { problem, problems } from '../http/replies/problem.ts'
import { type PreparedReply, prepareJson, sendPrepared } from '../http/replies/reply.ts'
import { type HeaderDocs, json, preparedReplies, type ReplyDocs } from '../http/replies/responses.ts'
import { apiRoot, type ServerPlace, serverPlaces } from '../http/server-place.ts'
import { cachedPerObject } from '../util/cached.ts'
import type { Clock } from '../util/clock.ts'
import { Type } from '../util/schema.ts'
import { ageOf, ageText, current, sourcesOf } from './current.ts'
import { sourcesExample } from './examples.ts'
import { createFavicon, faviconParameters } from './favicon.ts'
import type { Icons } from './icon.ts'
import { type StatusRoute, statusRoutes } from './routes.ts'
import { ServerNames, Sources } from './schemas.ts'
import { describeLists, describeSources } from './sources.ts'

export interface StatusApiOptions {
  readonly fleet: Fleet
  readonly clock: Clock
  readonly icons: Icons
  /** The lists that the servers come from. */
  readonly discovery?: DiscoveryView
}

const ageMeaning = 'Seconds since the server was last reached'
const snapshotHeaders: HeaderDocs = {
  'X-Snapshot-Age': { type: 'string', description: ageMeaning },
  'X-Snapshot-Source': { type: 'string', description: 'Sources of the values in the reply, or none' },
  'X-Demo': { type: 'string', description: '`true` if the built-in demo server is watched; otherwise absent' },
}

const unreachable = problem(503, {
  code: 'SERVER_UNREACHABLE',
  detail: 'The server "survival" has not been reached yet; /api/v1/servers/survival/sources says why.',
})

/** The routes under `/api/v1`: each reply is prepared once per snapshot. */
export function registerStatusApi(app: FastifyInstance, { fleet, clock, icons, discovery }: StatusApiOptions): void {
  const favicon = createFavicon(icons)
  const pictures = app.clientLimits.rateLimit('clientPictures')
  const schemaOf = (place: ServerPlace, description: string, success: ReplyDocs, failures: object): FastifySchema => ({
    tags: [place.tag],
    summary: success.description,
    description: `${description}${place.params ? '' : ' For the primary server, the first one configured.'}`,
    ...(place.params && { params: place.params }),
    response: { ...preparedReplies(success), ...failures, ...(place.params && problems(404)) },
  })

  function addRoute(place: ServerPlace, { path, summary, description, schema, example, fields, value }: StatusRoute): void {
    const preparedFor = (snapshot: ServerSnapshot, basePath: string): PreparedReply => {
      const base = basePath + (place.params ? `${apiRoot}/servers/${encodeURIComponent(snapshot.server)}` : apiRoot)
      return prepareJson(value(snapshot, base), { 'x-snapshot-source': sourcesOf(snapshot, fields) })
    }
    const replyOf = cachedPerObject((snapshot: ServerSnapshot) => perBasePath((basePath) => preparedFor(snapshot, basePath)))
    const answer = (watcher: Watcher, basePath: string): DirectReply => {
      const { snapshot, age } = current(watcher, clock, basePath)
      return { prepared: replyOf(snapshot)(basePath), volatile: { 'x-snapshot-age': ageText(age) } }
    }
    const handler: RouteHandlerMethod = (request, reply) => {
      const { prepared, volatile } = answer(place.watcher(request), request.basePath)
      return sendPrepared(request, reply, prepared, volatile)
    }
    const pattern = place.path + path
    const directAnswer = (watcher: Watcher | undefined, basePath: string) => watcher && answer(watcher, basePath)
    // Before the app's routing. Requests with a query go to the app, which validates it.
    if (place.params)
      app.direct.addNamed(`${apiRoot}/servers/`, path, {
        pattern,
        reply: (name, basePath) => directAnswer(fleet.get(name), basePath),
      })
    else
      app.direct.add(pattern, {
        pattern,
        reply: (url, basePath) => (url === pattern ? directAnswer(fleet.watchers[0], basePath) : undefined),
      })
    const success = { description: summary, content: json(schema, example), headers: snapshotHeaders }
    app.get(pattern, { schema: schemaOf(place, description, success, unreachable) }, handler)
  }

  function addFavicon(place: ServerPlace): void {
    const base64 = 'iVBORw0KGgoAAAANSUhEUg...'
    const success: ReplyDocs = {
      description: 'Icon of the server',
      content: {
        'text/plain': { schema: Type.String(), example: base64 },
        'application/json': { schema: Type.String(), example: base64 },
        'image/png': { schema: Type.String({ format: 'binary' }), example: 'the bytes of the picture' },
      },
      headers: {
        ...snapshotHeaders,
        'X-Favicon': { type: 'string', description: '`default` if the server has no icon' },
      },
    }
    const description =
      'A PNG of 64x64 pixels in the form that `Accept` requests: base64 text (the default), base64 in a JSON string, or the picture itself.'
    const querystring = query(faviconParameters)
    const failures = {
      ...problem(400, { code: 'INVALID_PARAMETER', detail: 'Parameter "size" is "8"; expected an integer from 16 to 512.' }),
      ...problems(429),
      ...unreachable,
    }
    const schema = { ...schemaOf(place, description, success, failures), querystring }
    app.withTypeProvider<TypeBoxTypeProvider>().get(`${place.path}/favicon`, { schema }, async (request, reply) => {
      const { snapshot, age } = current(place.watcher(request), clock, request.basePath)
      const { reply: prepared, source } = await favicon(request.headers.accept, request.query.size, snapshot, () =>
        pictures.count(request, reply),
      )
      return sendPrepared(request, reply, prepared, { 'x-snapshot-source': source, 'x-snapshot-age': ageText(age) })
    })
  }

  /**
   * The only reply that is available without contact with the server, because it shows why there is none. Before the first
   * contact it has no age.
   */
  function addSources(place: ServerPlace): void {
    const replyOf = cachedPerObject((snapshot: ServerSnapshot) => {
      const headers = { 'x-snapshot-source': sourcesOf(snapshot, fieldNames) }
      const settings = fleet.settingsOf(snapshot.server)
      const edition = (settings && addressOf(settings)?.edition) ?? 'java'
      const sources = describeSources(snapshot, { edition, settingNames: settings?.settingNames })
      let last: { readonly version: number | undefined; readonly reply: PreparedReply } | undefined
      return () => {
        const version = discovery?.version
        if (last === undefined || last.version !== version)
          last = { version, reply: prepareJson({ ...sources, discovery: describeLists(discovery?.status() ?? []) }, headers) }
        return last.reply
      }
    })
    const summary = 'The state of each source, and the source of each field'
    const success: ReplyDocs = {
      description: summary,
      content: json(Sources, sourcesExample),
      headers: {
        'X-Snapshot-Age': { type: 'string', description: `${ageMeaning}; absent before the first time` },
        'X-Snapshot-Source': { type: 'string', description: 'Sources that provided any of the fields, or none' },
      },
    }
    const description =
      'For each field the source that provided it, or for an unknown field the setting that would. Also available while the server is unreachable.'
    app.get(`${place.path}/sources`, { schema: schemaOf(place, description, success, {}) }, (request, reply: FastifyReply) => {
      const snapshot = place.watcher(request).snapshot()
      const age = ageOf(snapshot, clock)
      return sendPrepared(request, reply, replyOf(snapshot)(), age === undefined ? {} : { 'x-snapshot-age': ageText(age) })
    })
  }

  for (const place of serverPlaces(fleet)) {
    for (const route of statusRoutes) addRoute(place, route)
    addFavicon(place)
    addSources(place)
  }

  // From the configuration, not from a snapshot, so it has no age and no source.
  const names = perServers(fleet, (servers) => prepareJson(servers.map(({ name }) => name)))
  const success = { description: 'Names of all servers', content: json(ServerNames, ['survival', 'lobby']) }
  const schema = {
    tags: ['servers'],
    summary: success.description,
    description: 'The names for `/api/v1/servers/{name}/...`, in the order of the configuration.',
    response: preparedReplies(success),
  }
  app.get(`${apiRoot}/servers`, { schema }, (request, reply) => sendPrepared(request, reply, names()))
}
