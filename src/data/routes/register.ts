import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import { integerParameter, query } from '../../http/parameters.ts'
import { problem } from '../../http/replies/problem.ts'
import { type PreparedReply, sendPrepared } from '../../http/replies/reply.ts'
import { json, lastModified, preparedReplies } from '../../http/replies/responses.ts'
import type { Clock } from '../../util/clock.ts'
import type { TSchema } from '../../util/schema.ts'
import type { DatabaseDefinition, ReplyRoute } from '../databases/definition.ts'
import type { Database } from '../store/database.ts'
import { dayAt, formatLastUpdate } from '../store/dates.ts'
import type { Store } from '../store/store.ts'
import { type FilterRoute, select } from './filter.ts'
import { pageReply, valueReply, wholePage } from './replies.ts'
import { LastUpdateText, pageHeaders, pageOf, snapshotReplies } from './schemas.ts'

const paging = {
  limit: integerParameter({ minimum: 0, maximum: 50, description: 'Maximum number of entries in the reply', example: 10 }),
  offset: integerParameter({ minimum: 0, maximum: 2_147_483_647, description: 'Number of matches to skip', example: 0 }),
}

const noHeaders = Object.freeze({})

/** A prepared reply without headers that change per request. */
const unchanging = (prepared: PreparedReply | undefined) => prepared && { prepared, volatile: noHeaders }

interface DatabaseRoutes {
  readonly app: FastifyInstance
  /** See {@link Store.current}. */
  readonly current: () => Database
  readonly definition: DatabaseDefinition
  readonly clock: Clock
}

/** Registers a route that returns a page of the entries that its filter selects. */
function registerFilter(
  { app, current, definition }: DatabaseRoutes,
  page: TSchema,
  { path: below, summary, description, filter, unpaged }: FilterRoute,
): void {
  const path = `/v1/${definition.name}/${below}`
  const querystring = query({ ...filter.parameters, ...(unpaged === undefined && paging) })
  const detail = unpaged ?? 'Parameter "limit" is "51"; expected an integer from 0 to 50.'
  const response = {
    ...preparedReplies({ description: summary, content: json(page), headers: pageHeaders }),
    ...problem(400, { code: 'INVALID_PARAMETER', detail }),
    ...snapshotReplies,
  }
  const schema = { tags: [definition.tag.name], summary, description, querystring, response }
  app.withTypeProvider<TypeBoxTypeProvider>().get(path, { schema }, (request, reply) => {
    const { limit, offset, ...values } = request.query
    filter.check?.(values)
    const db = current()
    const make = () => {
      const selection = select(db, filter, values)
      if (limit === undefined || offset === undefined) return wholePage(db, selection)
      return pageReply(db, selection, { path: request.basePath + path, values, limit, offset })
    }
    return sendPrepared(request, reply, db.reply(request.basePath + request.raw.url, make))
  })
  // A page that was requested before; every other request is parsed by the route above.
  app.direct.add(path, { pattern: path, reply: (url, basePath) => unchanging(current().replies.get(basePath + url)) })
}

function registerReply(
  { app, current, definition, clock }: DatabaseRoutes,
  { path: below, summary, description, schema, headers = lastModified, isDaily, make }: ReplyRoute,
): void {
  const path = `/v1/${definition.name}/${below}`
  const answer = () => {
    const db = current()
    const today = dayAt(clock.wall(), 2)
    return db.reply(isDaily ? `${path} ${today}` : path, () => make(db, today))
  }
  const response = { ...preparedReplies({ description: summary, content: json(schema), headers }), ...snapshotReplies }
  app.get(path, { schema: { tags: [definition.tag.name], summary, description, response } }, (request, reply) =>
    sendPrepared(request, reply, answer()),
  )
  app.direct.add(path, { pattern: path, reply: (url) => (url === path ? unchanging(answer()) : undefined) })
}

/** Registers the routes of a database, `/v1/<name>/...`. */
export function registerDatabase(routes: DatabaseRoutes): void {
  const { definition } = routes
  const { noun, format, filters, replies } = definition
  registerReply(routes, {
    path: 'last_update',
    summary: `When the ${noun} were updated`,
    description: 'The time given in the snapshot.',
    schema: LastUpdateText,
    make: (db) => valueReply(db, formatLastUpdate(db.snapshot.lastUpdate)),
  })
  const page = pageOf(format.schema, `Page of ${noun}`)
  for (const filter of filters) registerFilter(routes, page, filter)
  for (const reply of replies) registerReply(routes, reply)
}
