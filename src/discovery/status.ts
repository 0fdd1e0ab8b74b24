import type { ListOfProvider } from './merge.ts'

/** Name of the list of `config` if there is no config file. */
export const environmentList = 'environment'

/** State of a list of servers, for the API and the metrics. */
export interface ListStatus {
  readonly provider: string
  /** The name of a file, or the host and the last segment of a URL. */
  readonly name: string
  /** pending: not read yet; failed: the last read failed, and the servers are those of the last successful read. */
  readonly state: 'pending' | 'ok' | 'failed'
  /** Number of watched servers; absent if it was never read. */
  readonly servers?: number
  /** Reasons why entries are not watched. */
  readonly refused: readonly string[]
  readonly error?: string
  /** Unix milliseconds of the last successful read. */
  readonly readAt?: number
}

/** The state of discovery, for other parts. */
export interface DiscoveryView {
  status(): readonly ListStatus[]
  /** Changes with each change of the status. */
  readonly version: number
}

export function statusOf({ provider, list }: ListOfProvider): ListStatus {
  const { name, servers, refused, error, readAt } = list
  return {
    provider,
    name,
    state: error !== undefined ? 'failed' : readAt === undefined ? 'pending' : 'ok',
    ...(readAt !== undefined && { servers: servers.length, readAt }),
    refused,
    ...(error !== undefined && { error }),
  }
}
