import type { LookupAddress } from 'node:dns'
import type { Clock } from '../../clock.ts'

/** The system's resolver holds one of four threads for as long as a name server is silent; files are read by the same four. */
const mostAtOnce = 3
/** Milliseconds that a name which is known waits for a new answer, before it goes with the last one. */
const patience = 250
/** Names whose last answer is kept; the one left alone for longest goes first. */
const mostKnown = 1_000

export type Addresses = readonly LookupAddress[]

export interface NameLookupOptions {
  /** Asks the system's resolver. */
  readonly resolve: (host: string) => Promise<Addresses>
  readonly clock: Clock
}

/**
 * Looks names up, so that a name server's trouble is not the game servers': a name that was found before keeps its last addresses
 * while no answer comes, and names that get none do not hold up all the rest.
 * @returns a function that rejects with the resolver's error, for a name that does not exist and for one that was never found
 */
export function createNameLookup({ resolve, clock }: NameLookupOptions): (host: string) => Promise<Addresses> {
  const underWay = new Map<string, Promise<Addresses>>()
  const known = new Map<string, Addresses>()
  const waiting: (() => void)[] = []
  let running = 0

  async function inTurn(host: string): Promise<Addresses> {
    if (running < mostAtOnce) running++
    else await new Promise<void>((go) => waiting.push(go))
    try {
      return await resolve(host)
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running--
    }
  }

  function keep(host: string, found: Addresses): void {
    known.delete(host)
    known.set(host, found)
    for (const [oldest] of known) {
      if (known.size <= mostKnown) break
      known.delete(oldest)
    }
  }

  function renew(host: string): Promise<Addresses> {
    const renewal = inTurn(host)
      .then(
        (found) => {
          keep(host, found)
          return found
        },
        (error: NodeJS.ErrnoException) => {
          const before = known.get(host)
          if (before !== undefined && error.code !== 'ENOTFOUND') return before
          known.delete(host)
          throw error
        },
      )
      .finally(() => underWay.delete(host))
    underWay.set(host, renewal)
    return renewal
  }

  return (host) => {
    const renewal = underWay.get(host) ?? renew(host)
    const before = known.get(host)
    if (before === undefined) return renewal
    return new Promise((resolve, reject) => {
      const cancel = clock.after(patience, () => resolve(before))
      renewal.then(resolve, reject).finally(cancel)
    })
  }
}
