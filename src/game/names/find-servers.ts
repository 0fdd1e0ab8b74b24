import { type AbortSignalLike, abortable } from '../../util/abortable.ts'
import type { HostPort } from '../../util/address.ts'
import type { Clock } from '../../util/clock.ts'
import { waitUpTo } from '../../util/wait-up-to.ts'
import type { Network } from '../network.ts'
import { orderSrv } from '../protocol/srv.ts'

/** Milliseconds to wait for a reply. After that, the default port is more likely to work than a slow record. */
const maxWaitMs = 500
/** Maximum number of targets that are tried in one poll. */
const maxTargets = 4

export interface FindServersOptions {
  readonly network: Network
  readonly clock: Clock
  /** 0 <= n < 1 */
  readonly random: () => number
  readonly signal: AbortSignalLike
}

/**
 * Returns the servers in the SRV records of a name, in the order in which to try them; none if there are none or no reply arrives in
 * time. Rejects only if the signal is aborted.
 */
export async function findServers(
  name: string,
  { network, clock, random, signal }: FindServersOptions,
): Promise<readonly HostPort[]> {
  const records = network.resolveSrv(name).catch(() => [])
  const found = await waitUpTo(abortable(records, signal), maxWaitMs, clock)
  return orderSrv(found ?? [], random)
    .slice(0, maxTargets)
    .map(({ name: host, port }) => ({ host, port }))
}
