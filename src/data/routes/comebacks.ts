import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { integerParameter, query } from '../../http/parameters.ts'
import { problem } from '../../http/replies/problem.ts'
import { sendPrepared } from '../../http/replies/reply.ts'
import { json, preparedReplies } from '../../http/replies/responses.ts'
import type { DatabaseRoutes } from '../database-definition.ts'
import type { ComebacksDatabase } from '../store/comebacks-database.ts'
import { remember } from '../store/database.ts'
import { dayAt } from '../store/dates.ts'
import { listed, range } from '../store/selection.ts'
import { byDates, byText, everything } from './filter.ts'
import { anyCase, type FilterRoute, registerFilters, registerReply, valueList, valueReply, wholePage } from './paging.ts'
import { ComebackInfo, ComebackPage, LastUpdateText, pageHeaders, snapshotReplies, ValueList } from './schemas.ts'

/** Path prefix of the routes. */
const root = '/v1/kcomebacks'

const filters: readonly FilterRoute<ComebacksDatabase>[] = [
  {
    name: 'getall',
    summary: 'All comebacks',
    description: 'One page of all comebacks, oldest first.',
    filter: everything,
  },
  {
    name: 'daterange',
    summary: 'Comebacks by date range',
    description: 'Compares KST dates. Comebacks whose day is unknown, such as 2019-11-TBA, never match.',
    filter: byDates((db, start, end) => db.day.between(start, end)),
  },
  {
    name: 'artist',
    summary: 'Comebacks by artist',
    description: `Comebacks whose artist contains the given text. ${anyCase}`,
    filter: byText('artist', 'Text to find in the artist', 'sample', (db, text) => listed(db.artist.find(text))),
  },
  {
    name: 'title',
    summary: 'Comebacks by title',
    description: `Comebacks whose title contains the given text. ${anyCase}`,
    filter: byText('title', 'Text to find in the title', 'song', (db, text) => listed(db.title.find(text))),
  },
  {
    name: 'type',
    summary: 'Comebacks by type',
    description: 'Comebacks with this type. `filter/gettypes` lists the types.',
    filter: byText('type', 'The type, exactly', 'album', (db, text) => listed(db.types.having(text))),
  },
]

/** Upcoming ranges, in days ahead. */
const windows = [
  ['today', "Today's comebacks", 0],
  ['week', 'Comebacks of the next 7 days', 7],
  ['month', 'Comebacks of the next 31 days', 31],
] as const

/** Without a maximum: an unknown id is not an error. */
const id = integerParameter({
  minimum: 0,
  description: 'Position in the database, from 0',
  example: 0,
})

/** `/v1/kcomebacks/...` */
export function registerComebackRoutes(routes: DatabaseRoutes<ComebacksDatabase>): void {
  const docs = (path: string, summary: string, description: string) => ({ path: `${root}/${path}`, summary, description })
  registerReply(
    routes,
    docs('last_update', 'When the comebacks were updated', 'The time given in the snapshot.'),
    LastUpdateText,
    (db) => valueReply(db, db.lastUpdate.text),
  )
  registerId(routes, `${root}/filter/id`, 'A page with the entry; empty if no comeback has the id.')
  registerId(routes, `${root}/filterid`, 'Alias of `filter/id`.')
  registerFilters(routes, root, ComebackPage, filters)
  registerReply(
    routes,
    docs('filter/first', 'The oldest comeback', 'A page with one entry; empty if the database is empty.'),
    ComebackPage,
    (db) => wholePage(db, range(0, Math.min(1, db.entries.count))),
    pageHeaders,
  )
  registerReply(
    routes,
    docs('filter/last', 'The newest comeback', 'A page with one entry; empty if the database is empty.'),
    ComebackPage,
    (db) => wholePage(db, range(Math.max(0, db.entries.count - 1), Math.min(1, db.entries.count))),
    pageHeaders,
  )
  registerReply(
    routes,
    docs('filter/gettypes', 'All types', 'The distinct types of all comebacks, sorted by code point.'),
    ValueList,
    (db) => valueList(db, db.types.values),
  )
  registerReply(
    routes,
    docs('filter/getinfo', 'Totals of the database', 'Number of comebacks and artists, and the first and last date.'),
    ComebackInfo,
    (db) => valueReply(db, db.info),
  )
  for (const [name, summary, days] of windows) registerUpcoming(routes, `${root}/upcoming/${name}`, summary, days)
}

function registerId({ app, current, tag }: DatabaseRoutes<ComebacksDatabase>, path: string, description: string): void {
  const summary = 'One comeback by id'
  const response = {
    ...preparedReplies({ description: summary, content: json(ComebackPage), headers: pageHeaders }),
    ...problem(400, { code: 'INVALID_PARAMETER', detail: 'Parameter "id" is "-1"; expected an integer of at least 0.' }),
    ...snapshotReplies,
  }
  const schema = { tags: [tag], summary, description, querystring: query({ id }), response }
  app.withTypeProvider<TypeBoxTypeProvider>().get(path, { schema }, (request, reply) => {
    const db = current()
    const found = request.query.id < db.entries.count ? range(request.query.id, 1) : range(0, 0)
    return sendPrepared(request, reply, wholePage(db, found))
  })
}

function registerUpcoming(
  { app, current, tag, clock }: DatabaseRoutes<ComebacksDatabase>,
  path: string,
  summary: string,
  days: number,
): void {
  const description =
    'All matches in one reply. Today is the date in UTC+02:00; it is compared with the KST dates of the comebacks.'
  const response = { ...preparedReplies({ description: summary, content: json(ComebackPage) }), ...snapshotReplies }
  app.get(path, { schema: { tags: [tag], summary, description, response } }, (request, reply) => {
    const db = current()
    const today = dayAt(clock.wall(), 2)
    // Without Last-Modified: the reply also changes with the day.
    const prepared = remember(db.replies, `${path} ${today}`, () => wholePage(db, db.day.between(today, today + days), {}))
    return sendPrepared(request, reply, prepared)
  })
}
