import { jsonType, type PreparedReply, prepare, prepareJson } from '../../http/replies/reply.ts'
import type { ReplyRoute } from '../databases/definition.ts'
import type { Database, Selection } from '../store/database.ts'
import type { Values } from './filter.ts'
import { ValueList } from './schemas.ts'

/** Maximum length of the `Link` header, in characters: some proxies limit all headers to 8 KiB. */
const maxLink = 7 * 1024

/**
 * Links to the other pages of a selection (RFC 8288); none with a limit of 0, which has no last page. If four links would be
 * too long, only those to the next and previous page; if these are, only one, or none.
 * @param given the parameters besides limit and offset
 */
function pageLinks(path: string, given: Readonly<Record<string, string>>, total: number, limit: number, offset: number) {
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
  const all = [link('first', 0), ...neighbours, link('last', last)]
  const header = [all, neighbours, neighbours.slice(-1)].map((links) => links.join(', ')).find(({ length }) => length <= maxLink)
  return header ? { link: header } : {}
}

const counted = (total: number) => ({ 'x-total-count': String(total) })

const lastModified = ({ modified }: Database) => ({ 'last-modified': new Date(modified * 1000).toUTCString() })

/** A page of all entries of a selection, for routes without paging. */
export const wholePage = (db: Database, selection: Selection, headers: Readonly<Record<string, string>> = lastModified(db)) =>
  prepare(db.page(selection, 0, selection.length), jsonType, { ...headers, ...counted(selection.length) })

export const valueReply = (db: Database, value: unknown) => prepareJson(value, lastModified(db))

/** UTF-8 sorts by code point, UTF-16 does not. */
const byCodePoint = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))

/** The distinct values of a field, without empty ones. */
export function valueList(db: Database, field: string): PreparedReply {
  const results = [...new Set(db.values(field).flat())].filter((value) => value !== '').sort(byCodePoint)
  return valueReply(db, { results, total_results: results.length })
}

/** A route that lists the distinct values of a field. @param what the values, for OpenAPI: `types of all comebacks` */
export const listRoute = (path: string, summary: string, field: string, what: string): ReplyRoute => ({
  ...{ path, summary, schema: ValueList },
  description: `The distinct ${what}, sorted by code point.`,
  make: (db) => valueList(db, field),
})

interface PageRequest {
  /** With the base path. */
  readonly path: string
  readonly values: Values
  readonly limit: number
  readonly offset: number
}

/** A page of a selection, with links to others that have the same values. */
export function pageReply(db: Database, selection: Selection, { path, values, limit, offset }: PageRequest): PreparedReply {
  const given = Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)] as const]))
  const links = pageLinks(path, Object.fromEntries(given), selection.length, limit, offset)
  const headers = { ...lastModified(db), ...counted(selection.length), ...links }
  return prepare(db.page(selection, offset, limit), jsonType, headers)
}
