import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { integerParameter, query } from '../../http/parameters.ts'
import { problem } from '../../http/replies/problem.ts'
import { jsonType, type PreparedReply, prepare, prepareJson, sendPrepared } from '../../http/replies/reply.ts'
import { json, lastModified as lastModifiedDocs, preparedReplies } from '../../http/replies/responses.ts'
import type { TSchema } from '../../util/schema.ts'
import type { DatabaseRoutes } from '../database-definition.ts'
import { type Database, remember } from '../store/database.ts'
import type { Selection } from '../store/selection.ts'
import type { Filter, FilterQuery } from './filter.ts'
import { pageLinks } from './page-links.ts'
import { pageHeaders, snapshotReplies } from './schemas.ts'

const paging = {
  limit: integerParameter({ minimum: 0, maximum: 50, description: 'Maximum number of entries in the reply', example: 10 }),
  offset: integerParameter({ minimum: 0, maximum: 2_147_483_647, description: 'Number of matches to skip', example: 0 }),
}

const counted = (total: number) => ({ 'x-total-count': String(total) })

/** The date of the snapshot as a Last-Modified header. */
const lastModified = ({ lastUpdate }: Database) => ({ 'last-modified': new Date(lastUpdate.time * 1000).toUTCString() })

/** A page of all entries of a selection, for routes without paging. */
export const wholePage = (db: Database, selection: Selection, headers: Readonly<Record<string, string>> = lastModified(db)) =>
  prepare(db.entries.page(selection, 0, selection.total), jsonType, { ...headers, ...counted(selection.total) })

/** The reply to a request for a page. The reply and the selection are cached with the database. */
export function answerPage<D extends Database>(
  db: D,
  path: string,
  { given, select }: FilterQuery<D>,
  limit: number,
  offset: number,
): PreparedReply {
  const key = `${path} ${Object.values(given).join(' ')}`
  return remember(db.replies, `${limit} ${offset} ${key}`, () => {
    const selection = remember(db.selections, key, () => select(db))
    const body = db.entries.page(selection, offset, limit)
    const headers = {
      ...lastModified(db),
      ...counted(selection.total),
      ...pageLinks(path, given, selection.total, limit, offset),
    }
    return prepare(body, jsonType, headers)
  })
}

const noHeaders = Object.freeze({})

/** A prepared reply without headers that change per request. */
const unchanging = (prepared: PreparedReply | undefined) => prepared && { prepared, volatile: noHeaders }

/** The OpenAPI texts of a route. */
export interface RouteDocs {
  readonly path: string
  readonly summary: string
  readonly description: string
}

/** A filter with the last segment of its path and its OpenAPI texts. */
export interface FilterRoute<D> {
  readonly name: string
  readonly summary: string
  readonly description: string
  readonly filter: Filter<D>
}

/** How texts are compared, for OpenAPI. */
export const anyCase = 'Case-insensitive; spaces are significant.'

/** Registers the routes `<root>/filter/<name>`, each of which returns a page of the entries that its filter selects. */
export function registerFilters<D extends Database>(
  routes: DatabaseRoutes<D>,
  root: string,
  page: TSchema,
  filters: readonly FilterRoute<D>[],
): void {
  for (const { name, filter, ...docs } of filters)
    registerFilter(routes, { path: `${root}/filter/${name}`, ...docs }, page, filter)
}

function registerFilter<D extends Database>(
  { app, current, tag }: DatabaseRoutes<D>,
  { path, summary, description }: RouteDocs,
  page: TSchema,
  filter: Filter<D>,
): void {
  const querystring = query({ ...filter.parameters, ...paging })
  const response = {
    ...preparedReplies({ description: summary, content: json(page), headers: pageHeaders }),
    ...problem(400, { code: 'INVALID_PARAMETER', detail: 'Parameter "limit" is "51"; expected an integer from 0 to 50.' }),
    ...snapshotReplies,
  }
  const schema = { tags: [tag], summary, description, querystring, response }
  app.withTypeProvider<TypeBoxTypeProvider>().get(path, { schema }, (request, reply) => {
    const { limit, offset, ...values } = request.query
    const selected = filter.createQuery(values)
    const db = current()
    return sendPrepared(request, reply, answerPage(db, request.basePath + path, selected, limit, offset))
  })
}

/** Registers a route without parameters whose reply depends on the snapshot only. */
export function registerReply<D extends Database>(
  { app, current, tag }: DatabaseRoutes<D>,
  { path, summary, description }: RouteDocs,
  schema: TSchema,
  make: (db: D) => PreparedReply,
  headers = lastModifiedDocs,
): void {
  const answer = () => {
    const db = current()
    return remember(db.replies, path, () => make(db))
  }
  const response = { ...preparedReplies({ description: summary, content: json(schema), headers }), ...snapshotReplies }
  app.get(path, { schema: { tags: [tag], summary, description, response } }, (request, reply) =>
    sendPrepared(request, reply, answer()),
  )
  app.direct.add(path, { pattern: path, reply: (url) => (url === path ? unchanging(answer()) : undefined) })
}

export const valueReply = (db: Database, value: unknown) => prepareJson(value, lastModified(db))

export const valueList = (db: Database, results: readonly string[]) => valueReply(db, { results, total_results: results.length })
