import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { integerParameter, query } from '../../http/parameters.ts'
import { problem } from '../../http/replies/problem.ts'
import { type PreparedReply, sendPrepared } from '../../http/replies/reply.ts'
import { json, lastModified, preparedReplies } from '../../http/replies/responses.ts'
import type { TSchema } from '../../util/schema.ts'
import type { DatabaseRoutes, ReplyRoute } from '../databases/definition.ts'
import { remember } from '../store/database.ts'
import { createQuery, type FilterRoute } from './filter.ts'
import { pageReply, valueList, valueReply } from './replies.ts'
import { LastUpdateText, pageHeaders, pageOf, snapshotReplies, ValueList } from './schemas.ts'

const paging = {
  limit: integerParameter({ minimum: 0, maximum: 50, description: 'Maximum number of entries in the reply', example: 10 }),
  offset: integerParameter({ minimum: 0, maximum: 2_147_483_647, description: 'Number of matches to skip', example: 0 }),
}

const noHeaders = Object.freeze({})

/** A prepared reply without headers that change per request. */
const unchanging = (prepared: PreparedReply | undefined) => prepared && { prepared, volatile: noHeaders }

/** Registers a route that returns a page of the entries that its filter selects. */
function registerFilter(
  { app, current, definition }: DatabaseRoutes,
  page: TSchema,
  { path: below, summary, description, filter }: FilterRoute,
): void {
  const path = `/v1/${definition.name}/${below}`
  const querystring = query({ ...filter.parameters, ...paging })
  const response = {
    ...preparedReplies({ description: summary, content: json(page), headers: pageHeaders }),
    ...problem(400, { code: 'INVALID_PARAMETER', detail: 'Parameter "limit" is "51"; expected an integer from 0 to 50.' }),
    ...snapshotReplies,
  }
  const schema = { tags: [definition.tag.name], summary, description, querystring, response }
  app.withTypeProvider<TypeBoxTypeProvider>().get(path, { schema }, (request, reply) => {
    const { limit, offset, ...values } = request.query
    const selected = createQuery(filter, values)
    const db = current()
    const make = () => pageReply(db, request.basePath + path, selected, limit, offset)
    return sendPrepared(request, reply, remember(db.replies, request.basePath + request.raw.url, make))
  })
  // A page that was requested before; every other request is parsed by the route above.
  app.direct.add(path, { pattern: path, reply: (url, basePath) => unchanging(current().replies.get(basePath + url)) })
}

/** Registers a route without parameters whose reply depends on the snapshot only. */
function registerReply(
  { app, current, definition }: DatabaseRoutes,
  { path: below, summary, description, schema, headers = lastModified, make }: ReplyRoute,
): void {
  const path = `/v1/${definition.name}/${below}`
  const answer = () => {
    const db = current()
    return remember(db.replies, path, () => make(db))
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
  const { noun, format, filters, lists, replies = [], isVisible } = definition
  registerReply(routes, {
    path: 'last_update',
    summary: `When the ${noun} were updated`,
    description: 'The time given in the snapshot.',
    schema: LastUpdateText,
    make: (db) => valueReply(db, db.lastUpdate.text),
  })
  const page = pageOf(format.schema, `Page of ${noun}`)
  for (const filter of filters) registerFilter(routes, page, filter)
  for (const reply of replies) registerReply(routes, reply)
  for (const { path, summary, column, what = 'values' } of lists) {
    registerReply(routes, {
      ...{ path, summary, schema: ValueList },
      description: `The distinct ${what} of all ${isVisible ? 'visible ' : ''}${noun}, sorted by code point.`,
      make: (db) => valueList(db, db.values(column).values),
    })
  }
  definition.registerRoutes?.(routes)
}
