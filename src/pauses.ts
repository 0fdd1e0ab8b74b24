import { performance } from 'node:perf_hooks'

/** Time for which long work blocks the event loop, milliseconds: polls and requests run between its slices. */
const sliceMs = 8
/** The same while the event loop is busy: otherwise long work would get little of the time. */
const maxSliceMs = 16
/** Length of a slice, as a part of the turn before it. */
const share = 0.5

/** Splits long work into slices: `if (pauses.isDue()) await pauses.take()` after each small part of it. */
export interface Pauses {
  isDue(): boolean
  /** Lets pending timers and I/O run. */
  take(): Promise<void>
}

/**
 * Starts the first slice. Awaiting a promise is not enough: timers and sockets run only in the next turn of the event loop.
 * @param now monotonic milliseconds
 */
export function createPauses(now: () => number = () => performance.now()): Pauses {
  let end = now() + sliceMs
  return {
    isDue: () => now() >= end,
    async take() {
      const begun = now()
      await new Promise((resolve) => setImmediate(resolve))
      const ended = now()
      end = ended + Math.min(maxSliceMs, Math.max(sliceMs, (ended - begun) * share))
    },
  }
}

/** Like `map`, with pauses. */
export async function mapInSlices<T, R>(items: readonly T[], convert: (item: T) => R): Promise<readonly R[]> {
  const results: R[] = []
  const pauses = createPauses()
  for (const item of items) {
    results.push(convert(item))
    if (pauses.isDue()) await pauses.take()
  }
  return results
}
