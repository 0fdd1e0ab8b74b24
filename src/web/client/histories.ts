import type { CardHistory, FleetPage } from '../view/types.ts'
import { loadJson } from './request.ts'

/** Maximum length of a query: many proxies allow 8 KB for a URL, and the service 16 KB for all headers. */
const maxQuery = 4_000

/** The names of servers as one query or, if it would be too long, as several. */
export function toQueries(servers: readonly string[]): readonly string[] {
  const queries: string[] = []
  for (const server of servers) {
    // Encoded twice: a comma within a name must not separate names.
    const name = encodeURIComponent(encodeURIComponent(server))
    const last = queries.at(-1)
    if (last === undefined || last.length + name.length > maxQuery) queries.push(name)
    else queries[queries.length - 1] = `${last}%2C${name}`
  }
  return queries
}

interface Histories {
  readonly servers: Readonly<Record<string, CardHistory>>
  readonly peak: FleetPage['peak']
}

/**
 * The history of each server for its card, without those that the service does not send; undefined if it sends none.
 * @param hasDays false: only the last 24 hours
 */
export async function loadHistories(servers: readonly string[], hasDays: boolean): Promise<Histories | undefined> {
  const suffix = hasDays ? '' : '&days=0'
  const replies = await Promise.all(
    toQueries(servers).map((query) => loadJson<Histories>(`page/cards?servers=${query}${suffix}`)),
  )
  const loaded = replies.filter((reply) => reply !== undefined)
  const [first] = loaded
  return first && { servers: Object.assign({}, ...loaded.map((reply) => reply.servers)), peak: first.peak }
}
