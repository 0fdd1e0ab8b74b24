import type { FastifyRequest } from 'fastify'
import { type TProperties, type TSchema, Type } from 'typebox'
import { invalidParameter } from '../errors.ts'
import { integer, nonEmptyText, type Parameter, required } from '../http/query.ts'
import { jsonType, type PreparedReply, prepare, prepareJson, sendPrepared } from '../http/reply.ts'
import type { Database } from './database.ts'
import type { DatabaseRoutes } from './database-definition.ts'
import { parseDay } from './dates.ts'
import { errors } from './schemas.ts'
import { range, type Selection } from './selection.ts'

const limit = integer(0, 50)
const offset = integer(0, 2_147_483_647)
const day: Parameter<{ readonly text: string; readonly day: number }> = {
  expected: 'a calendar date of the form YYYY-MM-DD',
  parse(text) {
    const day = parseDay(text)
    return day === undefined ? undefined : { text, day }
  },
}

const pagingSchema = {
  limit: Type.Integer({ minimum: 0, maximum: 50, description: 'Entries to return at the most', examples: [10] }),
  offset: Type.Integer({ minimum: 0, maximum: 2_147_483_647, description: 'Matches to skip', examples: [0] }),
}

/** What one request asks of a database. */
export interface Ask<D> {
  /** The parameters as given, apart from limit and offset. */
  readonly given: Readonly<Record<string, string>>
  select(db: D): Selection
}

/** A filter: which parameters it takes, and the entries it selects. */
export interface Filter<D> {
  readonly parameters: TProperties
  ask(request: FastifyRequest): Ask<D>
}

/** Every entry. */
export const everything: Filter<Database> = {
  parameters: {},
  ask: () => ({ given: {}, select: ({ entries }) => range(0, entries.count) }),
}

/** A filter by one text that is not empty. */
export const byText = <D>(name: string, example: string, select: (db: D, text: string) => Selection): Filter<D> => ({
  parameters: { [name]: Type.String({ minLength: 1, examples: [example] }) },
  ask(request) {
    const text = required(request, name, nonEmptyText)
    return { given: { [name]: text }, select: (db) => select(db, text) }
  },
})

/** A filter by two dates, given as days since 1970-01-01, both inclusive. */
export const byDates = <D>(select: (db: D, start: number, end: number) => Selection): Filter<D> => ({
  parameters: {
    start: Type.String({ description: 'YYYY-MM-DD, inclusive', examples: ['2019-01-01'] }),
    end: Type.String({ description: 'YYYY-MM-DD, inclusive', examples: ['2026-12-31'] }),
  },
  ask(request) {
    const start = required(request, 'start', day)
    const end = required(request, 'end', day)
    if (start.day > end.day) {
      throw invalidParameter(
        `Parameter "start" is "${start.text}", which is after "end" ("${end.text}"); expected a date up to it.`,
      )
    }
    return { given: { start: start.text, end: end.text }, select: (db) => select(db, start.day, end.day) }
  },
})

/** Headers that tell how many match in all, and that pages of other origins may read. */
const counted = (total: number) => ({ 'x-total-count': String(total) })

/** A date of the snapshot as an HTTP date. */
const lastModified = ({ lastUpdate }: Database) => ({ 'last-modified': new Date(lastUpdate.time * 1000).toUTCString() })

/**
 * Links to the other pages of a selection (RFC 8288); none where pages of no entries would never end.
 * @param query the parameters beside limit and offset
 */
function links(path: string, query: Readonly<Record<string, string>>, total: number, limit: number, offset: number) {
  if (limit === 0) return {}
  const last = Math.max(0, Math.ceil(total / limit) - 1) * limit
  const targets = {
    first: 0,
    ...(offset > 0 && { prev: offset >= total ? last : Math.max(0, offset - limit) }),
    ...(offset + limit < total && { next: offset + limit }),
    last,
  }
  const link = Object.entries(targets).map(([relation, target]) => {
    const parameters = new URLSearchParams({ ...query, limit: String(limit), offset: String(target) })
    return `<${path}?${parameters}>; rel="${relation}"`
  })
  return { link: link.join(', ') }
}

/** A page of all entries of a selection, for routes without paging. */
export const wholePage = (db: Database, selection: Selection, headers: Readonly<Record<string, string>> = lastModified(db)) =>
  prepare(db.entries.page(selection, 0, selection.total), jsonType, { ...headers, ...counted(selection.total) })

/** The reply to a request for a page: remembered, as is what the filter selects, for the life of the database. */
export function answerPage<D extends Database>(
  db: D,
  path: string,
  { given, select }: Ask<D>,
  most: number,
  skip: number,
): PreparedReply {
  const key = `${path} ${Object.values(given).join(' ')}`
  return db.replies.get(`${most} ${skip} ${key}`, () => {
    const selection = db.selections.get(key, () => select(db))
    const body = db.entries.page(selection, skip, most)
    const headers = { ...lastModified(db), ...counted(selection.total), ...links(path, given, selection.total, most, skip) }
    return prepare(body, jsonType, headers)
  })
}

const noHeaders = Object.freeze({})

/** The same for each request. */
const unchanging = (prepared: PreparedReply | undefined) => prepared && { prepared, volatile: noHeaders }

/** A route that answers with a page of what a filter selects. */
export function registerFilter<D extends Database>(
  { app, current, tag }: DatabaseRoutes<D>,
  path: string,
  summary: string,
  page: TSchema,
  filter: Filter<D>,
): void {
  const querystring = Type.Object({ ...filter.parameters, ...pagingSchema })
  app.get(path, { schema: { tags: [tag], summary, querystring, response: { 200: page, ...errors } } }, (request, reply) => {
    const ask = filter.ask(request)
    const [most, skip] = [required(request, 'limit', limit), required(request, 'offset', offset)]
    const db = current()
    return sendPrepared(request, reply, answerPage(db, path, ask, most, skip))
  })
}

/** A route without parameters whose reply changes with the snapshot only. */
export function registerReply<D extends Database>(
  { app, current, tag }: DatabaseRoutes<D>,
  path: string,
  summary: string,
  response: TSchema,
  make: (db: D) => PreparedReply,
): void {
  const answer = () => {
    const db = current()
    return db.replies.get(path, () => make(db))
  }
  app.get(path, { schema: { tags: [tag], summary, response: { 200: response, ...errors } } }, (request, reply) =>
    sendPrepared(request, reply, answer()),
  )
  app.direct.add(path, { pattern: path, reply: () => unchanging(answer()) })
}

export const valueReply = (db: Database, value: unknown) => prepareJson(value, lastModified(db))

export const valueList = (db: Database, results: readonly string[]) => valueReply(db, { results, total_results: results.length })
