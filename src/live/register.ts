import type { FastifyInstance } from 'fastify'
import type { Fleet } from '../game/fleet.ts'
import { methodOf } from '../http/other-methods.ts'
import { optional, query } from '../http/parameters.ts'
import { problem, problems } from '../http/replies/problem.ts'
import { eventStreamType } from '../http/replies/reply.ts'
import { requestedServers, serversParameter } from '../http/requested-servers.ts'
import { apiRoot } from '../http/server-place.ts'
import { unavailable } from '../util/errors.ts'
import { Type } from '../util/schema.ts'
import type { EventHub } from './hub.ts'

export interface LiveOptions {
  readonly fleet: Fleet
  readonly hub: EventHub
  /** For clients that want all servers; default: `hub`. */
  readonly overviewHub?: EventHub
  /** Default: `/api/v1/events`. Another path is for the status page only: not documented, and not readable from other origins. */
  readonly path?: string
}

/** Seconds after which a refused client may try again. */
const retryAfterSeconds = 10

const eventExample = 'id: 42\nevent: change\ndata: {"server":"survival","at":1795269600000,"online":14}\n\n'

const eventNames = ['snapshot', 'change', 'join', 'leave', 'up', 'down']

const schema = {
  tags: ['servers'],
  summary: 'Events',
  description:
    'Server-sent events: the state of each server on connect, then its changes as they happen. A client that reconnects with Last-Event-ID receives the events that it missed, if they are still available.',
  querystring: query({
    // Only for the description of the API: requestedServers() reads it from the URL.
    servers: optional(serversParameter),
  }),
  headers: Type.Object({
    'last-event-id': Type.Optional(
      Type.String({
        description: 'Id of the last event received; the events after it are sent if they are still available',
        examples: ['42'],
      }),
    ),
  }),
  response: {
    200: {
      description: `Events ${eventNames.join(', ')}, each with an id and one line of JSON`,
      content: { 'text/event-stream': { schema: Type.String(), example: eventExample } },
    },
    ...problems(400, 404),
    ...problem(429, {
      code: 'TOO_MANY_REQUESTS',
      detail: '200 event streams of this client are open, which is the limit (CLIENT_STREAMS).',
    }),
    ...problem(503, {
      code: 'TOO_MANY_CLIENTS',
      detail: '1000 clients are connected, which is the limit (EVENTS_LIMIT).',
    }),
  },
}

/** `/api/v1/events`. The streams are ended when the app closes. */
export function registerLive(app: FastifyInstance, { fleet, hub, overviewHub = hub, path }: LiveOptions): void {
  const isOwn = path === undefined
  const options = { schema: { ...schema, hide: !isOwn }, config: { crossOrigin: isOwn } }
  // Before the app waits for open connections: a stream never ends by itself.
  app.addHook('preClose', (done) => {
    hub.close()
    overviewHub.close()
    done()
  })

  app.get(path ?? `${apiRoot}/events`, options, (request, reply) => {
    const servers = requestedServers(request, fleet)
    const { isFull, maxClients, connect } = servers === undefined ? overviewHub : hub
    const given = request.headers['last-event-id']
    const lastId = typeof given === 'string' && /^\d{1,16}$/.test(given) ? Number(given) : undefined
    app.clientLimits.openStream(request, reply)
    if (isFull) {
      const detail = `${maxClients} clients are connected, which is the limit (EVENTS_LIMIT).`
      throw unavailable('TOO_MANY_CLIENTS', detail, retryAfterSeconds)
    }
    reply.hijack()
    reply.raw.writeHead(200, {
      ...reply.crossOrigin,
      'content-type': eventStreamType,
      'cache-control': 'no-store',
      // nginx would buffer the events.
      'x-accel-buffering': 'no',
    })
    if (methodOf(request.raw) === 'HEAD') {
      reply.raw.end()
      return
    }
    reply.raw.flushHeaders()
    connect({ sink: reply.raw, ...(servers && { servers }), ...(lastId !== undefined && { lastId }) })
  })
}
