import type { Clock } from '../../clock.ts'
import type { Network } from '../network.ts'
import type { SrvRecord } from '../protocol/srv.ts'

/** The resolver does not tell the records' own time to live, so an answer counts this long. */
const keepFor = 60_000
/** A first poll waits this long for the answer and then goes without: the game's port is likelier than a slow record. */
const patience = 500

export interface SrvCache {
  /** The records, none where there are none or none could be had. Never rejects. */
  records(): Promise<readonly SrvRecord[]>
}

/**
 * The SRV records of one name. An old answer is used while it is renewed, and kept when that fails: a name server's
 * trouble is not the game server's.
 */
export function createSrvCache(name: string, network: Network, clock: Clock): SrvCache {
  let known: readonly SrvRecord[] | undefined
  let renewAt = 0
  let underWay: Promise<void> | undefined

  function renew(): Promise<void> {
    underWay ??= network
      .resolveSrv(name)
      .then(
        (records) => {
          known = records
        },
        (error: NodeJS.ErrnoException) => {
          const isAnswer = error.code === 'ENOTFOUND' || error.code === 'ENODATA'
          if (isAnswer || known === undefined) known = []
        },
      )
      .finally(() => {
        renewAt = clock.now() + keepFor
        underWay = undefined
      })
    return underWay
  }

  return {
    async records() {
      if (known !== undefined) {
        if (clock.now() >= renewAt) void renew()
        return known
      }
      let cancel = () => {}
      await Promise.race([
        renew(),
        new Promise<void>((resolve) => {
          cancel = clock.after(patience, resolve)
        }),
      ])
      cancel()
      return known ?? []
    },
  }
}
