import { Type } from 'typebox'
import { type Parameter, required } from '../http/query.ts'
import { sendPrepared } from '../http/reply.ts'
import type { ComebacksDatabase } from './comebacks-database.ts'
import type { DatabaseRoutes } from './database-definition.ts'
import { dayAt } from './dates.ts'
import {
  byDates,
  byText,
  everything,
  type Filter,
  registerFilter,
  registerReply,
  valueList,
  valueReply,
  wholePage,
} from './paging.ts'
import { ComebackInfo, ComebackPage, errors, LastUpdateText, ValueList } from './schemas.ts'
import { listed, range } from './selection.ts'

const filters: readonly (readonly [name: string, summary: string, Filter<ComebacksDatabase>])[] = [
  ['getall', 'All comebacks, oldest first', everything],
  ['daterange', 'Comebacks within a range of KST dates', byDates((db, start, end) => db.day.between(start, end))],
  [
    'artist',
    'Comebacks whose artist contains a text, in any letter case',
    byText('artist', 'sample', (db, text) => listed(db.artist.find(text))),
  ],
  [
    'title',
    'Comebacks whose title contains a text, in any letter case',
    byText('title', 'song', (db, text) => listed(db.title.find(text))),
  ],
  ['type', 'Comebacks of a type', byText('type', 'album', (db, text) => listed(db.types.having(text)))],
]

/** Days ahead, today included. */
const windows = [
  ['today', 'Comebacks of today', 0],
  ['week', 'Comebacks of the next 7 days', 7],
  ['month', 'Comebacks of the next 31 days', 31],
] as const

/** No upper bound: an id that no entry has is no mistake. */
const entryId: Parameter<number> = {
  expected: 'an integer of at least 0',
  parse: (text) => (/^\d+$/.test(text) ? Number(text) : undefined),
}

/** `/v1/kcomebacks/...` */
export function registerComebackRoutes(routes: DatabaseRoutes<ComebacksDatabase>): void {
  registerReply(routes, '/v1/kcomebacks/last_update', 'When the comebacks were updated', LastUpdateText, (db) =>
    valueReply(db, db.lastUpdate.text),
  )
  registerId(routes, '/v1/kcomebacks/filter/id')
  registerId(routes, '/v1/kcomebacks/filterid')
  for (const [name, summary, filter] of filters) {
    registerFilter(routes, `/v1/kcomebacks/filter/${name}`, summary, ComebackPage, filter)
  }
  registerReply(routes, '/v1/kcomebacks/filter/first', 'The oldest comeback', ComebackPage, (db) =>
    wholePage(db, range(0, Math.min(1, db.entries.count))),
  )
  registerReply(routes, '/v1/kcomebacks/filter/last', 'The most recent comeback', ComebackPage, (db) =>
    wholePage(db, range(Math.max(0, db.entries.count - 1), Math.min(1, db.entries.count))),
  )
  registerReply(routes, '/v1/kcomebacks/filter/gettypes', 'Every type', ValueList, (db) => valueList(db, db.types.values))
  registerReply(routes, '/v1/kcomebacks/filter/getinfo', 'Numbers of the database', ComebackInfo, (db) => valueReply(db, db.info))
  for (const [name, summary, days] of windows) registerUpcoming(routes, `/v1/kcomebacks/upcoming/${name}`, summary, days)
}

function registerId({ app, current, tag }: DatabaseRoutes<ComebacksDatabase>, path: string): void {
  const querystring = Type.Object({ id: Type.Integer({ minimum: 0, description: 'Place in the database', examples: [0] }) })
  const schema = { tags: [tag], summary: 'The comeback with an id', querystring, response: { 200: ComebackPage, ...errors } }
  app.get(path, { schema }, (request, reply) => {
    const id = required(request, 'id', entryId)
    const db = current()
    const found = id < db.entries.count ? range(id, 1) : range(0, 0)
    return sendPrepared(request, reply, wholePage(db, found))
  })
}

function registerUpcoming(
  { app, current, tag, clock }: DatabaseRoutes<ComebacksDatabase>,
  path: string,
  summary: string,
  days: number,
): void {
  app.get(path, { schema: { tags: [tag], summary, response: { 200: ComebackPage, ...errors } } }, (request, reply) => {
    const db = current()
    const today = dayAt(clock.wall(), 2)
    // Not dated: the reply changes with the day too.
    const prepared = db.replies.get(`${path} ${today}`, () => wholePage(db, db.day.between(today, today + days), {}))
    return sendPrepared(request, reply, prepared)
  })
}
