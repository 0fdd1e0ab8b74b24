import type { Clock } from '../../clock.ts'
import type { Network } from '../network.ts'
import type { SrvRecord } from '../protocol/srv.ts'

/** Milliseconds to wait for the answer before going without: the game's port is more likely than a slow record. */
const maxWaitMs = 500

/** The SRV records of a name; none where there are none, or none arrived in time. Never rejects. */
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
