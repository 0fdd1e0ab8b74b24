import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema, RouteHandlerMethod } from 'fastify'
import { type TSchema, Type } from 'typebox'
import type { Clock } from '../clock.ts'
import { notFound, unavailable } from '../errors.ts'
import { fieldNames } from '../game/fields.ts'
import type { Fleet } from '../game/fleet.ts'
import { addressOf } from '../game/server.ts'
import type { Watcher } from '../game/watcher/index.ts'
import type { DirectReply } from '../http/direct.ts'
import { problems } from '../http/problem.ts'
import { shown } from '../http/query.ts'
import { prepareJson, sendPrepared } from '../http/reply.ts'
import { ageOf, ageText, current, perSnapshot, sourcesOf } from './current.ts'
import { createFavicon, sizes } from './favicon.ts'
import type { Icons } from './icon.ts'
import { type StatusRoute, statusRoutes } from './routes.ts'
import { ServerNames, Sources } from './schemas.ts'
import { describeSources } from './sources.ts'

export interface StatusApiOptions {
  readonly fleet: Fleet
  readonly clock: Clock
  readonly icons: Icons
}

const root = '/api/v1'
const ServerParams = Type.Object({ name: Type.String({ description: 'Configured name of the server' }) })

const ageMeaning = 'Seconds since the server was last reached'
const snapshotHeaders = {
  'X-Snapshot-Age': { type: 'string', description: ageMeaning },
  'X-Snapshot-Source': { type: 'string', description: 'Sources that filled the reply, or none' },
}

const ok = (description: string, content: Readonly<Record<string, { schema: TSchema }>>, headers?: object) => ({
  description,
  ...(headers && { headers }),
  content,
})

const json = (schema: TSchema) => ({ 'application/json': { schema } })

/** Where a set of routes stands and which server it speaks of. */
interface Place {
  readonly path: string
  readonly tag: string
  readonly params?: typeof ServerParams
  /** @throws RequestError where there is no such server */
  watcher(request: FastifyRequest): Watcher
  /** Every server that it can speak of, with the path as a client writes it. */
  all(): readonly { readonly base: string; readonly watcher: Watcher }[]
}

/** The routes of docs under `/api/v1`: each reply is made once per snapshot and then sent as it is. */
export function registerStatusApi(app: FastifyInstance, { fleet, clock, icons }: StatusApiOptions): void {
  const favicon = createFavicon(icons)
  const editions = new Map(fleet.servers.map((server) => [server.name, addressOf(server)?.edition]))
  const schemaOf = (place: Place, summary: string, success: object, failures: readonly (400 | 404 | 503)[]): FastifySchema => ({
    tags: [place.tag],
    summary,
    ...(place.params && { params: place.params }),
    response: { 200: success, ...problems(...failures, ...(place.params ? [404 as const] : [])) },
  })

  function addRoute(place: Place, { path, summary, schema, fields, value }: StatusRoute): void {
    const replyOf = perSnapshot((snapshot) => {
      const base = place.params ? `${root}/servers/${encodeURIComponent(snapshot.server)}` : root
      return prepareJson(value(snapshot, base), { 'x-snapshot-source': sourcesOf(snapshot, fields) })
    })
    const answer = (watcher: Watcher): DirectReply => {
      const { snapshot, age } = current(watcher, clock)
      return { prepared: replyOf(snapshot), volatile: { 'x-snapshot-age': ageText(age) } }
    }
    const handler: RouteHandlerMethod = (request, reply) => {
      const { prepared, volatile } = answer(place.watcher(request))
      return sendPrepared(request, reply, prepared, volatile)
    }
    const pattern = place.path + path
    for (const { base, watcher } of place.all()) app.direct.add(base + path, { pattern, reply: () => answer(watcher) })
    app.get(pattern, { schema: schemaOf(place, summary, ok(summary, json(schema), snapshotHeaders), [503]) }, handler)
  }

  function addFavicon(place: Place): void {
    const success = ok(
      'The icon as 64x64 PNG: base64 text, the same as a JSON string, or the picture itself',
      {
        'text/plain': { schema: Type.String() },
        'application/json': { schema: Type.String() },
        'image/png': { schema: Type.String({ format: 'binary' }) },
      },
      { ...snapshotHeaders, 'X-Favicon': { type: 'string', description: '`default` where the server has no icon of its own' } },
    )
    const querystring = Type.Object({
      size: Type.Optional(
        Type.Integer({ minimum: 16, maximum: 512, description: `Side in pixels of the picture: ${sizes.expected}` }),
      ),
    })
    const schema = { ...schemaOf(place, 'Icon of the server', success, [400, 503]), querystring }
    app.get(`${place.path}/favicon`, { schema }, async (request, reply) => {
      const { snapshot, age } = current(place.watcher(request), clock)
      const { reply: prepared, source } = await favicon(request, snapshot)
      return sendPrepared(request, reply, prepared, { 'x-snapshot-source': source, 'x-snapshot-age': ageText(age) })
    })
  }

  /** The one reply that needs no contact with the server: it tells why there is none. Before the first contact it has no age. */
  function addSources(place: Place): void {
    const replyOf = perSnapshot((snapshot) => {
      const headers = { 'x-snapshot-source': sourcesOf(snapshot, fieldNames) }
      return prepareJson(describeSources(snapshot, editions.get(snapshot.server) ?? 'java'), headers)
    })
    const summary = 'How each source does, and which one gave each field'
    const success = ok(summary, json(Sources), {
      'X-Snapshot-Age': { ...snapshotHeaders['X-Snapshot-Age'], description: `${ageMeaning}; absent before the first time` },
      'X-Snapshot-Source': { type: 'string', description: 'Sources that gave any of the fields, or none' },
    })
    app.get(`${place.path}/sources`, { schema: schemaOf(place, summary, success, []) }, (request, reply: FastifyReply) => {
      const snapshot = place.watcher(request).snapshot()
      const age = ageOf(snapshot, clock)
      return sendPrepared(request, reply, replyOf(snapshot), age === undefined ? {} : { 'x-snapshot-age': ageText(age) })
    })
  }

  const places: readonly Place[] = [
    {
      path: root,
      tag: 'status',
      watcher() {
        const [primary] = fleet.watchers
        if (primary === undefined) throw unavailable('SERVER_UNREACHABLE', 'No server is configured.', 60)
        return primary
      },
      all: () => fleet.watchers.slice(0, 1).map((watcher) => ({ base: root, watcher })),
    },
    {
      path: `${root}/servers/:name`,
      tag: 'servers',
      params: ServerParams,
      watcher(request) {
        const { name } = request.params as { name: string }
        const watcher = fleet.get(name)
        if (watcher === undefined) throw notFound(`There is no server ${shown(name)}; ${root}/servers lists them.`)
        return watcher
      },
      all: () => fleet.watchers.map((watcher) => ({ base: `${root}/servers/${encodeURIComponent(watcher.server)}`, watcher })),
    },
  ]
  for (const place of places) {
    for (const route of statusRoutes) addRoute(place, route)
    addFavicon(place)
    addSources(place)
  }

  // Of the configuration, not of a snapshot: it has no age and no source.
  const summary = 'Names of all servers'
  const names = prepareJson(fleet.servers.map(({ name }) => name))
  app.get(
    `${root}/servers`,
    { schema: { tags: ['servers'], summary, response: { 200: ok(summary, json(ServerNames)) } } },
    (request, reply) => sendPrepared(request, reply, names),
  )
}
