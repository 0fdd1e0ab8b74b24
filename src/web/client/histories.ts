import type { CardHistory, FleetPage } from '../view/types.ts'
import { loadJson } from './load.ts'

export interface Histories {
  readonly servers: Readonly<Record<string, CardHistory>>
  readonly peak: FleetPage['peak']
}

/** The history of each server for its card; undefined if the service does not send it. */
export function loadHistories(servers: readonly string[]): Promise<Histories | undefined> {
  // Encoded twice: a comma within a name must not separate names.
  const names = servers.map(encodeURIComponent).join(',')
  return loadJson(`page/cards?servers=${encodeURIComponent(names)}`)
}
