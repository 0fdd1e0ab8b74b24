import { integerParameter } from '../../http/parameters.ts'
import type { Static } from '../../util/schema.ts'
import { type FilterRoute, filtersOf, isBetween } from '../routes/filter.ts'
import { listRoute, valueReply, wholePage } from '../routes/replies.ts'
import { ComebackInfo, pageHeaders, pageOf } from '../routes/schemas.ts'
import type { Database, Selection } from '../store/database.ts'
import { createFormat, type EntryOf, type Fields } from '../store/fields.ts'
import type { DatabaseDefinition, ReplyRoute } from './definition.ts'

const fields = {
  date: {
    kind: 'text',
    required: true,
    description: 'Date in KST (UTC+09:00) as written, such as 2019-11-1 or 2019-11-TBA',
  },
  time: { kind: 'text', default: '--:--', description: 'Time in KST; --:-- if it is unknown' },
  artist: { kind: 'text', required: true },
  title: { kind: 'text', required: true },
  types: { kind: 'values' },
  links: { kind: 'values' },
} as const satisfies Fields

/** One comeback as served. */
export type Comeback = EntryOf<typeof fields>

/** kcomebacks.json, oldest entry first. */
export const comebackFormat = createFormat<Comeback>({
  title: 'Comeback',
  fields,
  warning: ({ date }) => (/^\d{4}-\d{2}-/.test(date) ? undefined : 'date is not of the form YYYY-MM-DD'),
  example: {
    date: '2019-11-1',
    time: '18:00',
    artist: 'Sample Artist 1',
    title: 'Sample Song 1',
    types: ['album', 'digital'],
    links: ['https://example.org/listen/1'],
  },
})

const ComebackPage = pageOf(comebackFormat.schema, 'Page of comebacks')

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

const comebacks = filtersOf('comebacks')

const byId = (path: string, description: string): FilterRoute => ({
  ...{ path, summary: 'One comeback by id', description },
  unpaged: 'Parameter "id" is "-1"; expected an integer of at least 0.',
  filter: { parameters: { id }, matches: (_db, values) => (entry) => entry === values.id },
})

const endReply = (name: string, which: string, select: (all: Selection) => Selection): ReplyRoute => ({
  path: `filter/${name}`,
  summary: `The ${which} comeback`,
  description: 'A page with one entry; empty if the database is empty.',
  schema: ComebackPage,
  headers: pageHeaders,
  make: (db) => wholePage(db, select(db.all)),
})

const infoOf = (entries: readonly Comeback[]): Static<typeof ComebackInfo> => ({
  num_items: entries.length,
  num_artists: new Set(entries.map(({ artist }) => artist)).size,
  start_date: entries[0]?.date ?? '',
  end_date: entries.at(-1)?.date ?? '',
})

export const comebacksDatabase: DatabaseDefinition<Comeback> = {
  name: 'kcomebacks',
  noun: 'comebacks',
  setting: 'kcomebacksSnapshot',
  format: comebackFormat,
  tag: { name: 'comebacks', description: 'A database of music releases, dated in KST (UTC+09:00)' },
  filters: [
    comebacks.all(', oldest first'),
    comebacks.range(
      ...(['daterange', 'date range', 'date'] as const),
      'on these KST dates, inclusive. Those whose day is unknown, such as 2019-11-TBA, never match.',
      (db) => db.numbers('date'),
    ),
    comebacks.text('artist', 'sample'),
    comebacks.text('title', 'song'),
    comebacks.value('type', { field: 'types', example: 'album', list: 'gettypes' }),
    byId('filter/id', 'A page with the entry; empty if no comeback has the id.'),
    byId('filterid', 'Alias of `filter/id`.'),
  ],
  replies: [
    listRoute('filter/gettypes', 'All types', 'types', 'types of all comebacks'),
    endReply('first', 'oldest', (all) => all.slice(0, 1)),
    endReply('last', 'newest', (all) => all.slice(-1)),
    {
      path: 'filter/getinfo',
      summary: 'Totals of the database',
      description: 'Number of comebacks and artists, and the first and last date.',
      schema: ComebackInfo,
      make: (db) => valueReply(db, infoOf(db.entries as readonly Comeback[])),
    },
    ...windows.map(([name, summary, days]) => ({
      path: `upcoming/${name}`,
      summary,
      description:
        'All matches in one reply. Today is the date in UTC+02:00; it is compared with the KST dates of the comebacks.',
      ...{ schema: ComebackPage, headers: {}, isDaily: true as const },
      // Without Last-Modified: the reply also changes with the day.
      make: (db: Database, today: number) => wholePage(db, db.all.filter(isBetween(db.numbers('date'), today, today + days)), {}),
    })),
  ],
}
