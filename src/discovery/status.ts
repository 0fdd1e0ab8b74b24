import type { ServerList } from './provider.ts'

/** How a list of servers is, for the API and the metrics. */
export interface ListStatus {
  readonly provider: string
  /** The name of a file, or the host and the last segment of a URL. */
  readonly name: string
  /** pending: not read yet; failed: the last read failed, and the servers are those of the read before. */
  readonly state: 'pending' | 'ok' | 'failed'
  /** Servers of it that are watched; absent: it was never read. */
  readonly servers?: number
  /** Why entries of it are not watched. */
  readonly refused: readonly string[]
  readonly error?: string
  /** Unix milliseconds of the last successful read. */
  readonly readAt?: number
}

/** Where the servers come from, as other parts see it. */
export interface DiscoveryView {
  status(): readonly ListStatus[]
  /** Another number after each change of the status. */
  readonly version: number
}

export function statusOf(provider: string, list: ServerList, alsoRefused: readonly string[] = []): ListStatus {
  const { name, servers, refused, error, readAt } = list
  return {
    provider,
    name,
    state: error !== undefined ? 'failed' : readAt === undefined ? 'pending' : 'ok',
    ...(readAt !== undefined && { servers: servers.length - alsoRefused.length, readAt }),
    refused: [...refused, ...alsoRefused],
    ...(error !== undefined && { error }),
  }
}
