import type { Clock } from '../../util/clock.ts'
import type { Network } from '../network.ts'
import type { SrvRecord } from '../protocol/srv.ts'

/** Milliseconds to wait for a reply. After that, the default port is more likely to work than a slow record. */
const maxWaitMs = 500

/** Resolves the SRV records of a name; returns none if there are none or no reply arrives in time. Never rejects. */
export async function findSrvRecords(name: string, network: Network, clock: Clock): Promise<readonly SrvRecord[]> {
  let cancel = () => {}
  const late = new Promise<readonly SrvRecord[]>((resolve) => {
    cancel = clock.after(maxWaitMs, () => resolve([]))
  })
  try {
    return await Promise.race([network.resolveSrv(name), late])
  } catch {
    return []
  } finally {
    cancel()
  }
}
