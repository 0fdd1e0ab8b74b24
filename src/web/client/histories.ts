import type { CardHistory, FleetPage } from '../view/types.ts'
import { toQueries } from './card-queries.ts'
import { contextNow } from './chrome.ts'

export interface Histories {
  readonly servers: Readonly<Record<string, CardHistory>>
  readonly peak: FleetPage['peak']
}

async function load(query: string): Promise<Histories | undefined> {
  try {
    const response = await fetch(`${contextNow().root}page/cards?servers=${query}`)
    return response.ok ? ((await response.json()) as Histories) : undefined
  } catch {
    return undefined
  }
}

/** The history of each server for its card; undefined if the service does not send it. */
export async function loadHistories(servers: readonly string[]): Promise<Histories | undefined> {
  const replies = await Promise.all(toQueries(servers).map(load))
  const loaded = replies.filter((reply) => reply !== undefined)
  const [first] = loaded
  return first && { servers: Object.assign({}, ...loaded.map((reply) => reply.servers)), peak: first.peak }
}
