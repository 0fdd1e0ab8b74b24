import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { TSchema } from 'typebox'
import { invalidParameter } from '../errors.ts'
import {
  integerParameter,
  type Parameter,
  type Parameters,
  type ParameterValues,
  query,
  textParameter,
} from '../http/parameters.ts'
import { problem } from '../http/problem.ts'
import { jsonType, type PreparedReply, prepare, prepareJson, sendPrepared } from '../http/reply.ts'
import { json, lastModified as lastModifiedDocs, preparedReplies } from '../http/responses.ts'
import { type Database, remember } from './database.ts'
import type { DatabaseRoutes } from './database-definition.ts'
import { dateParameter } from './dates.ts'
import { pageHeaders, snapshotReplies } from './schemas.ts'
import { range, type Selection } from './selection.ts'

const paging = {
  limit: integerParameter({ minimum: 0, maximum: 50, description: 'Maximum number of entries in the reply', example: 10 }),
  offset: integerParameter({ minimum: 0, maximum: 2_147_483_647, description: 'Number of matches to skip', example: 0 }),
}

/** The selection of one request. */
export interface FilterQuery<D> {
  /** The parameters as given, apart from limit and offset. */
  readonly given: Readonly<Record<string, string>>
  select(db: D): Selection
}

/** A filter: its parameters, and the entries that it selects. */
export interface Filter<D, P extends Parameters = Parameters> {
  readonly parameters: P
  /** @throws RequestError INVALID_PARAMETER if the values contradict each other */
  createQuery(values: ParameterValues<P>): FilterQuery<D>
}

/** Every entry. */
export const everything: Filter<Database> = {
  parameters: {},
  createQuery: () => ({ given: {}, select: ({ entries }) => range(0, entries.count) }),
}

/** A filter by one text. */
export const byText = <D>(
  name: string,
  description: string,
  example: string,
  select: (db: D, text: string) => Selection,
): Filter<D> => {
  const parameters: Readonly<Record<string, Parameter<string>>> = { [name]: textParameter({ description, example }) }
  return {
    parameters,
    createQuery(values: ParameterValues<typeof parameters>) {
      const text = values[name] ?? ''
      return { given: { [name]: text }, select: (db) => select(db, text) }
    },
  }
}

const dates = {
  start: dateParameter({ description: 'First day', example: '2019-01-01' }),
  end: dateParameter({ description: 'Last day, inclusive', example: '2026-12-31' }),
}

/** A filter by a range of days since 1970-01-01, both inclusive. */
export const byDates = <D>(select: (db: D, start: number, end: number) => Selection): Filter<D, typeof dates> => ({
  parameters: dates,
  createQuery({ start, end }) {
    if (start.day > end.day) {
      throw invalidParameter(
        `Parameter "start" is "${start.text}", which is after "end" ("${end.text}"); expected a date that is not after it.`,
      )
    }
    return { given: { start: start.text, end: end.text }, select: (db) => select(db, start.day, end.day) }
  },
})

const counted = (total: number) => ({ 'x-total-count': String(total) })

/** The date of the snapshot as a Last-Modified header. */
const lastModified = ({ lastUpdate }: Database) => ({ 'last-modified': new Date(lastUpdate.time * 1000).toUTCString() })

/** Maximum length of the `Link` header, in characters: some proxies limit all headers to 8 KiB. */
const maxLink = 7 * 1024

/**
 * Links to the other pages of a selection (RFC 8288); none with a limit of 0, which has no last page. If four links would be
 * too long, only those to the next and previous page.
 * @param given the parameters besides limit and offset
 */
function links(path: string, given: Readonly<Record<string, string>>, total: number, limit: number, offset: number) {
  if (limit === 0) return {}
  // The page where following `next` ends, also for an offset that is not a multiple of the limit.
  const start = offset % limit
  const last = start < total ? start + Math.floor((total - 1 - start) / limit) * limit : 0
  const link = (relation: string, target: number) => {
    const parameters = new URLSearchParams({ ...given, limit: String(limit), offset: String(target) })
    return `<${path}?${parameters}>; rel="${relation}"`
  }
  const neighbours = [
    ...(offset > 0 ? [link('prev', offset >= total ? last : Math.max(0, offset - limit))] : []),
    ...(offset + limit < total ? [link('next', offset + limit)] : []),
  ]
  const all = [link('first', 0), ...neighbours, link('last', last)].join(', ')
  if (all.length <= maxLink) return { link: all }
  return neighbours.length > 0 ? { link: neighbours.join(', ') } : {}
}

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
    const headers = { ...lastModified(db), ...counted(selection.total), ...links(path, given, selection.total, limit, offset) }
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
