import type { CardHistory, FleetPage } from '../view/types.ts'
import { toQueries } from './card-queries.ts'
import { loadJson } from './request.ts'

export interface Histories {
  readonly servers: Readonly<Record<string, CardHistory>>
  readonly peak: FleetPage['peak']
}

/**
 * The history of each server for its card; undefined if the service does not send it.
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
