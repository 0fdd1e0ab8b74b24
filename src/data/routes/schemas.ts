import { problem } from '../../http/replies/problem.ts'
import { type HeaderDocs, lastModified } from '../../http/replies/responses.ts'
import { type Static, type TSchema, Type } from '../../util/schema.ts'

const firstExample = (schema: TSchema): unknown => (schema as { readonly examples?: readonly unknown[] }).examples?.[0]

export const pageOf = (entry: TSchema, title: string) =>
  Type.Object(
    {
      results: Type.Array(entry),
      count: Type.Integer({ minimum: 0, description: 'Number of entries in results' }),
    },
    { title, ...(firstExample(entry) !== undefined && { examples: [{ results: [firstExample(entry)], count: 1 }] }) },
  )

export const ValueList = Type.Object(
  {
    results: Type.Array(Type.String(), { description: 'Distinct values, sorted by code point' }),
    total_results: Type.Integer({ minimum: 0 }),
  },
  { title: 'Value list', examples: [{ results: ['alpha', 'beta', 'release'], total_results: 3 }] },
)

export const ComebackInfo = Type.Object(
  {
    num_items: Type.Integer({ minimum: 0 }),
    num_artists: Type.Integer({ minimum: 0, description: 'Number of distinct artists, compared as written' }),
    start_date: Type.String({ description: 'Date of the first entry as written; empty if there is none' }),
    end_date: Type.String({ description: 'Date of the last entry as written; empty if there is none' }),
  },
  { title: 'Comebacks info', examples: [{ num_items: 200, num_artists: 40, start_date: '2017-03-1', end_date: '2026-12-24' }] },
)

export const LastUpdateText = Type.String({
  title: 'Last update',
  description: 'YYYY-MM-DD HH:MM:SS UTC',
  examples: ['2026-01-15 03:00:12 UTC'],
})

const EntryNote = Type.Object({
  position: Type.Integer({ minimum: 0, description: 'Index in the array of the file' }),
  reason: Type.String(),
})
/** An entry that is rejected, or has something unusual. */
export type EntryNote = Static<typeof EntryNote>

const DatabaseStatus = Type.Object(
  {
    database: Type.String(),
    kind: Type.String({ description: 'file, url or sample' }),
    source: Type.String({ description: 'File name, or URL without secrets' }),
    state: Type.String({
      description: 'loading, ready, or failed: the snapshot could not be loaded, and the previous one is still served',
    }),
    entries: Type.Optional(Type.Integer({ minimum: 0, description: 'Valid entries, including hidden ones' })),
    rejected: Type.Optional(Type.Integer({ minimum: 0, description: 'Entries left out because they are not valid' })),
    rejected_entries: Type.Optional(
      Type.Array(EntryNote, { description: 'The first rejected entries, with their positions in the file' }),
    ),
    warnings: Type.Optional(
      Type.Array(EntryNote, { description: 'Unknown properties and unusual values of entries that are served; the first ones' }),
    ),
    last_update: Type.Optional(Type.String()),
    loaded_at: Type.Optional(Type.String({ description: 'ISO 8601, UTC' })),
    sample: Type.Optional(Type.Boolean({ description: 'Invented sample data of the package' })),
    error: Type.Optional(Type.String({ description: 'Why the last attempt to load the snapshot failed' })),
  },
  { title: 'Database status' },
)

export type DatabaseStatus = Static<typeof DatabaseStatus>

export const DataStatus = Type.Object(
  { databases: Type.Array(DatabaseStatus) },
  {
    title: 'Status of the databases',
    examples: [
      {
        databases: [
          {
            database: 'kcomebacks',
            kind: 'file',
            source: 'kcomebacks.json',
            state: 'ready',
            entries: 11870,
            rejected: 2,
            last_update: '2026-01-15 03:00:12 UTC',
            loaded_at: '2026-01-15T03:00:13.042Z',
            sample: false,
          },
        ],
      },
    ],
  },
)

/** The reply of a route that needs a snapshot while none is loaded. */
export const snapshotReplies = problem(503, {
  code: 'SNAPSHOT_UNAVAILABLE',
  detail: 'No snapshot of kcomebacks is available: it is being loaded.',
})

export const pageHeaders: HeaderDocs = {
  ...lastModified,
  'X-Total-Count': { type: 'integer', description: 'Number of all matches' },
  Link: { type: 'string', description: 'URLs of the pages first, prev, next and last (RFC 8288)' },
}
