import { jsonType, type PreparedReply, prepare, prepareJson } from '../../http/replies/reply.ts'
import type { Selection } from '../store/columns.ts'
import { type Database, remember } from '../store/database.ts'
import type { FilterQuery } from './filter.ts'
import { pageLinks } from './page-links.ts'

const counted = (total: number) => ({ 'x-total-count': String(total) })

/** The date of the content as a Last-Modified header. */
const lastModified = ({ modified }: Database) => ({ 'last-modified': new Date(modified * 1000).toUTCString() })

/** A page of all entries of a selection, for routes without paging. */
export const wholePage = (db: Database, selection: Selection, headers: Readonly<Record<string, string>> = lastModified(db)) =>
  prepare(db.page(selection, 0, selection.length), jsonType, { ...headers, ...counted(selection.length) })

export const valueReply = (db: Database, value: unknown) => prepareJson(value, lastModified(db))

export const valueList = (db: Database, results: readonly string[]) => valueReply(db, { results, total_results: results.length })

/** A reply with a page. The selection is cached with the database. @param path with the base path */
export function pageReply(
  db: Database,
  path: string,
  { given, select }: FilterQuery,
  limit: number,
  offset: number,
): PreparedReply {
  const selection = remember(db.selections, `${path} ${JSON.stringify(given)}`, () => select(db))
  const headers = { ...counted(selection.length), ...pageLinks(path, given, selection.length, limit, offset) }
  return prepare(db.page(selection, offset, limit), jsonType, { ...lastModified(db), ...headers })
}
