import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Clock } from '../clock.ts'
import { invalidParameter, unavailable } from '../errors.ts'
import type { Fleet } from '../game/fleet.ts'
import { problems } from '../http/problem.ts'
import { eventStreamType } from '../http/reply.ts'
import { apiRoot, requireServer } from '../http/server-place.ts'
import { createEventHub, type EventHub } from './hub.ts'
import type { ToState } from './state.ts'

export interface LiveOptions {
  readonly fleet: Fleet
  readonly clock: Clock
  /** Event clients at once. */
  readonly maxClients: number
  /** Default `/api/v1/events`. Another path is for the status page alone: not described, nor readable from other origins. */
  readonly path?: string
  /** What is sent of a snapshot; default the state as the API describes it. */
  readonly toState?: ToState
}

/** Seconds after which a client that was refused may try again. */
const retryAfterSeconds = 10

const expected = 'names of servers separated by commas, each percent-encoded'

/**
 * The servers of `?servers=`, undefined where it is absent. It is read from the URL itself: a comma between names and an encoded
 * comma within a name are the same once the query is decoded. A client that encodes the commas between the names too is understood
 * as long as no server has such a name.
 * @throws RequestError INVALID_PARAMETER, NOT_FOUND
 */
function requestedServers({ raw }: FastifyRequest, fleet: Fleet): ReadonlySet<string> | undefined {
  const query = raw.url?.split('?').slice(1).join('?') ?? ''
  const values = query.split('&').flatMap((part) => (part.startsWith('servers=') ? [part.slice('servers='.length)] : []))
  const [value] = values
  if (value === undefined) return undefined
  if (values.length > 1) throw invalidParameter(`Parameter "servers" is given ${values.length} times; it must be given once.`)
  const names = value.split(',').flatMap((part) => {
    const name = decode(part)
    return fleet.get(name) === undefined && name.includes(',') ? name.split(',') : [name]
  })
  if (names.includes('')) throw invalidParameter(`Parameter "servers" has an empty name; expected ${expected}.`)
  return new Set(names.map((name) => requireServer(fleet, name).server))
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part.replaceAll('+', ' '))
  } catch {
    throw invalidParameter(`Parameter "servers" is not percent-encoded UTF-8; expected ${expected}.`)
  }
}

const eventNames = ['snapshot', 'change', 'join', 'leave', 'up', 'down']

const schema = {
  tags: ['servers'],
  summary: 'Changes of all servers as they happen, as server-sent events',
  querystring: Type.Object({
    servers: Type.Optional(Type.String({ description: `Only these servers: ${expected}` })),
  }),
  headers: Type.Object({
    'last-event-id': Type.Optional(
      Type.String({ description: 'Id of the last event seen; the events after it are sent while they are remembered' }),
    ),
  }),
  response: {
    200: {
      description: `Events ${eventNames.join(', ')}, each with an id and one line of JSON`,
      content: { 'text/event-stream': { schema: Type.String() } },
    },
    ...problems(400, 404, 503),
  },
}

/** `/api/v1/events`. The streams are ended when the app closes. */
export function registerLive(app: FastifyInstance, { fleet, clock, maxClients, path, toState }: LiveOptions): EventHub {
  const hub = createEventHub(fleet, clock, maxClients, toState)
  const isOwn = path === undefined
  const options = { schema: { ...schema, hide: !isOwn }, config: { crossOrigin: isOwn } }
  // Before the app waits for its connections to end: a stream never ends by itself.
  app.addHook('preClose', (done) => {
    hub.close()
    done()
  })

  app.get(path ?? `${apiRoot}/events`, options, (request, reply) => {
    const servers = requestedServers(request, fleet)
    const given = request.headers['last-event-id']
    const lastId = typeof given === 'string' && /^\d{1,16}$/.test(given) ? Number(given) : undefined
    if (hub.isFull) {
      const detail = `${maxClients} clients follow the events already, which is the limit (EVENTS_LIMIT).`
      throw unavailable('TOO_MANY_CLIENTS', detail, retryAfterSeconds)
    }
    reply.hijack()
    reply.raw.writeHead(200, {
      ...reply.crossOrigin,
      'content-type': eventStreamType,
      'cache-control': 'no-store',
      // nginx would collect the events before it passes them on.
      'x-accel-buffering': 'no',
    })
    if (request.method === 'HEAD') {
      reply.raw.end()
      return
    }
    reply.raw.flushHeaders()
    hub.connect({ sink: reply.raw, ...(servers && { servers }), ...(lastId !== undefined && { lastId }) })
  })
  return hub
}
