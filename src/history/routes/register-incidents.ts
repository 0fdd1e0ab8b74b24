import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Fleet } from '../../game/fleet.ts'
import { integerParameter, optional, query, withDefault } from '../../http/parameters.ts'
import { publicUrlOf } from '../../http/public-url.ts'
import { problem, problems } from '../../http/replies/problem.ts'
import { prepare, prepareJson, sendPrepared } from '../../http/replies/reply.ts'
import { json, preparedReplies } from '../../http/replies/responses.ts'
import { requestedServers, serversParameter } from '../../http/requested-servers.ts'
import { apiRoot, requestedServer, serverPlaces } from '../../http/server-place.ts'
import type { Clock } from '../../util/clock.ts'
import { Type } from '../../util/schema.ts'
import type { History } from '../history.ts'
import { type Incident, isOngoing } from '../incidents.ts'
import { dayMs } from '../values/levels.ts'
import { maxDays } from '../values/uptime.ts'
import { atomType, incidentFeed } from './incident-feed.ts'
import { IncidentsReply } from './schemas.ts'

const parameters = {
  days: withDefault(
    integerParameter({ minimum: 1, maximum: maxDays, description: 'Those that went on in the last so many days', example: 90 }),
    90,
  ),
  limit: withDefault(
    integerParameter({ minimum: 1, maximum: 1000, description: 'Maximum number of incidents, the newest ones', example: 100 }),
    100,
  ),
}

const ofFeed = { days: 90, limit: 50 }

export interface IncidentRoutesOptions {
  readonly fleet: Fleet
  readonly history: History
  readonly clock: Clock
  /** PAGE_TITLE */
  readonly title: string
}

const toReply = (incident: Incident, now: number) => {
  const { id, server, kind, from, to, knownAt, unknownMs, detail, notes } = incident
  return {
    ...{ id, server, kind, from, to, ongoing: isOngoing(incident, now), knownAt, unknown: unknownMs },
    ...{ reason: kind === 'lag' ? null : detail, tickRate: kind === 'lag' && detail !== null ? Number(detail) : null },
    notes,
  }
}

/** `/api/v1/incidents` of all servers, `/incidents` of each, and both as Atom feeds. */
export function registerIncidents(app: FastifyInstance, { fleet, history, clock, title }: IncidentRoutesOptions): void {
  const routes = app.withTypeProvider<TypeBoxTypeProvider>()
  const startedAt = Math.round(clock.wall())

  function read({ days, limit }: typeof ofFeed, servers?: Iterable<string>): Promise<readonly Incident[]> {
    const since = Math.round(clock.wall()) - days * dayMs
    return history.incidents({ since, limit, ...(servers && { servers: [...servers] }) })
  }
  async function reply(values: typeof ofFeed, servers?: Iterable<string>) {
    const incidents = await read(values, servers)
    const now = clock.wall()
    return prepareJson({ incidents: incidents.map((incident) => toReply(incident, now)) })
  }
  const schema = (tag: string, summary: string) => ({
    ...{ tags: [tag], summary },
    description: 'Recorded times in which a server was down, hung or lagging. Nothing is recorded while it is in maintenance.',
    response: {
      ...preparedReplies({ description: summary, content: json(IncidentsReply) }),
      ...problem(400, { code: 'INVALID_PARAMETER', detail: 'Parameter "days" is "0"; expected an integer from 1 to 400.' }),
      ...problems(404),
    },
  })

  routes.get(
    `${apiRoot}/incidents`,
    {
      schema: {
        ...schema('servers', 'Incidents of all servers'),
        querystring: query({ ...parameters, servers: optional(serversParameter) }),
      },
    },
    async (request, sent) => sendPrepared(request, sent, await reply(request.query, requestedServers(request, fleet))),
  )
  const [, place] = serverPlaces(fleet)
  if (place !== undefined)
    routes.get(
      `${place.path}/incidents`,
      {
        schema: {
          ...schema(place.tag, 'Incidents'),
          ...(place.params && { params: place.params }),
          querystring: query(parameters),
        },
      },
      async (request, sent) => sendPrepared(request, sent, await reply(request.query, [place.watcher(request).server])),
    )

  const feed = async (request: FastifyRequest, page: string, feedTitle: string, servers?: Iterable<string>) =>
    prepare(
      incidentFeed(await read(ofFeed, servers), {
        ...{ title: feedTitle, base: publicUrlOf(request), page, startedAt },
        path: `${page === '' ? '' : `${page}/`}incidents.atom`,
      }),
      atomType,
    )
  const feedSchema = (tag: string) => ({
    ...{ tags: [tag], summary: 'Incidents as an Atom feed', description: 'The last 50 incidents of 90 days.' },
    response: {
      ...preparedReplies({
        description: 'Atom feed',
        content: {
          'application/atom+xml': { schema: Type.String(), example: '<feed xmlns="http://www.w3.org/2005/Atom">…</feed>' },
        },
      }),
      ...problems(404),
    },
  })
  app.get('/incidents.atom', { schema: feedSchema('servers') }, async (request, sent) =>
    sendPrepared(request, sent, await feed(request, '', title)),
  )
  app.get(
    '/servers/:name/incidents.atom',
    { schema: { ...feedSchema('servers'), ...(place?.params && { params: place.params }) } },
    async (request, sent) => {
      const { server } = requestedServer(fleet, request)
      return sendPrepared(
        request,
        sent,
        await feed(request, `servers/${encodeURIComponent(server)}`, `${server} – ${title}`, [server]),
      )
    },
  )
}
